/** Reports everything that keeps a worker from starting, at once. */

import type { Environment } from '../model/products.ts';
import { KeyRingError } from '../protection/errors.ts';
import { type KeyAge, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-age.ts';

/** Thrown when several things keep a worker from starting. Names the variable of each, never a value. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError';
  readonly problems: readonly { variable: string; rule: string }[];

  constructor(problems: readonly { variable: string; rule: string }[]) {
    super(`the worker cannot start: ${problems.map(({ variable, rule }) => `${variable} ${rule}`).join('; ')}`);
    this.problems = problems;
  }
}

type Values<T> = { -readonly [K in keyof T]: Awaited<T[K]> };

/**
 * Waits for every part, by the variable that configures it.
 *
 * @throws what the one part threw that failed, or StartRefusedError with all that did. What they threw is shown: their
 *   messages hold no values
 */
export async function allParts<T extends Record<string, Promise<unknown>>>(parts: T): Promise<Values<T>> {
  const names = Object.keys(parts);
  const ends = await Promise.allSettled(Object.values(parts));
  const failures = ends.flatMap((end, index) =>
    end.status === 'rejected' ? [{ variable: names[index] ?? '', reason: end.reason as unknown }] : [],
  );
  if (failures.length === 1) throw failures[0]?.reason;
  if (failures.length > 0) {
    throw new StartRefusedError(failures.map(({ variable, reason }) => ({ variable, rule: messageOf(reason) })));
  }
  return Object.fromEntries(
    ends.map((end, index) => [names[index], end.status === 'fulfilled' ? end.value : undefined]),
  ) as Values<T>;
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'failed';
}

/**
 * Refuses keys that have been encrypting for too long in production, and warns of them elsewhere. Where a fleet runs with
 * them already, a worker that joins it is let in: on a key's birthday the machines that are being replaced would take one
 * worker after the other with them, and none would come back. The alert `KeysNearLastDay` tells people long before.
 *
 * @param isFleetRunning asked only where it decides; what it throws counts as no
 * @throws KeyRingError
 */
export async function requireFreshKeys(
  ages: readonly KeyAge[],
  environment: Environment,
  { warn, isFleetRunning }: { warn: (key: KeyAge) => void; isFleetRunning: () => Promise<boolean> },
): Promise<void> {
  const overdue = ages.filter(({ verdict }) => verdict === 'overdue');
  if (environment === 'production' && overdue.length > 0 && !(await isFleetRunning().catch(() => false))) {
    const ids = overdue.map(({ id }) => id).join(', ');
    throw new KeyRingError(
      `production does not encrypt under a key for more than ${MAX_ENCRYPTING_DAYS} days: ${ids}. ` +
        'Run `credit-journey keys rotate`; nothing that they encrypted is lost',
    );
  }
  for (const key of ages) if (key.verdict === 'overdue' || key.verdict === 'due') warn(key);
}
