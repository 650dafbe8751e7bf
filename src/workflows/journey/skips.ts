/** Stages that are skipped: `advance` to a later stage says so, with who and why. Nothing is ever posted for them. No waiting. */
import { differingPaths, otherContent } from '../../base/differing-paths.ts';
import type { PassGateMessage } from '../../messages/journey/shapes.ts';
import { STAGES } from '../../model/products.ts';
import type { Journey } from './journey.ts';
import type { Skip } from './stage-record.ts';

/** The rest of the message, as if it came by itself: it passes the gate before `to`. */
export function gatePartOf(message: PassGateMessage): PassGateMessage {
  if (message.skip === undefined) return message;
  const { skip: _, by, reason, ...pass } = message;
  return pass.acceptAge && by !== undefined && reason !== undefined ? { ...pass, by, reason } : pass;
}

/** Why the stage cannot be skipped as things stand, or `null`; also where none is to be, or the same was accepted before. */
export function skipObjection(journey: Journey, message: PassGateMessage): string | null {
  const skip = skipOf(message);
  if (!skip) return null;
  const { skip: stage, to } = skip;
  const known = journey.skips.get(stage);
  if (known) {
    const differing = differingPaths(known, skip);
    return differing.length > 0 ? otherContent(`skipping ${stage} was accepted`, differing) : null;
  }
  const first = journey.stages.find(({ status }) => status.productCode === stage);
  if (!first) return '/skip names a stage that this journey leaves out';
  if (STAGES.indexOf(stage) >= STAGES.indexOf(to)) return '/skip must be a stage before the one that /to names';
  if (!journey.gateBefore(stage)) return `/skip must be a stage with a gate: ${stage} begins by itself`;
  if (journey.isEnding) return 'the journey is ending';
  return first.status.state === 'pending' ? null : `${stage} has gone beyond its gate: ${first.status.state}`;
}

/** Takes what `skipObjection` has nothing against, at once: an early one too. `false` where there is nothing new in it. */
export function takeSkip(journey: Journey, message: PassGateMessage): boolean {
  const skip = skipOf(message);
  if (!skip || journey.skips.has(skip.skip)) return false;
  const { skip: productCode } = skip;
  journey.skips.set(productCode, skip);
  // A later `advance` to it is refused, and not taken for one that was accepted before.
  journey.advances.delete(productCode);
  for (const stage of journey.stages) {
    if (stage.status.productCode !== productCode) continue;
    // With a repeat of it that was asked for early.
    journey.changeStage(stage, { state: 'skipped' });
    delete stage.plannedTraceNumber;
  }
  if (journey.gate === productCode) {
    journey.gate = undefined;
    journey.reportTooOld = undefined;
  }
  journey.events.emit('stage.skipped', [productCode], { stage: productCode });
  return true;
}

function skipOf({ skip, to, by = '', reason = '' }: PassGateMessage): Skip | undefined {
  return skip && { skip, to, by, reason };
}
