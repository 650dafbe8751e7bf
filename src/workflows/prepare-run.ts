/** The first activity of a run: its input is checked, and what it is held to is fixed. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import { isUndecodable } from '../model/undecodable.ts';
import { applicationFailureOf } from './flights.ts';
import { undecodableInput } from './undecodable-input.ts';

/**
 * Asks `prepare` once the input could be decoded. `onRefused` is told before it throws.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function prepareRun<Run extends PreparedRun>(
  input: unknown,
  prepare: () => Promise<Run>,
  onRefused: () => void,
): Promise<Run> {
  if (isUndecodable(input)) {
    onRefused();
    throw undecodableInput(input);
  }
  try {
    return await prepare();
  } catch (error) {
    onRefused();
    const failure = applicationFailureOf(error);
    if (failure?.type !== 'InvalidInput') throw error;
    // The run fails with the problems themselves, not with an activity's failure around them.
    const { message, type, details } = failure;
    throw ApplicationFailure.create({ message, type, nonRetryable: true, details: details ?? [] });
  }
}
