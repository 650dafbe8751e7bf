/** Compares a report with the one before: in its attempt, or in the background, where only the run's end waits. */

import { ActivityFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import type { ComparedReport, RunConfig } from '../../activities/contract.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { StageChanges } from '../../messages/journey/change-summary.ts';
import { REPORT_CHANGED } from '../../model/inquiry.ts';
import { COMPARED_STAGES } from '../../model/products.ts';
import { comparisonActivities } from '../run/activity-stubs.ts';
import type { Journey, StageRecord } from './journey.ts';

/** The report that a stage's own is compared with: a preclose report with the journey's latest one before it. */
export function reportBefore(journey: Journey, stage: StageRecord): ComparedReport | undefined {
  const earlier = stageBefore(journey, stage);
  return earlier && comparedReport(earlier);
}

/** Repeats the comparisons that the previous run had not finished. */
export function compareAgain(journey: Journey, config: RunConfig): void {
  for (const stage of journey.stages) if (stage.isCompared) compareWithReportBefore(journey, config, stage);
}

/** Compares both reports in the background if the attempt has not. Only a bug in it fails the run. */
export function compareWithReportBefore(journey: Journey, config: RunConfig, stage: StageRecord): void {
  const earlier = stageBefore(journey, stage);
  if (!earlier) return;
  stage.isCompared = true;
  const comparison = compare(journey, config, stage, earlier);
  // The code that awaits it handles a cancellation; the run may have ended before.
  comparison.catch(() => undefined);
  journey.comparisons.push(comparison);
}

function stageBefore(journey: Journey, stage: StageRecord): StageRecord | undefined {
  if (!COMPARED_STAGES.includes(stage.status.productCode)) return undefined;
  const before = journey.stages.slice(0, journey.stages.indexOf(stage));
  return before.findLast(({ reference }) => reference !== undefined);
}

async function compare(journey: Journey, config: RunConfig, stage: StageRecord, earlier: StageRecord): Promise<void> {
  const { profile, ledgerId } = config;
  const comparedWith = earlier.status.productCode;
  const summary = `comparing ${stage.status.productCode} with ${comparedWith}`;
  try {
    const changes = await comparisonActivities.compareReports.executeWithOptions({ summary }, [
      { run: { profile, ledgerId }, earlier: comparedReport(earlier), later: comparedReport(stage) },
    ]);
    takeChanges(journey, stage, changes);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) {
      stage.status.changes = { comparedWith, unavailable: 'notCompared' };
      throw error;
    }
    takeChanges(journey, stage, { comparedWith, unavailable: 'notCompared' });
  }
  delete stage.isCompared;
}

/** Notes the changes, and flags the stage if an operator should look at it before closing. */
export function takeChanges(journey: Journey, stage: StageRecord, changes: StageChanges): void {
  const { status } = stage;
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

function comparedReport({ status: { productCode, customerTraceNumber } }: StageRecord): ComparedReport {
  if (customerTraceNumber === undefined) throw new Error('a report without a trace number');
  return { productCode, customerTraceNumber };
}
