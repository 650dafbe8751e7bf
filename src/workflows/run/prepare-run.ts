/** The first activity of a run: it checks the input, and fixes the configuration that the run keeps to. */
import { ApplicationFailure } from '@temporalio/workflow';
import { isUndecodable } from '../../model/undecodable.ts';
import { hasRunOut, waitToTryAgain } from './activity-stubs.ts';
import { applicationFailureOf } from './application-failure.ts';
import { undecodableInput } from './undecodable-input.ts';

/**
 * Asks `prepare` once the input could be decoded.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function prepareRun<T>(input: unknown, prepare: () => Promise<T>): Promise<T> {
  if (isUndecodable(input)) throw undecodableInput(input);
  for (let round = 0; ; round++) {
    try {
      return await prepare();
    } catch (error) {
      if (!hasRunOut(error)) throw refusalIn(error);
      await waitToTryAgain('the check of the input', round);
    }
  }
}

/** The run fails with the problems themselves, not with an activity's failure around them. */
function refusalIn(error: unknown): unknown {
  const failure = applicationFailureOf(error);
  if (failure?.type !== 'InvalidInput') return error;
  const { message, type, details } = failure;
  return ApplicationFailure.create({ message, type, nonRetryable: true, details: details ?? [] });
}
