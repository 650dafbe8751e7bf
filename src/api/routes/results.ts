/** Results of runs: there or not, without waiting for the end. */
import { CallError } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { readRun } from '../lists/runs.ts';
import type { ApiServices } from '../services.ts';
import type { StatusRun } from '../status.ts';

export interface EndedRun<Result> extends StatusRun {
  runKey: string;
  result(options: { signal: AbortSignal; timeoutMs: number }): Promise<Result>;
}

const TIMEOUT_MS = 10_000;

/** @throws Refusal 404, 409; CallError */
export async function readResult<Result>(
  { client }: Pick<ApiServices, 'client'>,
  run: EndedRun<Result>,
  signal: AbortSignal,
): Promise<Result> {
  if ((await readRun(client, run.runKey)).run === 'running')
    throw new CallError('resultNotReady', { runKey: run.runKey });
  try {
    return await run.result({ signal, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    // The run's input was wrong, not this request.
    const { problems } = error;
    throw new Refusal('runFailed', 'the run has ended: its input was refused', { problems });
  }
}
