/** Sends messages again on a busy machine, as the client's errors advise. */

import { randomUUID } from 'node:crypto';
import { hasCode, TEMPORAL_AWAY } from '../../src/client/connection/errors.ts';
import { WAIT_LIMIT_MS } from './until-query.ts';

const PAUSE_MS = 200;

/** Sends until the message is accepted, as long as its error is transient. */
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

/** Sends the same message by its id until the run accepts it, since a busy worker may exceed a call's time-out. */
export function patiently<T>(send: (messageId: string) => Promise<T>): Promise<T> {
  const messageId = randomUUID();
  return untilTaken(
    () => send(messageId),
    (error) =>
      hasCode(error, 'tooManyMessages') ||
      hasCode(error, 'workerUnavailable') ||
      // The server also answers so if the run is busy.
      (hasCode(error, ...TEMPORAL_AWAY) && error.code === 'unavailable'),
  );
}
