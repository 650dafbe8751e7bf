/**
 * Describes a run in words: its state, its waits, its work so far, and the parts that need an operator. The command
 * line, the API and the Temporal UI print these. Nothing personal is in them. Pure.
 */
import type { RunAnswers } from '../messages/answers.ts';
import type {
  AnsweredInquiry,
  ClosedState,
  HoldStatus,
  JourneyStatus,
  ShareStatus,
  StageStatus,
} from '../messages/journey/shapes.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import type { PortfolioStatus } from '../messages/portfolio/shapes.ts';
import type { PullStatus } from '../messages/pull/shapes.ts';
import type { ShareReportStatus } from '../messages/share/shapes.ts';
import type { AnsweredApplicant } from '../model/inquiry.ts';
import { formatProblem } from '../model/problems.ts';
import type { StageCode } from '../model/products.ts';
import { findRunKey, findRunKind, formatRunName, RUN_NAMES, type RunKind } from '../model/run-key.ts';
import { describeSecondaryUser, type SecondaryUser } from '../model/stage-end-user.ts';
import { ATTENTION_GUIDE, listAnswerParts, toRunbookPage } from './holds.ts';
import { AS_TEXT, countWords, splitCamelCase, type Writer } from './writer.ts';

export type AnyStatus = RunAnswers[RunKind]['status'];

export interface Gate {
  before: StageCode;
  since?: string;
  until: string;
}

/** A run's status, and further facts from its workflow. */
export interface RunView<Status extends AnyStatus = AnyStatus> {
  status: Status;
  holds: readonly (HoldStatus & { isDecided?: boolean })[];
  /** The run sends nothing more: it was withdrawn, or a stage was abandoned. */
  isEnding?: boolean;
  stages?: readonly (StageStatus & { since?: string })[];
  shares?: readonly (ShareStatus & { since?: string; sharedWith?: SecondaryUser })[];
  gate?: Gate | undefined;
  /** All inquiries have settled, and the run accepts further shares until then. */
  openUntil?: string | undefined;
  /** When the pull entered its state. */
  since?: string | undefined;
  /** The secondary user of a `shareReport` run. */
  sharedWith?: SecondaryUser;
  consumers?: readonly AnsweredApplicant[] | undefined;
  /** A review's file, and why it cannot be reached. */
  files?: { path: string; away: string } | undefined;
}

export function readRunKind(status: AnyStatus): RunKind {
  return findRunKind(status) ?? 'journey';
}

export function readRunKey(status: AnyStatus): string {
  return findRunKey(status) ?? '';
}

/** Whether an operator must act before the run continues, or after it has. */
export function needsPerson(
  status: Pick<AnyStatus, 'state' | 'holds'> &
    Partial<Pick<JourneyStatus, 'shares' | 'stages'>> &
    Partial<Pick<PullStatus | ShareReportStatus | PortfolioStatus, 'attention'>>,
): boolean {
  const { state, holds, shares = [], stages = [], attention } = status;
  return (
    state === 'held' ||
    holds.length > 0 ||
    [{ attention }, ...stages, ...shares].some((part) => part.attention !== undefined)
  );
}

export function toRunView<Status extends AnyStatus>(status: Status): RunView<Status> {
  return { status, holds: status.holds, ...('stages' in status ? { gate: findGate(status) } : {}) };
}

function findGate({ state, waitingFor, waitingUntil }: JourneyStatus): Gate | undefined {
  if (state !== 'waitingAtGate' || waitingFor === undefined || waitingUntil === undefined) return undefined;
  return { before: waitingFor as StageCode, until: waitingUntil };
}

type JudgedHold = Pick<HoldStatus, 'productCode' | 'failureType' | 'since'>;

/** @param others how many more wait for an operator */
export function describePendingDecision(hold: JudgedHold, { plain, time }: Writer, others = 0): string {
  const more = others > 0 ? `, and about ${others} more` : '';
  return `An operator must decide about ${plain(hold.productCode)} (${hold.failureType})${more}, since ${time(hold.since)}.`;
}

/** For a run whose check reached a worker without its gateway profile. */
export const ASKING_OTHERS = 'No worker that was asked has its gateway profile: the run asks others for half a minute.';

/** Whether the run has ended before a worker accepted its input. */
function wasNeverAccepted(status: AnyStatus): boolean {
  return status.environment === undefined && describeEnd(readRunKind(status), status.state) !== null;
}

export function describeUnacceptedEnd(problems: readonly unknown[] = []): string {
  const end = problems.length > 0 ? 'Its input was refused' : 'It ended before its input was accepted';
  return `${end}: this run has posted nothing.`;
}

/** Describes the run's state and its wait in a sentence or two. */
export function describeStanding(view: RunView, w: Writer = AS_TEXT): string {
  const { status, holds } = view;
  if (wasNeverAccepted(status)) return describeUnacceptedEnd(status.problems);
  const kind = readRunKind(status);
  const [hold] = holds.filter(({ isDecided }) => !isDecided);
  const end = describeEnd(kind, status.state);
  const ending = view.isEnding && end === null ? ` The ${RUN_NAMES[kind]} is ending: nothing new is sent.` : '';
  const decision = hold ? describePendingDecision(hold, w, holds.length - 1) : 'A decision is being recorded.';
  const isWaiting = holds.length > 0;
  if (isWaiting && end !== null) return `${end} ${decision}`;
  // A review continues beside its holds.
  const standing = isWaiting && kind !== 'portfolio' ? decision : (end ?? describeProgress(view, w));
  return `${isWaiting && kind === 'portfolio' ? `${decision} ` : ''}${standing}${ending}`;
}

function describeProgress(view: RunView, w: Writer): string {
  const { status } = view;
  if (status.problems) return ASKING_OTHERS;
  if ('stages' in status) return describeJourney(view as RunView<JourneyStatus>, w);
  if ('reviewId' in status) {
    const waiting = status.waitingFor === undefined ? '' : `; it waits for ${w.plain(status.waitingFor)}`;
    return `${REVIEW_PROGRESS[status.state as OpenReview]}${waiting}.`;
  }
  if ('pullId' in status) return describeUnderWay(`${w.plain(status.productCode)} is under way`, status, w);
  if (status.state !== 'waitingForConsent') return describeUnderWay('The share is being posted', status, w);
  return `Waits for ${w.plain(status.waitingFor ?? 'consent')}${describeDeadline(status.until, w)}.`;
}

function describeJourney(view: RunView<JourneyStatus>, w: Writer): string {
  const { status, gate, stages = status.stages, shares = status.shares, openUntil } = view;
  const { waitingFor } = status;
  if (gate && status.reportTooOld) {
    return `The report of ${status.reportTooOld} is too old for the gate before ${gate.before}: the update advance needs a repeat, or acceptAge, until ${w.time(gate.until)} at the most.`;
  }
  if (gate) {
    const since = gate.since === undefined ? '' : ` since ${w.time(gate.since)},`;
    return `Waits at the gate before ${gate.before} for the update advance,${since} until ${w.time(gate.until)} at the most.`;
  }
  const running = stages.find(({ state }) => state === 'running');
  if (running) return describeUnderWay(`${running.productCode} is under way`, { ...running, waitingFor }, w);
  const posting = shares.find(({ state }) => state === 'posting');
  if (posting)
    return describeUnderWay(`Share ${w.plain(posting.shareId)} is being posted`, { attempts: 0, waitingFor }, w);
  // A share waits from the start. Its consents count for the run once there is a report to share.
  const waiting = shares.find(({ state }) => state === 'awaitingConsent');
  if (waiting && status.state === 'waitingForConsent') return describeShareConsent(waiting, w);
  if (openUntil) return `Everything has settled; further shares and repeats are accepted until ${w.time(openUntil)}.`;
  return 'It is under way.';
}

function describeUnderWay(
  what: string,
  inquiry: { attempts: number; waitingFor?: string | undefined },
  w: Writer,
): string {
  const after = inquiry.attempts === 0 ? '' : ` after ${countWords(inquiry.attempts, 'attempt')}`;
  return `${what}${after}${inquiry.waitingFor === undefined ? '' : `: ${w.plain(inquiry.waitingFor)}`}.`;
}

function describeDeadline(until: string | undefined, { time }: Writer): string {
  return until === undefined ? '' : `, until ${time(until)}; silence means no`;
}

function describeShareConsent(share: NonNullable<RunView['shares']>[number], w: Writer): string {
  const { shareId, sharedWith, waitingFor, until } = share;
  const who = waitingFor.length > 0 ? `the consent of ${waitingFor.map(w.plain).join(', ')}` : 'its report';
  const user = sharedWith === undefined ? '' : ` with ${w.plain(describeSecondaryUser(sharedWith))}`;
  return `Waits for ${who} to share ${w.plain(shareId)}${user}${describeDeadline(until, w)}.`;
}

/** A list of the run's parts. The first cell of a row is the part's name, and a cell may be empty. */
export interface RunSection {
  title: string;
  rows: string[][];
}

/** Lists the run's parts; those that need an operator come first. */
export function describeParts(view: RunView, w: Writer): RunSection[] {
  const { status, sharedWith } = view;
  if (wasNeverAccepted(status)) return [];
  if ('reviewId' in status) return [{ title: 'Rows', rows: formatReviewRows(status, w) }];
  if ('pullId' in status) {
    const consumers = (view.consumers ?? []).map(({ applicantId, outcome, reportReferenceNumber: number }) => {
      return [w.plain(applicantId), splitCamelCase(outcome), number === undefined ? '' : w.reference(number)];
    });
    return [
      { title: 'Inquiry', rows: [formatInquiryRow({ ...status, since: view.since }, w)] },
      { title: 'Consumers', rows: consumers },
    ].filter(({ rows }) => rows.length > 0);
  }
  if ('shareId' in status) {
    const { report } = status;
    const of = report && (report.kind === 'given' ? 'a report that was given in full' : describeReport(report, w));
    const [, ...cells] = formatInquiryRow({ ...status, productCode: 'SECONDUSE' }, w);
    return [{ title: 'Share', rows: [[of ?? 'a report', withUser(sharedWith, w), ...cells]] }];
  }
  const { stages = status.stages, shares = status.shares } = view;
  const sorted = shares.toSorted((a, b) => rankUrgency(a) - rankUrgency(b));
  return [
    { title: 'Stages', rows: stages.map((stage) => formatInquiryRow(stage, w)) },
    { title: 'Shares', rows: sorted.map((share) => formatShareRow(share, w)) },
  ].filter(({ rows }) => rows.length > 0);
}

function rankUrgency({ state }: ShareStatus): number {
  const place = ['held', 'posting', 'awaitingConsent'].indexOf(state);
  return place === -1 ? 3 : place;
}

type InquiryParts = { productCode: string; state: string; since?: string | undefined } & Partial<
  Pick<StageStatus, 'occurrence' | 'attempts' | 'customerTraceNumber' | 'reportReferenceNumber'>
>;

function formatInquiryRow(inquiry: InquiryParts, w: Writer): string[] {
  const { productCode, occurrence, state, since, attempts = 0, customerTraceNumber, reportReferenceNumber } = inquiry;
  return [
    w.plain(occurrence === undefined ? productCode : `${productCode} (${occurrence})`),
    splitCamelCase(state),
    since === undefined ? '' : w.time(since),
    attempts === 0 ? '' : countWords(attempts, 'attempt'),
    customerTraceNumber === undefined ? '' : w.code(customerTraceNumber),
    reportReferenceNumber === undefined ? '' : w.reference(reportReferenceNumber),
  ];
}

function withUser(user: SecondaryUser | undefined, w: Writer): string {
  return user === undefined ? '' : `with ${w.plain(describeSecondaryUser(user))}`;
}

function formatShareRow(share: NonNullable<RunView['shares']>[number], w: Writer): string[] {
  const { shareId, sharedWith, waitingFor } = share;
  const missing = waitingFor.length === 0 ? '' : `consent missing: ${waitingFor.map(w.plain).join(', ')}`;
  const [name = '', state = '', ...cells] = formatInquiryRow({ ...share, productCode: shareId }, w);
  return [name, state, withUser(sharedWith, w), missing, ...cells];
}

function describeReport(
  report: { runKey: string; productCode: string; customerTraceNumber: string },
  w: Writer,
): string {
  return `${report.productCode} of ${w.plain(formatRunName(report.runKey))}, ${w.code(report.customerTraceNumber)}`;
}

function formatReviewRows({ file, digest, progress }: PortfolioStatus, w: Writer): string[][] {
  const { rows, badRows, done, record, noRecord, noReport, abandoned, held, underWay } = progress;
  const percent = rows === 0 ? '' : ` (${Math.floor((100 * done) / rows)} %)`;
  return [
    ['file', `${w.code(file)}${digest === undefined ? '' : `, SHA-256 ${w.code(digest.slice(0, 12))}…`}`],
    ['done', `${done} of ${rows}${percent}`],
    ['answered', `${record} with a record, ${noRecord} without, ${noReport} without a report`],
    ...(abandoned > 0 ? [['given up', String(abandoned)]] : []),
    ...(badRows > 0 ? [['bad rows', `${badRows}, in the bad rows’ report`]] : []),
    ['held', String(held)],
    ['under way', String(underWay)],
  ];
}

/** Describes answers beyond a record of everyone, and changes between reports. */
export function describeNews({ status, stages }: RunView, w: Writer): string[] {
  if ('reviewId' in status) return [];
  if ('pullId' in status) return describeAnswers(status, w);
  if ('shareId' in status) return describeAnswers({ ...status, productCode: 'SECONDUSE' }, w);
  const all = stages ?? status.stages;
  return [
    ...all.flatMap((stage) => [...describeAnswers(stage, w), ...writeChanges(stage)]),
    ...status.shares.flatMap((share) => describeAnswers({ ...share, productCode: `Share ${share.shareId}` }, w)),
  ];
}

function describeAnswers(answered: AnsweredInquiry & { productCode: string }, w: Writer): string[] {
  const { productCode, returnReasonCode, applicantOutcomes = [], remarks = [] } = answered;
  const isPlain = returnReasonCode === undefined && applicantOutcomes.every(({ outcome }) => outcome === 'record');
  const name = w.plain(productCode);
  return [
    ...(isPlain ? [] : [`${name} answered: ${listAnswerParts(answered, w).join(', ')}`]),
    ...remarks.map((remark) => `${name}: ${w.plain(formatProblem(remark))}`),
  ];
}

/** Shows only counts: the list is personal, and has its own command. */
function writeChanges({ productCode, changes }: StageStatus): string[] {
  if (!changes) return [];
  const since = `${productCode} since ${changes.comparedWith}:`;
  if ('unavailable' in changes) return [`${since} not compared (${splitCamelCase(changes.unavailable)})`];
  const counts = Object.entries(changes.counts).flatMap(([name, count]) =>
    name === 'applicantsCompared' || count === 0 ? [] : [`${splitCamelCase(name)} ${count}`],
  );
  return [`${since} ${counts.join(', ') || 'no change'}`];
}

/** Describes the parts that an operator should look at, although no inquiry waits for one. */
export function describeAttention({ status, files }: RunView, w: Writer): string[] {
  if ('reviewId' in status) {
    const { flagged = 0 } = status.progress;
    const rows = `${countWords(flagged, 'row')}, which the result file marks`;
    return [
      ...(status.attention === undefined ? [] : [describeFiles(files ?? { path: status.file }, w)]),
      ...(flagged > 0 ? [writeAttention('ssnMismatch', rows, w)] : []),
    ];
  }
  const parts = 'stages' in status ? [...status.stages, ...status.shares] : [status];
  return parts.flatMap((part) => {
    if (part.attention === undefined) return [];
    const name = 'productCode' in part ? part.productCode : `share ${part.shareId}`;
    const { customerTraceNumber: trace } = part;
    const which = `${w.plain(name)}${trace === undefined ? '' : `, trace number ${w.code(trace)}`}`;
    return [writeAttention(part.attention, which, w)];
  });
}

type RunAttention = NonNullable<(StageStatus | ShareStatus)['attention']>;

function writeAttention(attention: RunAttention, which: string, w: Writer): string {
  const { what, advice } = ATTENTION_GUIDE[attention];
  return `${w.strong(what)} ${which}. ${advice} ${w.page(toRunbookPage(attention))}`;
}

function describeFiles({ path, away }: { path: string; away?: string }, w: Writer): string {
  const why = away === undefined ? '' : `: ${w.plain(away)}`;
  return `${w.strong(`The portfolio’s files cannot be reached${why}.`)} Nothing is lost: what cannot be read is not sent, and what cannot be written stays here. Every worker of this task queue needs ${w.code(path)} in its \`PORTFOLIO_DIR\`, which must be writable. The review asks again every minute, and continues by itself. ${w.page(toRunbookPage(PORTFOLIO_UNAVAILABLE))}`;
}

/** A command that passes a closed gate. */
export interface GateWay {
  words?: string;
  command: string;
}

const SIGNED = '--by WHO --reason WHY';

/** Returns the ways that end the run's wait at a gate; none if it waits for something else. */
export function listGateWays({ status, gate, stages, holds, isEnding = false }: RunView): GateWay[] {
  if (!gate || holds.length > 0 || isEnding || !('stages' in status)) return [];
  const { reportTooOld: tooOld } = status;
  const { before } = gate;
  const shell = `credit-journey advance ${readRunKey(status)} \\\n`;
  const known = stages ?? status.stages;
  const pending = known.filter(({ state }) => state === 'pending').map(({ productCode }) => productCode);
  const after = pending[pending.indexOf(before) + 1];
  const occurrence = (known.findLast(({ productCode }) => productCode === tooOld)?.occurrence ?? 1) + 1;
  const ways: (GateWay | false)[] = [
    tooOld === undefined && { command: `${shell} --to ${before}` },
    tooOld !== undefined && {
      words: `Pull ${tooOld} once more, a further inquiry:`,
      command: `${shell} --repeat ${tooOld} --occurrence ${occurrence} \\\n ${SIGNED}`,
    },
    tooOld !== undefined && {
      words: 'Or accept the report as it is:',
      command: `${shell} --to ${before} --accept-age \\\n ${SIGNED}`,
    },
    after !== undefined && {
      words: `Or ${after} follows without ${before}, which is never pulled:`,
      command: `${shell} --to ${after} --skip ${before} \\\n ${SIGNED}`,
    },
  ];
  return ways.filter((way) => way !== false);
}

// The words of each end.

type Status<Kind extends RunKind> = RunAnswers[Kind]['status'];
type OpenState = 'running' | 'waitingAtGate' | 'waitingForConsent' | 'held' | 'examining' | 'paused' | 'stopping';

const WITHDRAWN = 'It has ended: it was withdrawn.';
const ABANDONED = 'It has ended: an operator gave up the inquiry.';

const CLOSED: Readonly<Record<ClosedState, string>> = {
  cancelled: 'It was cancelled. What was on hold stays undecided in the ledger.',
  failed: 'It has failed; its failure says why. What was on hold stays undecided in the ledger.',
  terminated: 'It was terminated. Nothing more is sent, and the rest says how it was before.',
  timedOut: 'It has timed out. Nothing more is sent, and the rest says how it was before.',
};

const ENDS: { readonly [Kind in RunKind]: Readonly<Record<Exclude<Status<Kind>['state'], OpenState>, string>> } = {
  journey: {
    completed: 'It has completed.',
    stopped: 'It has ended: a stage came back without a record.',
    expired: 'It has ended: no platform passed a gate in time.',
    withdrawn: WITHDRAWN,
    abandoned: 'It has ended: an operator gave up the inquiry of a stage.',
    ...CLOSED,
  },
  pull: {
    record: 'It has completed with a record.',
    noRecord: 'It has completed: there is no record.',
    noReport: 'It has completed: the answer has no report.',
    withdrawn: WITHDRAWN,
    abandoned: ABANDONED,
    ...CLOSED,
  },
  share: {
    posted: 'It has completed: the share is posted.',
    notPosted: 'It has ended: an operator says that it was not posted.',
    denied: 'It has ended: consent was denied. Nothing was posted.',
    revoked: 'It has ended: consent was revoked before anything was posted.',
    expired: 'It has ended: no answer came in time, and silence means no. Nothing was posted.',
    reportGone: 'It has ended: the report was disposed of, or is under a legal hold. Nothing more is sent.',
    withdrawn: WITHDRAWN,
    abandoned: ABANDONED,
    ...CLOSED,
  },
  portfolio: {
    completed: 'It has completed.',
    withdrawn: WITHDRAWN,
    ...CLOSED,
  },
};

export function describeEnd(kind: RunKind, state: AnyStatus['state']): string | null {
  const ends: Readonly<Partial<Record<string, string>>> = ENDS[kind];
  return ends[state] ?? null;
}

type OpenReview = Extract<PortfolioStatus['state'], OpenState>;

/** The sentences lack their full stops. */
const REVIEW_PROGRESS: Readonly<Record<OpenReview, string>> = {
  examining: 'The file is being examined',
  running: 'The review is running',
  paused: 'The review is paused',
  held: 'The review sends nothing more',
  stopping: 'The review is ending',
};
