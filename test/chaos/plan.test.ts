/** Plans are pure: the seed determines the plan, and a plan in a file is the same plan. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import { makePlan, type SharePlan } from './plan.ts';
import { STORM_KINDS } from './plan-storm.ts';
import { portfolioText, runsOf } from './runs.ts';

const options = fc.record({
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  journeys: fc.integer({ min: 1, max: 12 }),
  lengthMs: fc.integer({ min: 1_000, max: 180_000 }),
});

test('the same seed gives the same plan, and a JSON file preserves the plan', () => {
  fc.assert(
    fc.property(options, (one) => {
      const plan = makePlan(one);
      assert.deepEqual(makePlan(one), plan);
      assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    }),
    { numRuns: 60 },
  );
});

test('every step of a plan is dated within the storm, and each journey has an id and SSNs of its own', () => {
  fc.assert(
    fc.property(options, (one) => {
      const plan = makePlan(one);
      const { journeys, storm, lengthMs, world } = plan;
      const ids = new Set(journeys.map(({ journeyId }) => journeyId));
      const runKeys = runsOf(plan).map(({ runKey }) => runKey);
      const ssns = journeys.flatMap((journey) => journey.ssns);
      assert.equal(ids.size, one.journeys);
      assert.equal(new Set(ssns).size, ssns.length);
      assert.ok(ssns.every((ssn) => /^9\d{8}$/.test(ssn)));
      for (const { atMs, worker = 0, copy = 0, journeyId = journeys[0]?.journeyId, runKey } of storm) {
        assert.ok(atMs >= 0 && atMs < lengthMs);
        assert.ok(runKey === undefined || runKeys.includes(runKey));
        assert.ok(copy < (world.apiCopies ?? 1));
        assert.ok(worker < world.workersAheadMs.length && ids.has(journeyId ?? ''));
      }
      for (const { atMs, consents, shares } of journeys) {
        const datesOf = ({ withdrawAtMs = atMs, extendAtMs = atMs }: SharePlan) => [withdrawAtMs, extendAtMs];
        const dates = [...consents.map((one) => one.atMs), ...shares.flatMap(datesOf)];
        assert.ok([atMs, ...dates].every((ms) => ms >= 0 && ms < lengthMs));
      }
    }),
    { numRuns: 60 },
  );
});

test('the pulls, shares and reviews of a plan are valid inputs with SSNs of their own', () => {
  fc.assert(
    fc.property(options, (one) => {
      const plan = makePlan(one);
      const { pulls = [], reviews = [] } = plan.others ?? {};
      const ssns = [...plan.journeys, ...pulls, ...reviews].flatMap((of) => of.ssns);
      assert.equal(new Set(ssns).size, ssns.length);
      for (const { workflowType, input, atMs } of runsOf(plan)) {
        assert.ok(atMs >= 0 && atMs < one.lengthMs);
        parseMessage(INPUTS[workflowType as keyof typeof INPUTS], input, { maxApplicants: 2 });
      }
      for (const review of reviews) {
        const [header, ...rows] = portfolioText(review).trimEnd().split('\n');
        const column = header?.split(',').indexOf('ssn') ?? -1;
        assert.deepEqual(
          rows.map((row) => row.split(',')[column]),
          review.ssns,
        );
      }
    }),
    { numRuns: 20 },
  );
});

test('no fault after posting has a status that the profile takes for not processed', () => {
  for (let seed = 0; seed < 300; seed++) {
    const { world, storm, journeys } = makePlan({ seed, journeys: 4, lengthMs: 60_000 });
    const faults = [...world.gatewayFaults, ...storm.flatMap(({ fault }) => (fault ? [fault] : []))];
    const statuses = [
      ...faults.flatMap(({ fault, status }) => (fault === 'statusAfterPosting' ? [Number(status)] : [])),
      ...journeys.flatMap(({ ssns }) => ssns.flatMap((ssn) => (ssn[5] === '2' ? [Number(ssn.slice(6))] : []))),
    ];
    assert.ok(statuses.every((status) => !world.notProcessedStatuses.includes(status)));
  }
});

test('a long storm has a step of every kind', () => {
  const world = { engine: 'PostgreSQL', versions: true, endpoints: true } as const;
  const { storm } = makePlan({ seed: 1, journeys: 10, lengthMs: 180_000, ...world });
  assert.deepEqual(new Set(storm.map(({ kind }) => kind)), new Set(STORM_KINDS));
});
