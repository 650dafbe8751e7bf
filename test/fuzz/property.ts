/** Defines a test that draws its cases from a seed and checks a property of each case. */
import { test } from 'node:test';
import fc from 'fast-check';

/** The number of cases for a weight of one. `npm run fuzz` draws more cases, from a new seed. */
const CASES = Number(process.env.FUZZ_CASES ?? 50);
const SEED = Number(process.env.FUZZ_SEED ?? (process.env.FUZZ_CASES === undefined ? 1 : Date.now() % 2 ** 31));

/** A case takes some milliseconds. The time-out is long, so that only a hang exceeds it on a busy machine. */
const CASE_TIMEOUT_MS = 20_000;

interface FuzzProperty<T> {
  name: string;
  /** The share of the cases relative to other properties. */
  weight: number;
  cases: fc.Arbitrary<T>;
  /** Throws if the property does not hold. */
  check: (value: T) => void | Promise<void>;
}

/** Declares the test. A failure prints its seed, its smallest case, and the path of that case for `FUZZ_PATH`. */
export function property<T>({ name, weight, cases, check }: FuzzProperty<T>): void {
  const path = process.env.FUZZ_PATH;
  test(name, async () => {
    const options = { seed: SEED, numRuns: CASES * weight, timeout: CASE_TIMEOUT_MS };
    const checked = fc.asyncProperty(cases, async (value) => check(value));
    await fc.assert(checked, path === undefined ? options : { ...options, path });
  });
}
