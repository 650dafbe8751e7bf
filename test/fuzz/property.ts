/** One thing that must hold for every case of a kind: a test that draws its cases from a seed. */
import { test } from 'node:test';
import fc from 'fast-check';

/** For a weight of one. `npm run fuzz` draws more, and from a seed of its own. */
const CASES = Number(process.env.FUZZ_CASES ?? 50);
const SEED = Number(process.env.FUZZ_SEED ?? (process.env.FUZZ_CASES === undefined ? 1 : Date.now() % 2 ** 31));

/** No case works for longer than some milliseconds; this only tells a hang from a busy machine. */
const CASE_TIMEOUT_MS = 20_000;

interface FuzzProperty<T> {
  name: string;
  /** Its part of the cases, beside the others' parts. */
  weight: number;
  cases: fc.Arbitrary<T>;
  /** Throws where the property does not hold. */
  check: (value: T) => void | Promise<void>;
}

/** A failure prints its seed, its smallest case, and the path that leads to it, which `FUZZ_PATH` takes. */
export function property<T>({ name, weight, cases, check }: FuzzProperty<T>): void {
  const path = process.env.FUZZ_PATH;
  test(name, async () => {
    const options = { seed: SEED, numRuns: CASES * weight, timeout: CASE_TIMEOUT_MS };
    const checked = fc.asyncProperty(cases, async (value) => check(value));
    await fc.assert(checked, path === undefined ? options : { ...options, path });
  });
}
