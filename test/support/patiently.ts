/** Messages on a machine that is busy: sent again as the client's errors advise. */

import { randomUUID } from 'node:crypto';
import { hasCode, TEMPORAL_AWAY } from '../../src/client/connection/errors.ts';
import { WAIT_LIMIT_MS } from './until-query.ts';

const PAUSE_MS = 200;

/** Sends until it is taken, for as long as the error may pass. */
export async function untilTaken<T>(
  send: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!mayPass(error) || performance.now() > endsAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** Sends the same message, by its id, until the run has taken it: a busy worker may be slower than one call's patience. */
export function patiently<T>(send: (messageId: string) => Promise<T>): Promise<T> {
  const messageId = randomUUID();
  return untilTaken(
    () => send(messageId),
    (error) =>
      hasCode(error, 'tooManyMessages') ||
      hasCode(error, 'workerUnavailable') ||
      // The server says so of a run that is busy, too.
      (hasCode(error, ...TEMPORAL_AWAY) && error.code === 'unavailable'),
  );
}
