/** Messages on a machine that is busy: sent again as the client's errors advise. */
import { randomUUID } from 'node:crypto';
import { TooManyMessagesError, WorkerUnavailableError } from '../../src/client.ts';
import { WAIT_LIMIT_MS } from './journey-harness.ts';

/** Sends the same message, by its id, until the run has taken it: a busy worker may be slower than one call's patience. */
export async function patiently<T>(send: (messageId: string) => Promise<T>): Promise<T> {
  const messageId = randomUUID();
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      return await send(messageId);
    } catch (error) {
      const mayPass = error instanceof TooManyMessagesError || error instanceof WorkerUnavailableError;
      if (!mayPass || performance.now() > endsAt) throw error;
    }
  }
}
