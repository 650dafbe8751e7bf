/** One thing that must hold for every case of a kind, and how it is tried: seeded, bounded in time, and shrunk when it fails. */
import fc from 'fast-check';

export interface FuzzProperty<T> {
  /** kebab-case: it is what `--property` takes. */
  name: string;
  /** Its part of the target's cases, beside the others' parts. */
  weight: number;
  cases: fc.Arbitrary<T>;
  /** Throws where it does not hold. */
  check: (value: T) => void | Promise<void>;
  /** What is printed of a failing case, so that it can be tried without the generator; made of synthetic data alone. */
  show?: (value: T) => unknown;
}

export interface RunOptions {
  seed: number;
  cases: number;
  /** fast-check's name of one case: its index, and how it was shrunk. */
  path?: string;
  /** Called as each case begins. */
  onCase: (index: number) => void;
}

export interface Failure {
  property: string;
  index: number;
  path: string;
  smallest: string;
  error: string;
}

export interface Runnable {
  name: string;
  weight: number;
  run(options: RunOptions): Promise<{ cases: number; failure: Failure | null }>;
}

/** What a target needs while it runs. */
export interface OpenTarget {
  properties: Runnable[];
  close?: () => Promise<void>;
}

/** No case works for longer than some milliseconds; this only tells a hang from a busy machine. */
const CASE_TIMEOUT_MS = 20_000;

export function property<T>({ name, weight, cases, check, show = (value: T) => value }: FuzzProperty<T>): Runnable {
  return {
    name,
    weight,
    run: async ({ seed, cases: numRuns, path, onCase }) => {
      let index = 0;
      const checked = fc.asyncProperty(cases, async (value) => {
        onCase(index++);
        await check(value);
      });
      const details = await fc.check(checked, {
        seed,
        numRuns,
        ...(path === undefined ? {} : { path }),
        timeout: CASE_TIMEOUT_MS,
      });
      if (!details.failed) return { cases: details.numRuns, failure: null };
      const smallest = details.counterexample?.[0];
      return {
        cases: details.numRuns,
        failure: {
          property: name,
          index: Number(details.counterexamplePath?.split(':')[0] ?? 0),
          path: details.counterexamplePath ?? '0',
          smallest: smallest === undefined ? 'none' : fc.stringify(show(smallest)),
          error: details.errorInstance instanceof Error ? (details.errorInstance.stack ?? '') : 'no error',
        },
      };
    },
  };
}
