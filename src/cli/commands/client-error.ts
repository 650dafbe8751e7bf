import type { Refusal } from '../../http/refusal.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { REFUSAL_CAUSES } from '../../model/refusals.ts';

/** Converts a refusal of the API into the client's error. `runKey` is absent where the operation is about no run. */
export async function toClientError(error: unknown, runKey?: string): Promise<unknown> {
  if (!(error instanceof Error) || error.name !== 'Refusal') return error;
  const { JourneyNotFoundError, UpdateRefusedError } = await import('../../client/connection/errors.ts');
  const { reason, problems, message } = error as Refusal;
  if (runKey === undefined) return error;
  if (reason === 'notFound') return new JourneyNotFoundError(runKey);
  if ((error as Refusal).status === 404) return Object.assign(error, { runKey });
  const isOfRun = problems.length === 0 || message.startsWith('/');
  if (!isOfRun) return new InvalidInputError(problems);
  const cause = REFUSAL_CAUSES.find((candidate) => candidate === reason) ?? 'notNow';
  return new UpdateRefusedError(runKey, { cause, reason: message });
}
