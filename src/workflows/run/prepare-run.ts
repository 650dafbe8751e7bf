/** The first activity of a run: it checks the input, and fixes the configuration that the run keeps to. */
import { ApplicationFailure, sleep } from '@temporalio/workflow';
import type { RefusedInput } from '../../activities/contract.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { hasRunOut, waitToTryAgain } from './activity-stubs.ts';
import { applicationFailureOf, problemsOfInput } from './application-failure.ts';
import type { Run } from './run.ts';
import { undecodableInput } from './undecodable-input.ts';

/** A deploy gives a new profile to one worker after the other. For 31 s the check may reach one that has it. */
const WAITS_FOR_A_PROFILE = ['1 second', '2 seconds', '4 seconds', '8 seconds', '16 seconds'] as const;

/**
 * Asks `prepare` once the input could be decoded. A profile that the first worker lacks is in the status at once; other
 * workers are asked before the run fails.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function prepareRun<T>(
  run: Pick<Run<object, never, string, object>, 'input' | 'inputProblems'>,
  prepare: () => Promise<T>,
): Promise<T> {
  if (isUndecodable(run.input)) throw undecodableInput(run.input);
  const waits = WAITS_FOR_A_PROFILE.values();
  for (let round = 0; ; round++) {
    try {
      const prepared = await prepare();
      run.inputProblems = undefined;
      return prepared;
    } catch (error) {
      const wait = isOfOneWorker(error) ? waits.next().value : undefined;
      if (wait !== undefined) {
        run.inputProblems = problemsOfInput(error);
        await sleep(wait, { summary: 'no worker that was asked has the gateway profile: another one is asked' });
      } else if (hasRunOut(error)) await waitToTryAgain('the check of the input', round);
      else throw refusalIn(error);
    }
  }
}

/** Whether the worker that checked the input lacks its profile, so that another one may have it. */
function isOfOneWorker(error: unknown): boolean {
  return (applicationFailureOf(error)?.details?.[0] as Partial<RefusedInput> | undefined)?.askOthers === true;
}

/** The run fails with the problems themselves, not with an activity's failure around them. */
function refusalIn(error: unknown): unknown {
  const failure = applicationFailureOf(error);
  if (failure?.type !== 'InvalidInput') return error;
  const { message, type } = failure;
  const details = [{ problems: problemsOfInput(error) ?? [] }];
  return ApplicationFailure.create({ message, type, nonRetryable: true, details });
}
