/** Gates: where a journey waits before a stage. */
import { parseDurationMs, parseInstantMs, utcInstant } from '../../base/instants.ts';
import type { StageCode } from '../../model/products.ts';
import { mayPass } from './advances.ts';
import type { Journey } from './journey.ts';
import type { StageRecord } from './stage-record.ts';

const DEFAULT_GATE_EXPIRY = 'P30D';

type Passage = 'passed' | 'expired' | 'otherStage';

interface ClosedGate {
  stage: StageRecord;
  isOpen: (nowMs: number) => boolean;
  expiresAfter: string;
}

/** The gate that the journey has come to; none where it goes on at once. */
export function closedGate(journey: Journey, stage: StageRecord): ClosedGate | undefined {
  const { productCode } = stage.status;
  const gate = journey.gateBefore(productCode);
  if (!gate || stage.repeat) return undefined;
  const isOpen = (nowMs: number) => journey.isEnding || mayPass(journey, productCode, gate, nowMs);
  const expiresAfter = gate.expiresAfter ?? DEFAULT_GATE_EXPIRY;
  // A run before may have come to it.
  if (journey.gate !== productCode) {
    if (isOpen(Date.now())) return undefined;
    comeToGate(journey, productCode, expiresAfter);
  }
  return { stage, isOpen, expiresAfter };
}

/**
 * Waits at a gate. `otherStage`: a caller wants the stage before it once more, and the journey then comes to the gate
 * again; or the stage is skipped.
 */
export async function passGate(journey: Journey, gate: ClosedGate): Promise<Passage> {
  const passage = gate.isOpen(Date.now()) ? 'passed' : await waitAtGate(journey, gate);
  journey.gate = undefined;
  journey.reportTooOld = undefined;
  return passage;
}

function comeToGate(journey: Journey, productCode: StageCode, expiresAfter: string): void {
  const untilMs = Date.now() + (parseDurationMs(expiresAfter) ?? 0);
  journey.gate = productCode;
  const until = journey.extensions.endOf({ gate: productCode }, untilMs);
  journey.gateTimes = { since: new Date().toISOString(), until };
  journey.publish(journey.stageBegunLast);
  journey.events.emit('gate.reached', [productCode], { stage: productCode, until: journey.gateTimes.until });
}

async function waitAtGate(journey: Journey, gate: ClosedGate): Promise<Passage> {
  const isPassedOver = () => journey.nextStage !== gate.stage;
  const isLeft = (nowMs: number) => gate.isOpen(nowMs) || isPassedOver();
  for (;;) {
    const nowMs = Date.now();
    const { since, until } = journey.gateTimes;
    const freshForMs = journey.reportFreshForMs(nowMs);
    const isTooOld = freshForMs !== undefined && freshForMs <= 0;
    journey.reportTooOld = isTooOld ? journey.latestReport?.productCode : undefined;
    const leftMs = (parseInstantMs(until) ?? 0) - nowMs;
    // The report's age is looked at again when it matters: the status then says what the gate asks for.
    const wakesMs = freshForMs !== undefined && freshForMs > 0 ? Math.min(leftMs, freshForMs) : leftMs;
    const asked = isTooOld ? `a repeat of ${journey.reportTooOld}, or advance with acceptAge` : 'advance';
    const isOwn = until === utcInstant((parseInstantMs(since) ?? 0) + (parseDurationMs(gate.expiresAfter) ?? 0));
    const limit = isOwn ? `${gate.expiresAfter} at the most` : `until ${until}`;
    const summary = `gate before ${gate.stage.status.productCode}: waiting for ${asked}, ${limit}`;
    const { settled } = journey.decided;
    const hasChanged = () => journey.gateTimes.until !== until || journey.decided.settled !== settled;
    const isOver = () => isLeft(nowMs) || hasChanged();
    const isDisturbed = await journey.handOver.wait(isOver, Math.max(1, wakesMs), { summary });
    if (isLeft(Date.now())) return isPassedOver() && !journey.isEnding ? 'otherStage' : 'passed';
    if (isDisturbed || wakesMs !== leftMs || hasChanged()) continue;
    if (!journey.decided.isAboutGate(gate.stage.status.productCode)) return 'expired';
    // The ledger does not have it yet what a person wants of this gate.
    await journey.handOver.wait(isOver);
  }
}
