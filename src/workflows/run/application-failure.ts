/** The failure that an activity has thrown. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** `undefined` for any other error, such as a cancellation. */
export function applicationFailureOf(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : undefined;
}
