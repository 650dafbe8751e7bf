/**
 * Where a run stands and what it waits for, in one sentence: for the Temporal UI's current details and for the HTTP API.
 * Nothing personal is in it. Pure.
 */
import type { StageCode } from '../model/products.ts';
import { nameOfUser, type SecondaryUser } from '../model/secondary-user.ts';
import type { HoldStatus, JourneyStatus, ShareStatus, StageStatus } from './journey/shapes.ts';
import type { PortfolioStatus } from './portfolio/shapes.ts';
import type { PullStatus } from './pull/shapes.ts';
import type { ShareReportStatus } from './share/shapes.ts';
import { JOURNEY_WORDS, PORTFOLIO_WORDS, PULL_WORDS, SHARE_WORDS, TERMINAL_WORDS } from './state-words.ts';

/** How values and instants are written: as Markdown they are escaped. */
export interface Writer {
  plain(text: string): string;
  time(instant: string | undefined): string;
}

/** As plain text. `2026-01-02T03:04:05.678Z` → `2026-01-02 03:04 UTC` */
export const AS_TEXT: Writer = {
  plain: (text) => text,
  time: (instant) => (instant === undefined ? '' : `${instant.slice(0, 16).replace('T', ' ')} UTC`),
};

type JudgedHold = Pick<HoldStatus, 'productCode' | 'failureType' | 'since'>;

export const RECORDING = 'A decision is being recorded.';

/** @param others how many more wait for a person */
export function decisionSentence(hold: JudgedHold, { plain, time }: Writer, others = 0): string {
  const more = others > 0 ? `, and about ${others} more` : '';
  return `A person must decide about ${plain(hold.productCode)} (${hold.failureType})${more}, since ${time(hold.since)}.`;
}

export interface JourneyStanding {
  status: Pick<JourneyStatus, 'state' | 'waitingFor' | 'reportTooOld'>;
  stages: readonly Pick<StageStatus, 'productCode' | 'state' | 'attempts'>[];
  shares: readonly (Pick<ShareStatus, 'shareId' | 'state' | 'waitingFor' | 'until'> & { sharedWith?: SecondaryUser })[];
  holds: readonly (JudgedHold & { isDecided?: boolean })[];
  /** `since`: where it is known. */
  gate?: { before: StageCode; since?: string; until: string };
  /** Everything has settled; further shares are taken until then. */
  openUntil?: string;
  isCancelled: boolean;
}

export function journeyStanding(view: JourneyStanding, writer: Writer): string {
  const { status, gate, stages, shares, holds, openUntil, isCancelled } = view;
  const { plain, time } = writer;
  const [hold] = holds.filter(({ isDecided }) => !isDecided);
  const { state, waitingFor = '' } = status;
  if (hold) return decisionSentence(hold, writer, holds.length - 1);
  if (holds.length > 0) return RECORDING;
  if (isCancelled) return TERMINAL_WORDS.cancelled.end;
  const { end } = JOURNEY_WORDS[state];
  if (end) return end;
  if (gate && status.reportTooOld) {
    return `The report of ${status.reportTooOld} is too old for the gate before ${gate.before}: the update advance needs a repeat, or acceptAge, until ${time(gate.until)} at the most.`;
  }
  if (gate) {
    const since = gate.since === undefined ? '' : ` since ${time(gate.since)},`;
    return `Waits at the gate before ${gate.before} for the update advance,${since} until ${time(gate.until)} at the most.`;
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
  if (waiting) return consentSentence(waiting, writer);
  if (openUntil) return `Everything has settled; further shares and repeats are taken until ${time(openUntil)}.`;
  return 'It is under way.';
}

export function consentSentence(
  { shareId, sharedWith, waitingFor, until }: JourneyStanding['shares'][number],
  { plain, time }: Writer,
): string {
  const who = waitingFor.length > 0 ? `the consent of ${waitingFor.map(plain).join(', ')}` : 'its report';
  const limit = until === undefined ? '' : `, until ${time(until)}; silence means no`;
  const user = sharedWith === undefined ? '' : ` with ${plain(nameOfUser(sharedWith))}`;
  return `Waits for ${who} to share ${plain(shareId)}${user}${limit}.`;
}

interface SingleStanding<Status> {
  status: Status;
  hold: JudgedHold | undefined;
  /** Holds whose decision is not recorded yet are among them. */
  holds: number;
  /** The retry that the inquiry waits for. */
  retry?: string | undefined;
}

export function pullStanding(
  { status, hold, holds, retry }: SingleStanding<Pick<PullStatus, 'state' | 'productCode' | 'attempts'>>,
  writer: Writer,
): string {
  if (hold) return decisionSentence(hold, writer);
  if (holds > 0) return RECORDING;
  const { end } = PULL_WORDS[status.state];
  if (end) return end;
  const waiting = retry === undefined ? '' : `: ${writer.plain(retry)}`;
  return `${writer.plain(status.productCode)} is under way, attempts so far: ${status.attempts}${waiting}.`;
}

export function shareStanding(
  {
    status,
    hold,
    holds,
    retry,
  }: SingleStanding<Pick<ShareReportStatus, 'state' | 'waitingFor' | 'until' | 'attempts'>>,
  writer: Writer,
): string {
  if (hold) return decisionSentence(hold, writer);
  if (holds > 0) return RECORDING;
  const { state, waitingFor, until, attempts } = status;
  const { end } = SHARE_WORDS[state];
  if (end) return end;
  if (state === 'waitingForConsent') {
    return `Waits for ${writer.plain(waitingFor ?? 'consent')}, until ${writer.time(until)}; silence means no.`;
  }
  const waiting = retry === undefined ? '' : `: ${writer.plain(retry)}`;
  return `The share is being posted, attempts so far: ${attempts}${waiting}.`;
}

export function reviewStanding(
  { state, waitingFor }: Pick<PortfolioStatus, 'state' | 'waitingFor'>,
  { plain }: Writer,
): string {
  const { end } = PORTFOLIO_WORDS[state];
  if (end) return end;
  const waiting = waitingFor === undefined ? '' : `; it waits for ${plain(waitingFor)}`;
  return `The review is ${state}${waiting}.`;
}

/** By the status alone. */
export function standingOf(
  status: JourneyStatus | PullStatus | ShareReportStatus | PortfolioStatus,
  writer: Writer = AS_TEXT,
): string {
  const [hold] = status.holds;
  const holds = status.holds.length;
  if ('reviewId' in status) {
    return hold ? decisionSentence(hold, writer, holds - 1) : reviewStanding(status, writer);
  }
  const { waitingFor: retry } = status;
  if ('pullId' in status) return pullStanding({ status, hold, holds, retry }, writer);
  if ('shareId' in status) return shareStanding({ status, hold, holds, retry }, writer);
  const gate = gateOf(status);
  const isCancelled = status.state === 'cancelled';
  const { stages, shares } = status;
  return journeyStanding(
    { status, stages, shares, holds: status.holds, isCancelled, ...(gate ? { gate } : {}) },
    writer,
  );
}

/** The gate at which a journey waits, by its status. */
export function gateOf({
  state,
  waitingFor,
  waitingUntil,
}: JourneyStatus): { before: StageCode; until: string } | undefined {
  if (state !== 'waitingAtGate' || waitingFor === undefined || waitingUntil === undefined) return undefined;
  return { before: waitingFor as StageCode, until: waitingUntil };
}
