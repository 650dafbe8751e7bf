/** What each state of a run means: for the command line, and for the Temporal UI where the run has ended. */
import type { JourneyState, TerminalState } from './journey/shapes.ts';
import type { PortfolioState } from './portfolio/shapes.ts';
import type { PullState } from './pull/shapes.ts';
import type { ShareReportState } from './share/shapes.ts';

export interface StateWords {
  /** In a line of the command line. */
  label: string;
  /** A sentence of the UI's current details; for states in which a run has ended. */
  end?: string;
}

const NEEDS_PERSON: StateWords = { label: 'needs a person' };
const RUNNING: StateWords = { label: 'running' };
const WAITING_FOR_CONSENT: StateWords = { label: 'waiting for consent' };
const WITHDRAWN: StateWords = { label: 'withdrawn', end: 'It has ended: it was withdrawn.' };
const ABANDONED: StateWords = { label: 'abandoned', end: 'It has ended: a person gave up the inquiry.' };

/** Of each kind of run. */
export const TERMINAL_WORDS = {
  cancelled: { label: 'cancelled', end: 'It was cancelled. What was on hold stays undecided in the ledger.' },
  failed: {
    label: 'failed',
    end: 'It has failed; its failure says why. What was on hold stays undecided in the ledger.',
  },
} as const satisfies Record<TerminalState, StateWords>;

export const JOURNEY_WORDS: Readonly<Record<JourneyState, StateWords>> = {
  running: RUNNING,
  waitingAtGate: { label: 'waiting at a gate' },
  waitingForConsent: WAITING_FOR_CONSENT,
  held: NEEDS_PERSON,
  completed: { label: 'completed', end: 'It has completed.' },
  stopped: { label: 'stopped: no record', end: 'It has ended: a stage came back without a record.' },
  expired: { label: 'expired', end: 'It has ended: no platform passed a gate in time.' },
  withdrawn: WITHDRAWN,
  abandoned: { label: 'abandoned', end: 'It has ended: a person gave up the inquiry of a stage.' },
  ...TERMINAL_WORDS,
};

export const PULL_WORDS: Readonly<Record<PullState, StateWords>> = {
  running: RUNNING,
  held: NEEDS_PERSON,
  record: { label: 'record', end: 'It has completed with a record.' },
  noRecord: { label: 'no record', end: 'It has completed: there is no record.' },
  noReport: { label: 'answered without a report', end: 'It has completed: the answer has no report.' },
  withdrawn: WITHDRAWN,
  abandoned: ABANDONED,
  ...TERMINAL_WORDS,
};

export const SHARE_WORDS: Readonly<Record<ShareReportState, StateWords>> = {
  running: RUNNING,
  waitingForConsent: WAITING_FOR_CONSENT,
  held: NEEDS_PERSON,
  posted: { label: 'posted', end: 'It has completed: the share is posted.' },
  notPosted: { label: 'not posted, a person says', end: 'It has ended: a person says that it was not posted.' },
  denied: { label: 'consent denied', end: 'It has ended: consent was denied. Nothing was posted.' },
  revoked: { label: 'consent revoked', end: 'It has ended: consent was revoked before anything was posted.' },
  expired: {
    label: 'expired: silence means no',
    end: 'It has ended: no answer came in time, and silence means no. Nothing was posted.',
  },
  reportGone: {
    label: 'the report is gone',
    end: 'It has ended: the report was disposed of, or is under a legal hold. Nothing more is sent.',
  },
  withdrawn: WITHDRAWN,
  abandoned: ABANDONED,
  ...TERMINAL_WORDS,
};

export const PORTFOLIO_WORDS: Readonly<Record<PortfolioState, StateWords>> = {
  examining: { label: 'the file is being examined' },
  running: RUNNING,
  paused: { label: 'paused' },
  held: NEEDS_PERSON,
  stopping: { label: 'ending' },
  completed: { label: 'completed' },
  withdrawn: { label: 'withdrawn' },
  ...TERMINAL_WORDS,
};
