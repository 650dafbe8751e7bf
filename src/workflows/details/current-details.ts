/** A run's current details: where it stands and what a person can do about it, as Markdown for the Temporal UI. Pure. */

import type { HoldStatus, JourneyStatus, ShareStatus, StageStatus } from '../../messages/journey/shapes.ts';
import { JOURNEY_WORDS, TERMINAL_WORDS } from '../../messages/state-words.ts';
import { ATTENTION_GUIDE, endingSentence, RUN_GUIDE } from '../../model/hold-guide.ts';
import type { RunKind } from '../../model/owner-id.ts';
import { holdSection, type InquirySide } from './hold-details.ts';
import { code, markdownTable, plain, time } from './markdown.ts';

/** What the current details show of a run. Nothing personal is in it. */
export interface JourneyView {
  status: JourneyStatus;
  run: InquirySide;
  stages: readonly (StageStatus & { since?: string })[];
  shares: readonly (ShareStatus & { since?: string; until?: string; sharedWith: string })[];
  holds: readonly (HoldStatus & { applicantIds: readonly string[]; isDecided: boolean })[];
  gate?: { before: string; since: string; until: string };
  /** Nothing more is sent: withdrawn, or a stage was abandoned. */
  isEnding: boolean;
  /** Everything has settled; further shares are taken until then. */
  openUntil?: string;
  isCancelled: boolean;
}

/** Unchecked input may be anything: none of it is shown. */
export type UncheckedInput = 'beingChecked' | 'endedUnchecked';

/**
 * The UI hands the whole text to its own server in the query string of a URL. Proxies take 8 kB of it, and logs keep
 * all. So one hold is shown in full, long lists are cut, and references are only recognisable.
 */
const HOLDS_IN_FULL = 1;
const HOLDS_LISTED = 5;
const SHARES_LISTED = 6;
const PULLS_LISTED = 6;

export const UNCHECKED: Record<UncheckedInput, string> = {
  beingChecked: '**The input is being checked.** Nothing has been posted.',
  endedUnchecked: '**It ended before its input was taken.** Nothing was posted. Its failure says why.',
};

export function currentDetails(view: JourneyView | UncheckedInput): string {
  if (typeof view === 'string') return UNCHECKED[view];
  const isOver = view.isCancelled || JOURNEY_WORDS[view.status.state].end !== undefined;
  const parts = [
    standing(view),
    stageTable(view),
    shareTable(view),
    ...attention(view),
    ...holds(view),
    earlyConsents(view),
    refusedMessages(view),
    ...(isOver ? [] : [RESET_TERMINATE_CANCEL]),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Where it stands, in one sentence, and one more where it is ending. */
function standing(view: JourneyView): string {
  const { status, isEnding } = view;
  const ending = isEnding && !JOURNEY_WORDS[status.state].end ? ` ${endingSentence('journey')}` : '';
  return `**${sentence(view)}**${ending}`;
}

function sentence({ status, gate, stages, shares, holds, openUntil, isCancelled }: JourneyView): string {
  const [hold] = holds.filter(({ isDecided }) => !isDecided);
  const { state, waitingFor = '' } = status;
  if (hold) {
    const more = holds.length > 1 ? `, and about ${holds.length - 1} more` : '';
    return `A person must decide about ${plain(hold.productCode)} (${hold.failureType})${more}, since ${time(hold.since)}.`;
  }
  if (holds.length > 0) return 'A decision is being recorded.';
  if (isCancelled) return TERMINAL_WORDS.cancelled.end;
  const { end } = JOURNEY_WORDS[state];
  if (end) return end;
  if (gate && status.reportTooOld) {
    return `The report of ${status.reportTooOld} is too old for the gate before ${gate.before}: the update advance needs a repeat, or acceptAge, until ${time(gate.until)} at the most.`;
  }
  if (gate) {
    return `Waits at the gate before ${gate.before} for the update advance, since ${time(gate.since)}, until ${time(gate.until)} at the most.`;
  }
  const running = stages.find((stage) => stage.state === 'running');
  if (running) {
    const after =
      running.attempts === 0 ? '' : ` after ${running.attempts === 1 ? 'one attempt' : `${running.attempts} attempts`}`;
    return `${running.productCode} is under way${after}${waitingFor && `: ${plain(waitingFor)}`}.`;
  }
  const posting = shares.find((share) => share.state === 'posting');
  if (posting) return `Share ${plain(posting.shareId)} is being posted${waitingFor && `: ${plain(waitingFor)}`}.`;
  const waiting = shares.find((share) => share.state === 'awaitingConsent');
  if (waiting) return consentSentence(waiting);
  if (openUntil) return `Everything has settled; further shares and repeats are taken until ${time(openUntil)}.`;
  return 'It is under way.';
}

function consentSentence({ shareId, sharedWith, waitingFor, until }: JourneyView['shares'][number]): string {
  const who = waitingFor.length > 0 ? `the consent of ${waitingFor.map(plain).join(', ')}` : 'its report';
  const limit = until === undefined ? '' : `, until ${time(until)}; silence means no`;
  return `Waits for ${who} to share ${plain(shareId)} with ${plain(sharedWith)}${limit}.`;
}

/** The latest: a stage may have been repeated many times. */
function stageTable({ stages }: JourneyView): string {
  const earlier = stages.length - PULLS_LISTED;
  const shown = markdownTable(
    ['Stage', 'State', 'Since', 'Attempts', 'Trace number', 'Reference'],
    stages
      .slice(-PULLS_LISTED)
      .map((stage) => [
        plain(stage.occurrence === undefined ? stage.productCode : `${stage.productCode} (${stage.occurrence})`),
        stage.state,
        time(stage.since),
        String(stage.attempts),
        code(stage.customerTraceNumber),
        ending(stage.reportReferenceNumber),
      ]),
  );
  return earlier > 0 ? `${shown}\n\n${earlier} earlier: the query \`status\` has all.` : shown;
}

/** Those that need a person first. */
function shareTable({ shares }: JourneyView): string {
  if (shares.length === 0) return '';
  const urgency = (share: ShareStatus) => ['held', 'posting', 'awaitingConsent'].indexOf(share.state);
  const isOpen = (share: ShareStatus) => urgency(share) >= 0;
  const sorted = [
    ...shares.filter(isOpen).sort((a, b) => urgency(a) - urgency(b)),
    ...shares.filter((one) => !isOpen(one)),
  ];
  const rows = sorted
    .slice(0, SHARES_LISTED)
    .map((share) => [
      plain(share.shareId),
      plain(share.sharedWith),
      share.state,
      time(share.since),
      share.waitingFor.map(plain).join(', '),
      code(share.customerTraceNumber),
      ending(share.reportReferenceNumber),
    ]);
  const head = ['Share', 'With', 'State', 'Since', 'Consent missing', 'Trace number', 'Reference'];
  const rest = shares.length - rows.length;
  return `${markdownTable(head, rows)}${rest > 0 ? `\n\n${rest} more: the query \`status\` has all.` : ''}`;
}

/** A whole reference is half of what posts a share. */
export function ending(reference: string | undefined): string {
  return reference === undefined ? '' : plain(`…${reference.slice(-4)}`);
}

function attention({ shares }: JourneyView): string[] {
  return shares
    .filter((share) => share.attention !== undefined)
    .slice(0, HOLDS_LISTED)
    .map((share) => revokedLine(`share ${plain(share.shareId)}, trace number ${code(share.customerTraceNumber)}`));
}

/** @param which what was posted */
export function revokedLine(which: string): string {
  return `**Consent withdrawn after posting:** ${which}. The gateway takes nothing back. \`${ATTENTION_GUIDE.revokedAfterPosting.page}\``;
}

function holds({ status, holds: all, isEnding, run }: JourneyView): string[] {
  const open = all.filter(({ isDecided }) => !isDecided);
  const sections = open
    .slice(0, HOLDS_IN_FULL)
    .map((hold) => holdSection(hold, { ownerId: status.journeyId, run, isEnding }));
  const rest = open.slice(HOLDS_IN_FULL);
  if (rest.length === 0) return sections;
  const lines = rest
    .slice(0, HOLDS_LISTED)
    .map((hold) => `- ${plain(hold.productCode)} ${code(hold.customerTraceNumber)}: ${hold.failureType}`);
  return [...sections, `## ${rest.length} more on hold\n\n${lines.join('\n')}\n\n\`credit-journey holds\` has all.`];
}

function earlyConsents({ status: { earlyConsents: early } }: JourneyView): string {
  if (!early) return '';
  const shown = early.shareIds.slice(0, SHARES_LISTED).map(plain).join(', ');
  const more = early.shareIds.length > SHARES_LISTED ? ' and others' : '';
  const many = early.count === 1 ? 'One consent is' : `${early.count} consents are`;
  return `${many} kept for shares that nobody has requested: ${shown}${more}. Is a \`shareId\` misspelt?`;
}

export function refusedMessages({
  status: { refusedMessagesTotal: total },
}: {
  status: { refusedMessagesTotal: number };
}): string {
  if (total === 0) return '';
  return `${total === 1 ? 'One message was' : `${total} messages were`} refused; the query \`status\` says which and why.`;
}

const RESET_TERMINATE_CANCEL = resetTerminateCancel('journey');

export function resetTerminateCancel(run: RunKind): string {
  const { name } = RUN_GUIDE[run];
  return `## Reset, Terminate, Cancel

- **Reset** repeats steps; nothing is sent twice, since the ledger answers for what was sent, and a decision is spent once.
- **Terminate** leaves an attempt in flight to be posted; the ledger keeps it for \`credit-journey holds\`. The ${name} may be started again.
- **Cancel** lets attempts in flight land. A hold stays undecided, in the ledger. To end a ${name}, send \`withdraw\`.`;
}
