/**
 * The end of a run in words, for each state: `null` for a state that has not ended. The one place for a new state's words.
 */
import type { JourneyState, TerminalState } from '../messages/journey/shapes.ts';
import type { PortfolioState } from '../messages/portfolio/shapes.ts';
import type { PullState } from '../messages/pull/shapes.ts';
import type { ShareReportState } from '../messages/share/shapes.ts';
import type { RunKind } from '../model/owner-id.ts';

interface States {
  journey: JourneyState;
  pull: PullState;
  share: ShareReportState;
  portfolio: PortfolioState;
}

const WITHDRAWN = 'It has ended: it was withdrawn.';
const ABANDONED = 'It has ended: a person gave up the inquiry.';

const TERMINAL: Readonly<Record<TerminalState, string>> = {
  cancelled: 'It was cancelled. What was on hold stays undecided in the ledger.',
  failed: 'It has failed; its failure says why. What was on hold stays undecided in the ledger.',
};

const ENDS: { readonly [Kind in RunKind]: Readonly<Record<States[Kind], string | null>> } = {
  journey: {
    running: null,
    waitingAtGate: null,
    waitingForConsent: null,
    held: null,
    completed: 'It has completed.',
    stopped: 'It has ended: a stage came back without a record.',
    expired: 'It has ended: no platform passed a gate in time.',
    withdrawn: WITHDRAWN,
    abandoned: 'It has ended: a person gave up the inquiry of a stage.',
    ...TERMINAL,
  },
  pull: {
    running: null,
    held: null,
    record: 'It has completed with a record.',
    noRecord: 'It has completed: there is no record.',
    noReport: 'It has completed: the answer has no report.',
    withdrawn: WITHDRAWN,
    abandoned: ABANDONED,
    ...TERMINAL,
  },
  share: {
    running: null,
    waitingForConsent: null,
    held: null,
    posted: 'It has completed: the share is posted.',
    notPosted: 'It has ended: a person says that it was not posted.',
    denied: 'It has ended: consent was denied. Nothing was posted.',
    revoked: 'It has ended: consent was revoked before anything was posted.',
    expired: 'It has ended: no answer came in time, and silence means no. Nothing was posted.',
    reportGone: 'It has ended: the report was disposed of, or is under a legal hold. Nothing more is sent.',
    withdrawn: WITHDRAWN,
    abandoned: ABANDONED,
    ...TERMINAL,
  },
  portfolio: {
    examining: null,
    running: null,
    paused: null,
    held: null,
    stopping: null,
    completed: 'It has completed.',
    withdrawn: WITHDRAWN,
    ...TERMINAL,
  },
};

export function endSentence<Kind extends RunKind>(kind: Kind, state: States[Kind]): string | null {
  return ENDS[kind][state];
}

type OpenReview = Exclude<PortfolioState, 'completed' | 'withdrawn' | TerminalState>;

const REVIEW_PROGRESS: Readonly<Record<OpenReview, string>> = {
  examining: 'The file is being examined',
  running: 'The review is running',
  paused: 'The review is paused',
  held: 'The review stands still',
  stopping: 'The review is ending',
};

/** Of a review that has not ended; without its full stop. */
export function reviewProgress(state: PortfolioState): string {
  return REVIEW_PROGRESS[state as OpenReview];
}
