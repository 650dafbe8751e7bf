/** Gates, and the update `advance`, which passes a gate, skips a stage, or repeats the pull of a stage. */
import { CancellationScope } from '@temporalio/workflow';
import type { RunConfig, UnprovenDecision } from '../../activities/contract.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { RunDecision } from '../../ledger/records.ts';
import type { AdvanceMessage, PassGateMessage, RepeatStageMessage } from '../../messages/advance.ts';
import type { GateInput } from '../../messages/inputs/lending-journey.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import { STAGES, type StageCode } from '../../model/products.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { runUntilRecorded } from '../run/activity-stubs.ts';
import { findEndOfWait } from '../run/run-decisions.ts';
import type { Journey, Skip, StageRecord, WantedRepeat } from './journey.ts';

const ENDING = refuse('ending', 'the journey is ending');

// Stages that are skipped: `advance` to a later stage says so, with who and why. Nothing is ever posted for them. No
// waiting.

/** Returns why the stage cannot be skipped now; `null` if none is to be, or the same skip was accepted before. */
function checkSkip(journey: Journey, message: PassGateMessage): MessageRefusal | null {
  const skip = toSkip(message);
  if (!skip) return null;
  const { skip: stage, to } = skip;
  const known = journey.state.skips[stage];
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

/** Takes what `checkSkip` permits, at once, also early. Returns `false` if nothing in it is new. */
function takeSkip(journey: Journey, message: PassGateMessage): boolean {
  const skip = toSkip(message);
  const { skips, advances, gate } = journey.state;
  if (!skip || skips[skip.skip]) return false;
  const { skip: productCode } = skip;
  skips[productCode] = skip;
  // A later `advance` to it is refused, and not taken for one that was accepted before.
  delete advances[productCode];
  for (const stage of journey.stages) {
    if (stage.status.productCode !== productCode) continue;
    // Includes a repeat of the stage that was requested early.
    journey.changeStage(stage, { state: 'skipped' });
  }
  if (gate?.before === productCode) delete journey.state.gate;
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
  return journey.decided.check(ids, message, () => checkPassGate(journey, message));
}

/** Returns the refusal of a message that the ledger already has. */
export function checkPassGate(journey: Journey, message: PassGateMessage): MessageRefusal | null {
  return checkSkip(journey, message) ?? checkGateMessage(journey, message);
}

/** Returns the decisions of the message that the journey does not have yet, without the passage of the gate. */
export function findNewDecisions(journey: Journey, message: PassGateMessage, decidedAt = ''): RunDecision[] {
  const { to, skip, acceptAge, by = '', reason = '' } = message;
  const who = { runKey: journey.runKey, by, reason, decidedAt };
  const decisions: RunDecision[] = [];
  if (skip && !journey.state.skips[skip]) {
    decisions.push({ ...who, decisionId: `skip-${skip}`, action: 'skip', stage: skip });
  }
  if (acceptAge && !journey.state.acceptedAges[to]) {
    decisions.push({ ...who, decisionId: `acceptAge-${to}`, action: 'acceptAge', stage: to });
  }
  return decisions;
}

/**
 * Takes a message that `checkAdvance` permits; returns `false` if it was taken before. Clears a gate that it passes at
 * once, so that its answer does not name the gate.
 */
export function takeAdvance(journey: Journey, message: AdvanceMessage, receivedAt: string): boolean {
  if ('repeat' in message) {
    if (findKnownRepeat(journey, message)) return false;
    journey.addRepeat({ ...message, receivedAt });
    delete journey.state.gate;
    return true;
  }
  const isSkipped = takeSkip(journey, message);
  const { to, applicants, acceptAge, by = '', reason = '' } = message;
  const { advances, acceptedAges } = journey.state;
  if (advances[to] && (!acceptAge || acceptedAges[to])) return isSkipped;
  advances[to] ??= { to, applicants };
  if (acceptAge) acceptedAges[to] ??= { by, reason };
  const gate = journey.findGateBefore(to);
  if (gate && journey.state.gate?.before === to && mayPass(journey, to, gate, Date.now())) delete journey.state.gate;
  return true;
}

/** Whether a gate is open at `nowMs`: never by itself if the report is too old. */
export function mayPass(journey: Journey, productCode: StageCode, gate: GateInput, nowMs: number): boolean {
  const { advances, acceptedAges } = journey.state;
  if (acceptedAges[productCode]) return true;
  if (journey.reportFreshForMs(nowMs) <= 0) return false;
  return advances[productCode] !== undefined || gate.pass === 'auto';
}

/**
 * A separate message, before or after the other, may accept the report's age. It need not repeat the applicants, but may
 * name no others.
 */
function checkGateMessage(journey: Journey, { to, applicants, acceptAge, by, reason }: PassGateMessage) {
  const stage = journey.stage(to);
  if (!stage) return refuse('unknownPart', '/to names a stage that this journey leaves out');
  if (!journey.findGateBefore(to)) return refuse('unknownPart', `there is no gate before ${to}`);
  const { gate, advances, acceptedAges } = journey.state;
  // An accepted message for this gate does not suffice once the report is too old, and neither does a repeat of it.
  const tooOld = gate?.before === to && !acceptAge ? refuseOldReport(journey) : null;
  if (tooOld) return tooOld;
  const what = `advance to ${to} was accepted`;
  const [advance, age] = [advances[to], acceptedAges[to]];
  const differing =
    (advance && (applicants || !acceptAge) ? refuseDifference(what, advance, { to, applicants }) : null) ??
    (age && acceptAge ? refuseDifference(what, age, { by, reason }) : null);
  if (differing) return differing;
  return advance && (age || !acceptAge) ? null : checkAtGate(journey, stage);
}

function refuseOldReport(journey: Journey): MessageRefusal | null {
  if (journey.reportFreshForMs(Date.now()) > 0) return null;
  const stage = journey.latestReport?.productCode;
  const rule = `the report of ${stage} is older than maxReportAge: repeat ${stage}, or send acceptAge with by and reason`;
  return refuse('notNow', rule);
}

function checkRepeat(journey: Journey, message: RepeatStageMessage): MessageRefusal | null {
  const { repeat, occurrence } = message;
  const latest = journey.stage(repeat);
  if (journey.state.skips[repeat]) {
    return refuse('notNow', `/repeat must be a stage that was pulled: ${repeat} is skipped`);
  }
  if (!latest) return refuse('unknownPart', '/repeat names a stage that this journey leaves out');
  const known = findKnownRepeat(journey, message);
  if (known) {
    const { receivedAt: _, proof: __, ...kept } = known;
    const { proof: ___, ...content } = message;
    return refuseDifference(`repeat ${occurrence} of ${repeat} was accepted`, kept, content);
  }
  const { isClosing, stagesEndedAs } = journey.state;
  if (journey.isEnding || isClosing) return ENDING;
  if (stagesEndedAs) return refuse('notNow', `the stages have ended: ${stagesEndedAs}`);
  const later = journey.stages.slice(journey.stages.indexOf(latest) + 1);
  const begun = later.find(({ status }) => status.state !== 'pending');
  if (begun) return refuse('notNow', `/repeat must be the latest stage: ${begun.status.productCode} has begun`);
  const next = (latest.status.occurrence ?? 1) + 1;
  if (occurrence !== next) {
    const times = next === 2 ? 'once' : `${next - 1} times`;
    return refuse('notNow', `/occurrence must be ${next}: ${repeat} was asked for ${times}`);
  }
  const waiting = journey.stages.filter(({ status }) => status.productCode === repeat && status.state === 'pending');
  if (journey.computeNextOrdinal(repeat) + waiting.length > MAX_ORDINAL) {
    return refuse('notNow', `${repeat} has used its ${MAX_ORDINAL + 1} trace numbers`);
  }
  return null;
}

/** Returns the repeat that was taken under this stage and occurrence. */
export function findKnownRepeat({ stages }: Journey, { repeat, occurrence }: RepeatStageMessage) {
  return stages.find(({ repeat: known }) => known?.repeat === repeat && known.occurrence === occurrence)?.repeat;
}

/**
 * Records who wanted a repeat before it is made. The record permits nothing: the claim decides.
 *
 * @returns whether it may be made: not where its proof, which was good when the message came, is refused by now
 */
export async function recordRepeat(
  { ledgerId }: RunConfig,
  inquiry: InquiryDescription,
  { repeat, occurrence, by, reason, receivedAt: decidedAt, applicants, proof }: WantedRepeat,
): Promise<boolean> {
  const { customerTraceNumber, productCode } = inquiry;
  const decision: UnprovenDecision = {
    decisionId: `repeat-${repeat}-${occurrence}`,
    customerTraceNumber,
    attempt: 0,
    action: 'repeat',
    providerSaid: 'notAsked',
    by,
    reason,
    decidedAt,
  };
  const summary = `recording who wants ${productCode} again`;
  const args = { ledgerId, inquiry, decision, occurrence, proof, applicants };
  const verdict = await CancellationScope.nonCancellable(() => runUntilRecorded('recordDecision', { summary }, args));
  // The claim finds another ledger again, and holds.
  return verdict === 'ledgerChanged' || verdict.kind !== 'refused';
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
  const passage = isOpen(Date.now())
    ? 'passed'
    : await waitAtGate(journey, stage, reachGate(journey, productCode, gate), isOpen);
  delete journey.state.gate;
  return passage;
}

type ReachedGate = NonNullable<Journey['state']['gate']>;

function reachGate(journey: Journey, productCode: StageCode, { expiresAfter = DEFAULT_GATE_EXPIRY }: GateInput) {
  const { gate, extensions } = journey.state;
  // An earlier run may have reached the gate.
  if (gate?.before === productCode) return gate;
  const untilMs = Date.now() + (parseDurationMs(expiresAfter) ?? 0);
  const until = findEndOfWait(extensions, { gate: productCode }, untilMs);
  const reached = { before: productCode, since: new Date().toISOString(), until };
  journey.state.gate = reached;
  journey.publish();
  journey.events.emit('gate.reached', [productCode], { stage: productCode, until });
  return reached;
}

async function waitAtGate(
  journey: Journey,
  stage: StageRecord,
  gate: ReachedGate,
  isOpen: (nowMs: number) => boolean,
): Promise<Passage> {
  const { productCode } = stage.status;
  const isPassedOver = () => journey.nextStage !== stage;
  const isLeft = (nowMs: number) => isOpen(nowMs) || isPassedOver();
  for (;;) {
    const nowMs = Date.now();
    const { until } = gate;
    const freshForMs = journey.reportFreshForMs(nowMs);
    const isTooOld = freshForMs <= 0;
    gate.tooOld = isTooOld ? journey.latestReport?.productCode : undefined;
    const leftMs = (parseInstantMs(until) ?? 0) - nowMs;
    // The report's age is looked at again when it matters: the status then says what the gate asks for.
    const wakesMs = isTooOld ? leftMs : Math.min(leftMs, freshForMs);
    const asked = isTooOld ? `a repeat of ${gate.tooOld}, or advance with acceptAge` : 'advance';
    const summary = `gate before ${productCode}: waiting for ${asked}, until ${until}`;
    const isOver = () => isLeft(nowMs) || gate.until !== until;
    await journey.continuation.wait(isOver, Math.max(1, wakesMs), { summary });
    if (isLeft(Date.now())) return isPassedOver() && !journey.isEnding ? 'otherStage' : 'passed';
    if (gate.until !== until || Date.now() < nowMs + leftMs) continue;
    if (!journey.decided.isBusy) return 'expired';
    await journey.continuation.wait(() => isOver() || !journey.decided.isBusy);
  }
}
