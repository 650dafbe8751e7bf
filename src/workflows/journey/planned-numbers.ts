/** The trace numbers that a journey's inquiries will have: they are found by them before anything was sent. */
import { workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import { traceNumber } from '../../model/trace-number.ts';
import type { Journey } from './journey.ts';

/** Of the stages that have not begun. A repeat's follows from the pulls before it, so it has none yet. */
export function planStages(journey: Journey, run: PreparedRun): void {
  for (const stage of journey.stages) {
    if (stage.ordinal !== undefined || stage.repeat || stage.status.state === 'skipped') continue;
    stage.plannedTraceNumber ??= numberOf(journey, run, { productCode: stage.status.productCode });
  }
}

/** Of the shares that wait for nothing but consent. */
export function planShares(journey: Journey, run: PreparedRun): void {
  for (const share of journey.sharesInWait) {
    const { shareId } = share.input;
    share.plannedTraceNumber ??= numberOf(journey, run, { productCode: 'SECONDUSE', shareId });
  }
}

function numberOf(
  { journeyId }: Journey,
  run: PreparedRun,
  inquiry: Pick<Parameters<typeof traceNumber>[0], 'productCode' | 'shareId'>,
): string {
  const { workflowType } = workflowInfo();
  return traceNumber({ ...run, workflowType, ownerId: journeyId, ...inquiry, ordinal: 0 });
}
