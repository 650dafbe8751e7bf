/** Notes what changed between a preclose report and the journey's report before it. The attempt compares the two. */
import type { ComparedReport } from '../../activities/contract.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { StageChanges } from '../../messages/journey/change-summary.ts';
import { REPORT_CHANGED } from '../../model/inquiry.ts';
import { COMPARED_STAGES } from '../../model/products.ts';
import type { Journey, StageRecord } from './journey.ts';

/** Returns the report that a stage's own is compared with: for a preclose report, the journey's latest one before it. */
export function findPreviousReport(journey: Journey, stage: StageRecord): ComparedReport | undefined {
  if (!COMPARED_STAGES.includes(stage.status.productCode)) return undefined;
  const before = journey.stages.slice(0, journey.stages.indexOf(stage));
  const { productCode, customerTraceNumber } = before.findLast(({ reference }) => reference)?.status ?? {};
  return productCode && customerTraceNumber !== undefined ? { productCode, customerTraceNumber } : undefined;
}

/**
 * Notes the changes, and flags the stage if an operator should look at it before closing.
 *
 * @param compared absent if the attempt that had the answer was lost before it compared
 */
export function takeChanges(journey: Journey, stage: StageRecord, compared: StageChanges | undefined): void {
  const earlier = findPreviousReport(journey, stage);
  if (!earlier) return;
  const { status } = stage;
  const changes = compared ?? { comparedWith: earlier.productCode, unavailable: 'notCompared' };
  status.changes = changes;
  if (!isAbove(changes, journey.input.attentionAbove)) return;
  const { productCode, customerTraceNumber } = status;
  // A flag that the report may be another person's has priority.
  if (status.attention === undefined && customerTraceNumber !== undefined) {
    journey.work.flag({ reason: REPORT_CHANGED, customerTraceNumber });
  }
  status.attention ??= REPORT_CHANGED;
  journey.publish();
  journey.events.emit('stage.changed', [productCode, customerTraceNumber ?? ''], {
    stage: productCode,
    ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
    attention: REPORT_CHANGED,
  });
}

/** A report that could not be compared counts as above every threshold. */
function isAbove(changes: StageChanges, most: LendingJourneyInput['attentionAbove']): boolean {
  if (!most) return false;
  if ('unavailable' in changes) return true;
  const { counts } = changes;
  return (Object.keys(most) as (keyof typeof most)[]).some((name) => counts[name] > (most[name] ?? counts[name]));
}
