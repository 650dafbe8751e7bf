/** Shrinking of plans, without running them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makePlan } from './plan.ts';
import { partsOf, planOf, smallest } from './shrink.ts';

const FOR_EVER = { mostRuns: 10_000, endsAt: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

test('exactly the parts that a failure needs are left, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 40 }).chain((length) =>
        fc.tuple(
          fc.constant(Array.from({ length }, (_, index) => index)),
          fc.subarray(
            Array.from({ length }, (_, index) => index),
            { minLength: 1, maxLength: Math.min(4, length) },
          ),
        ),
      ),
      async ([whole, needed]) => {
        const fails = async (parts: readonly number[]) => needed.every((one) => parts.includes(one));
        assert.deepEqual(await smallest(whole, fails, FOR_EVER), needed);
      },
    ),
    { numRuns: 100 },
  );
});

test('no more is asked than the budget allows, and what is left still fails', async () => {
  const whole = Array.from({ length: 64 }, (_, index) => index);
  let asked = 0;
  const fails = async (parts: readonly number[]) => {
    asked += 1;
    return parts.includes(5) && parts.includes(50);
  };
  const left = await smallest(whole, fails, { ...FOR_EVER, mostRuns: 7 });
  assert.ok(asked <= 7);
  assert.ok(left.length < whole.length && left.includes(5) && left.includes(50));
});

test('a plan in parts is the plan put together again', () => {
  const plan = makePlan({ seed: 3, journeys: 5, lengthMs: 60_000 });
  assert.deepEqual(planOf(plan, partsOf(plan)), plan);
});
