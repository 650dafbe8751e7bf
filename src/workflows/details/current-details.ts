/** A run's current details: where it stands and what a person can do about it, as Markdown for the Temporal UI. Pure. */

import type {
  AnsweredInquiry,
  HoldStatus,
  JourneyStatus,
  ShareStatus,
  StageStatus,
} from '../../messages/journey/shapes.ts';
import { journeyStanding } from '../../messages/standing-words.ts';
import { JOURNEY_WORDS } from '../../messages/state-words.ts';
import { ATTENTION_GUIDE, endingSentence, RUN_GUIDE } from '../../model/hold-guide.ts';
import type { RunKind } from '../../model/owner-id.ts';
import { problemWords } from '../../model/problems.ts';
import type { StageCode } from '../../model/products.ts';
import { nameOfUser, type SecondaryUser } from '../../model/secondary-user.ts';
import { holdSection, type InquirySide, problemList } from './hold-details.ts';
import { code, listLine, MARKDOWN, pageLink, plain, time } from './markdown.ts';
import { consentSection, gateSection, takeBackSection } from './next-step.ts';

/** What the current details show of a run. Nothing personal is in it. */
export interface JourneyView {
  status: JourneyStatus;
  run: InquirySide;
  stages: readonly (StageStatus & { since?: string })[];
  shares: readonly (ShareStatus & { since?: string; until?: string; sharedWith: SecondaryUser })[];
  holds: readonly (HoldStatus & { applicantIds: readonly string[]; isDecided: boolean })[];
  gate?: { before: StageCode; since: string; until: string };
  /** Nothing more is sent: withdrawn, or a stage was abandoned. */
  isEnding: boolean;
  /** Everything has settled; further shares are taken until then. */
  openUntil?: string;
  isCancelled: boolean;
}

/**
 * The UI hands the whole text to its own server in the query string of a URL. Proxies take 8 kB of it, and logs keep
 * all. So one hold is shown in full, long lists are cut, and references are only recognisable.
 */
const HOLDS_IN_FULL = 1;
const HOLDS_LISTED = 5;
const SHARES_LISTED = 4;
const PULLS_LISTED = 6;

/** The details of a run whose input is not checked yet, or was refused. Such input may be anything: none of it is shown. */
export function uncheckedDetails({
  endedUnchecked,
  problems: { problems = [] },
}: {
  endedUnchecked: boolean;
  problems: Pick<JourneyStatus, 'problems'>;
}): string {
  if (!endedUnchecked) return '**The input is being checked.** Nothing has been posted.';
  return [
    '**It ended before its input was taken.** Nothing was posted. Its failure says why.',
    ...problemList(problems),
  ].join('\n\n');
}

export function currentDetails(view: JourneyView): string {
  const isOver = view.isCancelled || JOURNEY_WORDS[view.status.state].end !== undefined;
  const parts = [
    standing(view),
    ...holds(view),
    isOver || view.isEnding ? '' : nextStep(view),
    ...attention(view),
    stageList(view),
    shareList(view),
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
  return `**${journeyStanding(view, MARKDOWN)}**${ending}`;
}

/** What the sentence waits for, unless that is a decision. */
function nextStep({ status, gate, stages, shares, holds: all }: JourneyView): string {
  if (all.length > 0) return '';
  const { journeyId, reportTooOld: stage } = status;
  if (gate) {
    const pulls = stages.filter((one) => one.productCode === stage);
    const tooOld = stage && { stage, occurrence: (pulls.at(-1)?.occurrence ?? 1) + 1 };
    const pending = stages.filter((one) => one.state === 'pending').map(({ productCode }) => productCode);
    const after = pending[pending.indexOf(gate.before) + 1];
    return gateSection({ journeyId, before: gate.before, ...(after ? { after } : {}), ...(tooOld ? { tooOld } : {}) });
  }
  if (stages.some(({ state }) => state === 'running') || shares.some(({ state }) => state === 'posting')) return '';
  const waiting = shares.find(({ state }) => state === 'awaitingConsent');
  const [applicantId] = waiting?.waitingFor ?? [];
  if (!waiting || applicantId === undefined) return '';
  const { shareId, sharedWith: secondaryUser } = waiting;
  return [
    consentSection({ journeyId, shareId, applicantId, secondaryUser }),
    takeBackSection({ journeyId, shareId }),
  ].join('\n\n');
}

/** The latest: a stage may have been repeated many times. */
function stageList({ stages }: JourneyView): string {
  const earlier = stages.length - PULLS_LISTED;
  const lines = stages
    .slice(-PULLS_LISTED)
    .map((stage) =>
      listLine(
        plain(stage.occurrence === undefined ? stage.productCode : `${stage.productCode} (${stage.occurrence})`),
        [
          stage.state,
          time(stage.since),
          attemptWords(stage.attempts),
          code(stage.customerTraceNumber),
          ending(stage.reportReferenceNumber),
          ...answerWords(stage),
        ],
      ),
    );
  return listed('Stages', lines, earlier > 0 ? [`- ${earlier} earlier: the query \`status\` has all.`] : []);
}

/** Those that need a person first. */
function shareList({ shares }: JourneyView): string {
  if (shares.length === 0) return '';
  const urgency = (share: ShareStatus) => ['held', 'posting', 'awaitingConsent'].indexOf(share.state);
  const isOpen = (share: ShareStatus) => urgency(share) >= 0;
  const sorted = [
    ...shares.filter(isOpen).sort((a, b) => urgency(a) - urgency(b)),
    ...shares.filter((one) => !isOpen(one)),
  ];
  const lines = sorted
    .slice(0, SHARES_LISTED)
    .map((share) =>
      listLine(plain(share.shareId), [
        `with ${plain(nameOfUser(share.sharedWith))}`,
        share.state,
        time(share.since),
        share.waitingFor.length === 0 ? '' : `consent missing: ${share.waitingFor.map(plain).join(', ')}`,
        share.replacedBy === undefined ? '' : `replaced by ${plain(share.replacedBy)}`,
        code(share.customerTraceNumber),
        ending(share.reportReferenceNumber),
      ]),
    );
  const rest = shares.length - lines.length;
  return listed('Shares', lines, rest > 0 ? [`- ${rest} more: the query \`status\` has all.`] : []);
}

function listed(title: string, lines: readonly string[], more: readonly string[]): string {
  return lines.length === 0 ? '' : `### ${title}\n\n${[...lines, ...more].join('\n')}`;
}

export function attemptWords(attempts: number): string {
  if (attempts === 0) return '';
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`;
}

/** A whole reference is half of what posts a share. */
export function ending(reference: string | undefined): string {
  return reference === undefined ? '' : `reference ${plain(`…${reference.slice(-4)}`)}`;
}

/** What the gateway said, where not everyone has a record. */
export function answerWords(answered: AnsweredInquiry): string[] {
  const { returnCode, returnReasonCode, applicantOutcomes = [], remarks = [] } = answered;
  const remarked = remarks.map((remark) => plain(problemWords(remark)));
  if (returnReasonCode === undefined && applicantOutcomes.every(({ outcome }) => outcome === 'record')) return remarked;
  return [
    ...(returnCode === undefined ? [] : [plain(returnCode)]),
    ...(returnReasonCode === undefined ? [] : [`reason ${plain(returnReasonCode)}`]),
    ...(applicantOutcomes.length < 2
      ? []
      : applicantOutcomes.map(({ applicantId, outcome }) => `${plain(applicantId)} ${outcome}`)),
    ...remarked,
  ];
}

function attention({ stages, shares, run: { runbookUrl } }: JourneyView): string[] {
  return [
    ...stages
      .filter((stage) => stage.attention !== undefined)
      .map((stage) =>
        (stage.attention === 'reportChanged' ? changedLine : mismatchLine)(
          `${stage.productCode}, trace number ${code(stage.customerTraceNumber)}`,
          runbookUrl,
        ),
      ),
    ...shares
      .filter((share) => share.attention !== undefined)
      .map((share) =>
        revokedLine(`share ${plain(share.shareId)}, trace number ${code(share.customerTraceNumber)}`, runbookUrl),
      ),
  ].slice(0, HOLDS_LISTED);
}

/** @param which what was posted */
export function revokedLine(which: string, runbookUrl: string | undefined): string {
  return `**Consent withdrawn after posting:** ${which}. The gateway takes nothing back. ${pageLink(ATTENTION_GUIDE.revokedAfterPosting.page, runbookUrl)}`;
}

/** @param which what was answered */
export function mismatchLine(which: string, runbookUrl: string | undefined): string {
  return `**The report has another SSN than the request:** ${which}. It may be another person’s. ${pageLink(ATTENTION_GUIDE.ssnMismatch.page, runbookUrl)}`;
}

function changedLine(which: string, runbookUrl: string | undefined): string {
  return `**The report differs from the one before by more than \`attentionAbove\` lets pass:** ${which}. Look at it before closing. ${pageLink(ATTENTION_GUIDE.reportChanged.page, runbookUrl)}`;
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
