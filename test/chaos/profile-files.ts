/**
 * Each worker's own file of profiles: a storm may take the journeys' profile out of one of them. The copies of the API
 * have the file after the workers'.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The profile of every journey. What runs beside them has the default one. */
export const JOURNEYS_PROFILE = 'journeys';

export interface ProfileFiles {
  /** @param worker from 0 */
  fileOf(worker: number): string;
  /** With the journeys' profile or without it. A worker reads its file when it starts. */
  write(worker: number, options: { hasJourneys: boolean }): Promise<void>;
}

/** @param webhooks of both profiles */
export function profileFiles(directory: string, webhooks: readonly object[]): ProfileFiles {
  const fileOf = (worker: number) => join(directory, `profiles-${worker + 1}.json`);
  const endpoints = webhooks.length === 0 ? {} : { webhooks };
  const journey = { environment: 'sandbox', customerId: 'SANDBOX0001', ...endpoints };
  const journeys = { [JOURNEYS_PROFILE]: journey };
  return {
    fileOf,
    async write(worker, { hasJourneys }) {
      const profiles = { default: endpoints, ...(hasJourneys ? journeys : {}) };
      // At once: a worker that starts meanwhile reads one or the other.
      await writeFile(`${fileOf(worker)}.new`, JSON.stringify({ profiles }));
      await rename(`${fileOf(worker)}.new`, fileOf(worker));
    },
  };
}
