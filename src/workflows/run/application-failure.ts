/** The failure that an activity has thrown. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { Problem } from '../../model/problems.ts';

/** `undefined` for any other error, such as a cancellation. */
export function applicationFailureOf(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : undefined;
}

/** What is wrong with the run's input; `undefined` where another error ends the run. */
export function problemsOfInput(error: unknown): readonly Problem[] | undefined {
  const { type, details } = applicationFailureOf(error) ?? {};
  return type === 'InvalidInput' ? (details?.[0] as { problems?: Problem[] } | undefined)?.problems : undefined;
}
