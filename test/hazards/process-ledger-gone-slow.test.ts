/** The ledger is unreachable before, during or after the send: nothing is sent without it, and no answer is lost. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSealedReport } from '../ledger/fixtures.ts';
import { type JourneyHandle, untilStatus } from '../support/journey-harness.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  assertOwnRecord,
  assertSent,
  ENGINES,
  type ProcessWorld,
  prequalOnly,
  resend,
  scheduled,
  startWorld,
  until,
  untilHeld,
} from '../support/process-world.ts';
import { ROOMY_TIMEOUTS } from '../support/short-timeouts.ts';
import type { Stop } from '../support/worker-process.ts';

let postgres: PostgresServer;

async function assertAnsweredOnce(world: ProcessWorld, handle: JourneyHandle): Promise<void> {
  const { journeyId } = await assertOwnRecord(world, handle);
  await assertSent(world, journeyId, { received: 1, posted: 1 });
  const [inquiry] = await world.ledger.inquiriesOf(journeyId);
  // On a slow machine an attempt that missed its sendBy may precede it.
  const states = inquiry?.attempts.map(({ state }) => state).filter((state) => state !== 'notSent');
  assert.deepEqual(states, ['answered']);
}

const isWaitingForTheLedger = (status: object) => JSON.stringify(status).includes('the ledger cannot be reached');

describe('an unreachable ledger', { concurrency: 3 }, () => {
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres?.stop());

  for (const engine of ENGINES) {
    const options = () => (engine === 'PostgreSQL' ? { postgres } : {});

    test(`delays three journeys for longer than an attempt lives, and loses none of their answers (${engine})`, async (t) => {
      const world = await startWorld(t, options());
      const worker = await world.startWorker(ROOMY_TIMEOUTS);
      // "During" answers after one and a half seconds.
      const inputs = { before: prequalOnly(), during: prequalOnly('4011'), after: prequalOnly() };
      const unclaimed = worker.stopAt(inputs.before.journeyId, 'beforeClaim');
      const answered = worker.stopAt(inputs.after.journeyId, 'afterAnswer');
      const before = await world.start(inputs.before);
      const later = await world.start(inputs.after);
      await Promise.all([unclaimed.reached, answered.reached]);
      const during = await world.start(inputs.during);
      await until(
        'the request is at the gateway',
        async () => (await world.posted(inputs.during.journeyId)).length > 0,
      );

      await world.door.close();
      unclaimed.release();
      answered.release();
      await untilStatus(before, isWaitingForTheLedger);
      // The runs have the answers, and try to record them until the ledger is back.
      for (const handle of [during, later]) {
        await until('the run records the answer', async () => (await scheduled(handle, 'recordOutcome')) === 1);
      }
      await assertSent(world, inputs.before.journeyId, { received: 0, posted: 0 });

      await world.door.open();
      for (const handle of [before, during, later]) await assertAnsweredOnce(world, handle);
      assert.equal(await scheduled(before, 'recordOutcome'), 0);

      await t.test(
        'a ledger that is back a moment after the answer gets outcome and report from the attempt itself',
        async () => {
          const input = prequalOnly();
          const stop = worker.stopAt(input.journeyId, 'afterAnswer');
          const handle = await world.start(input);
          await stop.reached;
          await world.door.close();
          stop.release();
          await sleep(700);
          await world.door.open();
          await assertAnsweredOnce(world, handle);
          assert.equal(await scheduled(handle, 'recordOutcome'), 0);
          assert.notEqual(await readSealedReport(world.ledger, input.journeyId, 'PREQUAL'), null);
        },
      );
    });
  }

  test('gets the body of a refusal later; the history holds it sealed (SQLite)', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker(ROOMY_TIMEOUTS);
    const input = prequalOnly('1422');
    const stop = worker.stopAt(input.journeyId, 'afterAnswer');
    const handle = await world.start(input);
    await stop.reached;
    await world.door.close();
    stop.release();
    await until('the run records the refusal', async () => (await scheduled(handle, 'recordOutcome')) === 1);
    assert.doesNotMatch(JSON.stringify(await handle.fetchHistory()), /The sandbox was told/);
    await world.door.open();
    const { holds: [hold] = [] } = await untilStatus(handle, ({ state }) => state === 'held');
    const { customerTraceNumber = '', attempts: attempt = 0 } = hold ?? {};
    assert.deepEqual([hold?.failureType, hold?.refusalKept], ['RequestRefused', true]);
    const kept = await world.ledger.readRefusal({ customerTraceNumber, attempt }, { by: 'ops', via: 'ledger' });
    assert.match(kept?.body ?? '', /The sandbox was told to answer/);
    await handle.terminate();
  });

  test('only delays an attempt when another process locks it before the claim or after the answer (SQLite)', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker();
    const inputs = { before: prequalOnly(), after: prequalOnly() };
    const unclaimed = worker.stopAt(inputs.before.journeyId, 'beforeClaim');
    const answered = worker.stopAt(inputs.after.journeyId, 'afterAnswer');
    const before = await world.start(inputs.before);
    const later = await world.start(inputs.after);
    await Promise.all([unclaimed.reached, answered.reached]);
    const other = new DatabaseSync(world.ledgerFile);
    other.exec('BEGIN EXCLUSIVE');
    unclaimed.release();
    answered.release();
    await untilStatus(before, isWaitingForTheLedger);
    await assertSent(world, inputs.before.journeyId, { received: 0, posted: 0 });
    other.exec('ROLLBACK');
    other.close();
    for (const handle of [before, later]) await assertAnsweredOnce(world, handle);
  });

  test('that did not confirm its last commit records an outcome once, and turns a claim into a hold (PostgreSQL)', async (t) => {
    const world = await startWorld(t, { postgres });
    const worker = await world.startWorker(ROOMY_TIMEOUTS);
    const unanswered = async (handle: JourneyHandle, stop: Stop) => {
      await stop.reached;
      // The next commit must be that of the attempt, not one from before its start.
      await until('the attempt alone is under way', async () => {
        const { raw } = await handle.describe();
        return raw.pendingActivities?.length === 1;
      });
      const committed = world.door.closeAfterCommit();
      stop.release();
      await committed;
      await world.door.open();
      return handle;
    };
    const outcome = prequalOnly();
    const atOutcome = worker.stopAt(outcome.journeyId, 'afterAnswer');
    const first = await unanswered(await world.start(outcome), atOutcome);
    await assertAnsweredOnce(world, first);
    assert.equal(await scheduled(first, 'recordOutcome'), 0);

    const claim = prequalOnly();
    const atClaim = worker.stopAt(claim.journeyId, 'beforeClaim');
    const second = await unanswered(await world.start(claim), atClaim);
    const hold = await untilHeld(second);
    await assertSent(world, claim.journeyId, { received: 0, posted: 0 });
    await resend(second, hold);
    assert.equal((await assertOwnRecord(world, second)).stages[0]?.attempts, 2);
    await assertSent(world, claim.journeyId, { received: 1, posted: 1 });
  });
});
