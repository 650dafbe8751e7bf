/** Results of runs: there or not, without waiting for the end. */
import { WorkflowNotFoundError } from '@temporalio/common';
import { ResultNotReadyError, translatedServerError } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { unknownRun } from '../problem.ts';
import type { ApiServices } from '../services.ts';

interface EndedRun<Result> {
  ownerId: string;
  workflowId: string;
  result(options: { signal: AbortSignal; timeoutMs: number }): Promise<Result>;
}

const TIMEOUT_MS = 10_000;

/** @throws Refusal 404, 409; TemporalUnavailableError */
export async function resultOf<Result>(
  { client }: Pick<ApiServices, 'client'>,
  run: EndedRun<Result>,
  signal: AbortSignal,
): Promise<Result> {
  if (await isRunning(client, run)) throw new ResultNotReadyError(run.ownerId);
  try {
    return await run.result({ signal, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    // The run's input was wrong, not this request.
    const { problems } = error;
    throw new Refusal(409, 'Conflict', 'runFailed', 'the run has ended: its input was refused', { problems });
  }
}

async function isRunning(client: ApiServices['client'], { workflowId }: EndedRun<unknown>): Promise<boolean> {
  try {
    const described = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return described.status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw unknownRun();
    throw translatedServerError(error);
  }
}
