/** Gates, and the update `advance`, which passes a gate, skips a stage, or repeats the pull of a stage. */
import { omitUndefined } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { RunDecision } from '../../ledger/records.ts';
import type { AdvanceMessage, PassGateMessage, RepeatStageMessage } from '../../messages/advance.ts';
import type { GateInput } from '../../messages/inputs/lending-journey.ts';
import { STAGES, type StageCode } from '../../model/products.ts';
import { type MessageRefusal, refuse, refuseDifference, refusePaths } from '../../model/refusals.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import type { RepeatDecision } from '../run/holds.ts';
import { findEndOfWait } from '../run/run-decisions.ts';
import type { Journey, Skip, StageRecord, WantedRepeat } from './journey.ts';

const ENDING = refuse('ending', 'the journey is ending');

// Stages that are skipped: `advance` to a later stage says so, with who and why. Nothing is ever posted for them. No
// waiting.

/** The rest of the message, as if it came by itself: it passes the gate before `to`. */
function toGatePart(message: PassGateMessage): PassGateMessage {
  if (message.skip === undefined) return message;
  const { skip: _, by, reason, ...pass } = message;
  return pass.acceptAge && by !== undefined && reason !== undefined ? { ...pass, by, reason } : pass;
}

/** Returns why the stage cannot be skipped now; `null` if none is to be, or the same skip was accepted before. */
function skipObjection(journey: Journey, message: PassGateMessage): MessageRefusal | null {
  const skip = toSkip(message);
  if (!skip) return null;
  const { skip: stage, to } = skip;
  const known = journey.skips.get(stage);
  if (known) return refuseDifference(`skipping ${stage} was accepted`, known, skip);
  const first = journey.stages.find(({ status }) => status.productCode === stage);
  if (!first) return refuse('unknownPart', '/skip names a stage that this journey leaves out');
  if (STAGES.indexOf(stage) >= STAGES.indexOf(to)) {
    return refuse('notNow', '/skip must be a stage before the one that /to names');
  }
  if (!journey.findGateBefore(stage)) {
    return refuse('notNow', `/skip must be a stage with a gate: ${stage} begins by itself`);
  }
  return checkAtGate(journey, first);
}

/** Returns why the stage waits at no gate any more, or `null`. */
function checkAtGate(journey: Journey, { status }: StageRecord): MessageRefusal | null {
  if (journey.isEnding) return ENDING;
  if (status.state === 'pending') return null;
  return refuse('notNow', `${status.productCode} has gone beyond its gate: ${status.state}`);
}

/** Takes what `skipObjection` permits, at once, also early. Returns `false` if nothing in it is new. */
function takeSkip(journey: Journey, message: PassGateMessage): boolean {
  const skip = toSkip(message);
  if (!skip || journey.skips.has(skip.skip)) return false;
  const { skip: productCode } = skip;
  journey.skips.set(productCode, skip);
  // A later `advance` to it is refused, and not taken for one that was accepted before.
  journey.advances.delete(productCode);
  for (const stage of journey.stages) {
    if (stage.status.productCode !== productCode) continue;
    // Includes a repeat of the stage that was requested early.
    journey.changeStage(stage, { state: 'skipped' });
    delete stage.plannedTraceNumber;
  }
  if (journey.gate === productCode) leaveGate(journey);
  journey.events.emit('stage.skipped', [productCode], { stage: productCode });
  return true;
}

function toSkip({ skip, to, by = '', reason = '' }: PassGateMessage): Skip | undefined {
  return skip && { skip, to, by, reason };
}

/** Returns why the message makes no sense now, or `null`. */
export function checkAdvance(journey: Journey, message: AdvanceMessage): MessageRefusal | null {
  if ('repeat' in message) return checkRepeat(journey, message);
  const ids = findNewDecisions(journey, message).map(({ decisionId }) => decisionId);
  const asked = journey.decided.objection(ids, message);
  return asked === undefined ? checkPassGate(journey, message) : asked;
}

/** Returns the objection to a message that the ledger already has. */
export function checkPassGate(journey: Journey, message: PassGateMessage): MessageRefusal | null {
  return skipObjection(journey, message) ?? checkGateMessage(journey, toGatePart(message));
}

/** Returns the decisions of the message that the journey does not have yet, without the passage of the gate. */
export function findNewDecisions(journey: Journey, message: PassGateMessage, decidedAt = ''): RunDecision[] {
  const { to, skip, acceptAge, by = '', reason = '' } = message;
  const who = { runKey: journey.journeyId, by, reason, decidedAt };
  const decisions: RunDecision[] = [];
  if (skip && !journey.skips.has(skip)) {
    decisions.push({ ...who, decisionId: `skip-${skip}`, action: 'skip', stage: skip });
  }
  if (acceptAge && !journey.advances.get(to)?.acceptAge) {
    decisions.push({ ...who, decisionId: `acceptAge-${to}`, action: 'acceptAge', stage: to });
  }
  return decisions;
}

/** Takes a message that `checkAdvance` permits; returns `false` if it was taken before. */
export function takeAdvance(journey: Journey, message: AdvanceMessage, receivedAt: string): boolean {
  if ('repeat' in message) {
    if (findKnownRepeat(journey, message)) return false;
    journey.addRepeat({ ...message, receivedAt });
    leaveGate(journey);
    return true;
  }
  const isSkipped = takeSkip(journey, message);
  const pass = toGatePart(message);
  const kept = journey.advances.get(message.to);
  if (kept && !adds(pass, kept)) return isSkipped;
  journey.advances.set(message.to, { ...kept, ...pass });
  const gate = journey.findGateBefore(message.to);
  if (gate && journey.gate === message.to && mayPass(journey, message.to, gate, Date.now())) leaveGate(journey);
  return true;
}

/** Whether a gate is open at `nowMs`: never by itself if the report is too old. */
export function mayPass(journey: Journey, productCode: StageCode, gate: GateInput, nowMs: number): boolean {
  if (journey.decided.asksToSkip(productCode)) return false;
  const advance = journey.advances.get(productCode);
  if (advance?.acceptAge) return true;
  const freshForMs = journey.reportFreshForMs(nowMs);
  if (freshForMs !== undefined && freshForMs <= 0) return false;
  return advance !== undefined || gate.pass === 'auto';
}

/** Clears the gate at once, so that the answer to the message does not name the passed gate. */
function leaveGate(journey: Journey): void {
  journey.gate = undefined;
  journey.reportTooOld = undefined;
}

function checkGateMessage(journey: Journey, message: PassGateMessage): MessageRefusal | null {
  const { to } = message;
  const stage = journey.stage(to);
  if (!stage) return refuse('unknownPart', '/to names a stage that this journey leaves out');
  if (!journey.findGateBefore(to)) return refuse('unknownPart', `there is no gate before ${to}`);
  // An accepted message for this gate does not suffice once the report is too old, and neither does a repeat of it.
  const tooOld = journey.gate === to && !message.acceptAge ? refuseOldReport(journey) : null;
  if (tooOld) return tooOld;
  const kept = journey.advances.get(to);
  const differing = refusePaths(`advance to ${to} was accepted`, kept ? findGateDifferences(kept, message) : []);
  if (differing) return differing;
  return kept && !adds(message, kept) ? null : checkAtGate(journey, stage);
}

/**
 * Returns the members in which the message contradicts the one accepted for this gate. A separate message, before or
 * after the other, may accept the report's age. It need not repeat the applicants, but may name no others.
 */
function findGateDifferences(kept: PassGateMessage, message: PassGateMessage): string[] {
  const { acceptAge, by, reason, ...rest } = kept;
  if (message.acceptAge === undefined) return findDifferingPaths(rest, message);
  const signature = acceptAge ? { acceptAge, by, reason } : { acceptAge: true, by: message.by, reason: message.reason };
  const applicants = message.applicants ? rest : { ...rest, applicants: undefined };
  return findDifferingPaths({ ...applicants, ...signature }, message);
}

/** Whether the message accepts the report's age later; all else stays as accepted. */
function adds(message: PassGateMessage, kept: PassGateMessage): boolean {
  return message.acceptAge === true && kept.acceptAge === undefined;
}

function refuseOldReport(journey: Journey): MessageRefusal | null {
  const freshForMs = journey.reportFreshForMs(Date.now());
  if (freshForMs === undefined || freshForMs > 0) return null;
  const stage = journey.latestReport?.productCode;
  const rule = `the report of ${stage} is older than maxReportAge: repeat ${stage}, or send acceptAge with by and reason`;
  return refuse('notNow', rule);
}

function checkRepeat(journey: Journey, message: RepeatStageMessage): MessageRefusal | null {
  const { repeat, occurrence } = message;
  const latest = journey.stage(repeat);
  if (journey.skips.has(repeat)) {
    return refuse('notNow', `/repeat must be a stage that was pulled: ${repeat} is skipped`);
  }
  if (!latest) return refuse('unknownPart', '/repeat names a stage that this journey leaves out');
  const known = findKnownRepeat(journey, message);
  if (known) {
    const { proof: _, ...content } = message;
    return refuseDifference(`repeat ${occurrence} of ${repeat} was accepted`, known, content);
  }
  if (journey.isEnding || journey.isClosing) return ENDING;
  if (journey.stagesEndedAs) return refuse('notNow', `the stages have ended: ${journey.stagesEndedAs}`);
  const later = journey.stages.slice(journey.stages.indexOf(latest) + 1);
  const begun = later.find(({ status }) => status.state !== 'pending');
  if (begun) return refuse('notNow', `/repeat must be the latest stage: ${begun.status.productCode} has begun`);
  const next = (latest.status.occurrence ?? 1) + 1;
  if (occurrence !== next) {
    return refuse('notNow', `/occurrence must be ${next}: ${repeat} was asked for ${formatTimes(next - 1)}`);
  }
  const waiting = journey.stages.filter(({ status }) => status.productCode === repeat && status.state === 'pending');
  if (journey.computeNextOrdinal(repeat) + waiting.length > MAX_ORDINAL) {
    return refuse('notNow', `${repeat} has used its ${MAX_ORDINAL + 1} trace numbers`);
  }
  return null;
}

/** Returns the repeat that was taken under this stage and occurrence, without its proof. */
export function findKnownRepeat(
  journey: Journey,
  { repeat, occurrence }: RepeatStageMessage,
): RepeatStageMessage | undefined {
  const stage = journey.stages.find(
    ({ repeat: candidate }) => candidate?.repeat === repeat && candidate.occurrence === occurrence,
  );
  if (!stage?.repeat) return undefined;
  const { receivedAt: _, proof: __, ...message } = stage.repeat;
  return message;
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Builds the decision, which the ledger knows by stage and occurrence. */
export function toRepeatDecision(wanted: WantedRepeat): RepeatDecision {
  const { repeat, occurrence, by, reason, receivedAt, applicants, proof } = wanted;
  return {
    decisionId: `repeat-${repeat}-${occurrence}`,
    by,
    reason,
    decidedAt: receivedAt,
    occurrence,
    ...omitUndefined({ proof, applicants }),
  };
}

const DEFAULT_GATE_EXPIRY = 'P30D';

type Passage = 'passed' | 'expired' | 'otherStage';

/**
 * Waits at the gate before a stage, if there is one. Returns `otherStage` if the stage is skipped, or if a caller wants
 * the stage before it once more. The journey then reaches the gate again.
 */
export async function passGate(journey: Journey, stage: StageRecord): Promise<Passage> {
  const { productCode } = stage.status;
  const gate = journey.findGateBefore(productCode);
  if (!gate || stage.repeat) return 'passed';
  const isOpen = (nowMs: number) => journey.isEnding || mayPass(journey, productCode, gate, nowMs);
  // An earlier run may have reached the gate.
  const isReached = journey.gate === productCode;
  if (!isReached && !isOpen(Date.now())) reachGate(journey, productCode, gate.expiresAfter ?? DEFAULT_GATE_EXPIRY);
  const passage = isOpen(Date.now()) ? 'passed' : await waitAtGate(journey, stage, isOpen);
  leaveGate(journey);
  return passage;
}

function reachGate(journey: Journey, productCode: StageCode, expiresAfter: string): void {
  const untilMs = Date.now() + (parseDurationMs(expiresAfter) ?? 0);
  journey.gate = productCode;
  const until = findEndOfWait(journey.extensions, { gate: productCode }, untilMs);
  journey.gateTimes = { since: new Date().toISOString(), until };
  journey.publish();
  journey.events.emit('gate.reached', [productCode], { stage: productCode, until: journey.gateTimes.until });
}

async function waitAtGate(journey: Journey, stage: StageRecord, isOpen: (nowMs: number) => boolean): Promise<Passage> {
  const { productCode } = stage.status;
  const isPassedOver = () => journey.nextStage !== stage;
  const isLeft = (nowMs: number) => isOpen(nowMs) || isPassedOver();
  for (;;) {
    const nowMs = Date.now();
    const { until } = journey.gateTimes;
    const freshForMs = journey.reportFreshForMs(nowMs);
    const isTooOld = freshForMs !== undefined && freshForMs <= 0;
    journey.reportTooOld = isTooOld ? journey.latestReport?.productCode : undefined;
    const leftMs = (parseInstantMs(until) ?? 0) - nowMs;
    // The report's age is looked at again when it matters: the status then says what the gate asks for.
    const wakesMs = freshForMs !== undefined && freshForMs > 0 ? Math.min(leftMs, freshForMs) : leftMs;
    const asked = isTooOld ? `a repeat of ${journey.reportTooOld}, or advance with acceptAge` : 'advance';
    const summary = `gate before ${productCode}: waiting for ${asked}, until ${until}`;
    const { settled } = journey.decided;
    const hasChanged = () => journey.gateTimes.until !== until || journey.decided.settled !== settled;
    const isOver = () => isLeft(nowMs) || hasChanged();
    const isDisturbed = await journey.continuation.wait(isOver, Math.max(1, wakesMs), { summary });
    if (isLeft(Date.now())) return isPassedOver() && !journey.isEnding ? 'otherStage' : 'passed';
    if (isDisturbed || wakesMs !== leftMs || hasChanged()) continue;
    if (!journey.decided.isAboutGate(productCode)) return 'expired';
    // The ledger has not recorded an operator's decision about this gate yet.
    await journey.continuation.wait(isOver);
  }
}
