/** What a worker refuses of a run's input, as soon as `start` can say it; `status` says it later. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { CreditJourneys } from '../../client.ts';

type Run = ReturnType<CreditJourneys['run']>;

/** A worker checks an input in some 50 ms. Where none is free, `status` tells later. */
const CHECK_WAIT_MS = 1_000;
const LOOK_AGAIN_MS = 50;

/** Events of a run before its first activity. */
const EVENTS_BEFORE_CHECK = 4;

/**
 * Waits until a worker has checked the input of a run that was started, for a second at the most. Asks the server alone:
 * a question to a worker that is away would stay open when the command ends.
 *
 * @throws InvalidInputError with what the worker refuses; JourneyFailedError
 */
export async function untilChecked(run: Run, client: Client): Promise<void> {
  const endsAt = performance.now() + CHECK_WAIT_MS;
  while (performance.now() < endsAt) {
    const standing = await standingOf(client, run.workflowId);
    if (standing === 'closed') await run.result();
    if (standing !== 'open') return;
    await delay(LOOK_AGAIN_MS);
  }
}

/** `open`: its input is not checked yet. */
async function standingOf(client: Client, workflowId: string): Promise<'open' | 'checked' | 'closed'> {
  try {
    const { status, historyLength, raw } = await client.workflow.getHandle(workflowId).describe();
    if (status.name !== 'RUNNING') return 'closed';
    const { pendingActivities, pendingWorkflowTask } = raw;
    const isChecking = pendingActivities?.some(({ activityType }) => activityType?.name?.startsWith('prepare'));
    // A workflow task follows the check, and ends a run whose input is refused.
    return isChecking || pendingWorkflowTask || historyLength <= EVENTS_BEFORE_CHECK ? 'open' : 'checked';
  } catch {
    // It has been started: that the server does not answer now is no failure of the start.
    return 'checked';
  }
}
