/** Failures of a run: the one that an activity has thrown, and that of a start which could not be decoded. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { Problem } from '../../model/problems.ts';
import { CLEAR_START_MESSAGE, HOW_TO_ENCRYPT, type Undecodable } from '../../model/undecodable.ts';

/** `undefined` for any other error, such as a cancellation. */
export function findApplicationFailure(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : undefined;
}

/** Returns the problems of the run's input; `undefined` if another error ends the run. */
export function readInputProblems(error: unknown): readonly Problem[] | undefined {
  const { type, details } = findApplicationFailure(error) ?? {};
  return type === 'InvalidInput' ? (details?.[0] as { problems?: Problem[] } | undefined)?.problems : undefined;
}

/** A start that could not be decoded is invalid input like any other: it fails its own run, and nothing else. */
export function toUndecodableFailure({ undecodable: { reason } }: Undecodable): ApplicationFailure {
  const isClear = reason === 'inTheClear';
  const rule = isClear ? `must be encrypted, ${HOW_TO_ENCRYPT}` : `could not be decoded (${reason})`;
  const message = isClear ? CLEAR_START_MESSAGE : 'the input could not be decoded; nothing was sent';
  return createInvalidInput(message, [{ path: '', rule }]);
}

export function createInvalidInput(message: string, problems: readonly Problem[]): ApplicationFailure {
  return ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true, details: [{ problems }] });
}
