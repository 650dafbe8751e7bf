/** Compares a report with the one before it, in the background. Only the end of the run waits for it. */
import { ActivityFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import { comparisonActivities } from '../run/activity-stubs.ts';
import type { Journey } from './journey.ts';
import type { StageRecord } from './stage-record.ts';

/** Compares a preclose report with the journey's latest one before it. Only a bug in it fails the run. */
export function compareWithReportBefore(journey: Journey, run: PreparedRun, stage: StageRecord): void {
  if (stage.status.productCode !== 'PRECLOSE') return;
  begin(journey, run, stage);
}

/** Those that the run before had not finished. */
export function compareAgain(journey: Journey, run: PreparedRun): void {
  for (const stage of journey.stages) if (stage.isCompared) begin(journey, run, stage);
}

function begin(journey: Journey, run: PreparedRun, stage: StageRecord): void {
  const before = journey.stages.slice(0, journey.stages.indexOf(stage));
  const earlier = before.findLast(({ reference }) => reference !== undefined);
  if (!earlier) return;
  stage.isCompared = true;
  const comparison = compare(run, stage, earlier);
  // The code that awaits it handles a cancellation; the run may have ended before.
  comparison.catch(() => undefined);
  journey.comparisons.push(comparison);
}

async function compare(run: PreparedRun, stage: StageRecord, earlier: StageRecord): Promise<void> {
  const { profile, ledgerId } = run;
  const comparedWith = earlier.status.productCode;
  const summary = `comparing ${stage.status.productCode} with ${comparedWith}`;
  try {
    stage.status.changes = await comparisonActivities.compareReports.executeWithOptions({ summary }, [
      { run: { profile, ledgerId }, earlier: comparedReport(earlier), later: comparedReport(stage) },
    ]);
  } catch (error) {
    stage.status.changes = { comparedWith, unavailable: 'notCompared' };
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  }
  delete stage.isCompared;
}

function comparedReport({ status: { productCode, customerTraceNumber } }: StageRecord) {
  if (customerTraceNumber === undefined) throw new Error('a report without a trace number');
  return { productCode, customerTraceNumber };
}
