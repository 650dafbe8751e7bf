/** Compares a report with the one before it: in its attempt, or else in the background, where only the run's end waits for it. */
import { ActivityFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import type { ComparedReport, PreparedRun } from '../../activities/contract.ts';
import { comparisonActivities } from '../run/activity-stubs.ts';
import type { Journey } from './journey.ts';
import type { StageRecord } from './stage-record.ts';

/** The report that a stage's own is compared with: a preclose report with the journey's latest one before it. */
export function reportBefore(journey: Journey, stage: StageRecord): ComparedReport | undefined {
  const earlier = stageBefore(journey, stage);
  return earlier && comparedReport(earlier);
}

/** Those that the run before had not finished. */
export function compareAgain(journey: Journey, run: PreparedRun): void {
  for (const stage of journey.stages) if (stage.isCompared) compareWithReportBefore(journey, run, stage);
}

/** Compares them in the background where the attempt has not. Only a bug in it fails the run. */
export function compareWithReportBefore(journey: Journey, run: PreparedRun, stage: StageRecord): void {
  const earlier = stageBefore(journey, stage);
  if (!earlier) return;
  stage.isCompared = true;
  const comparison = compare(run, stage, earlier);
  // The code that awaits it handles a cancellation; the run may have ended before.
  comparison.catch(() => undefined);
  journey.comparisons.push(comparison);
}

function stageBefore(journey: Journey, stage: StageRecord): StageRecord | undefined {
  if (stage.status.productCode !== 'PRECLOSE') return undefined;
  const before = journey.stages.slice(0, journey.stages.indexOf(stage));
  return before.findLast(({ reference }) => reference !== undefined);
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

function comparedReport({ status: { productCode, customerTraceNumber } }: StageRecord): ComparedReport {
  if (customerTraceNumber === undefined) throw new Error('a report without a trace number');
  return { productCode, customerTraceNumber };
}
