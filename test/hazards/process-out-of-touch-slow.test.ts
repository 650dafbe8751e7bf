/** Workers that are alive but cut off, frozen or hanging. An answer that they bring too late is never returned. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JourneyHandle } from '../support/journey-harness.ts';
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
import { ROOMY_TIMEOUTS, SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { testServer } from '../support/temporal.ts';

let postgres: PostgresServer;

async function temporalWire(t: TestContext): Promise<TcpProxy> {
  const [host = '', port] = (await testServer()).address.split(':');
  const wire = await startTcpProxy({ host, port: Number(port) });
  t.after(() => wire.close());
  return wire;
}

async function attemptsOf({ ledger }: ProcessWorld, journeyId: string) {
  const [inquiry] = await ledger.inquiriesOf(journeyId);
  return { attempts: inquiry?.attempts ?? [] };
}

async function timeOuts(handle: JourneyHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return events?.filter(({ activityTaskTimedOutEventAttributes }) => activityTaskTimedOutEventAttributes).length ?? 0;
}

describe('a worker process', { concurrency: 3 }, () => {
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres?.stop());

  for (const engine of ENGINES) {
    test(`that is cut off from Temporal records its answer in the ledger, and a late answer beside it (${engine})`, async (t) => {
      const world = await startWorld(t, engine === 'PostgreSQL' ? { postgres } : {});
      const wire = await temporalWire(t);
      const cutOff = await world.startWorker({ TEMPORAL_ADDRESS: `127.0.0.1:${wire.port}` });
      const inTime = prequalOnly();
      const tooLate = prequalOnly();
      const inTimeStop = cutOff.stopAt(inTime.journeyId, 'afterAnswer');
      const stop = cutOff.stopAt(tooLate.journeyId, 'afterAnswer');
      const [timely, late] = await Promise.all([world.start(inTime), world.start(tooLate)]);
      await Promise.all([inTimeStop.reached, stop.reached]);
      wire.cut();
      inTimeStop.release();
      await world.startWorker();

      await assertOwnRecord(world, timely);
      assert.equal(await timeOuts(timely), 1);
      await assertSent(world, inTime.journeyId, { received: 1, posted: 1 });

      await resend(late, await untilHeld(late));
      const result = await assertOwnRecord(world, late);
      const [first, second] = await world.posted(tooLate.journeyId);
      assert.notEqual(first?.reportReferenceNumber, second?.reportReferenceNumber);
      stop.release();
      await until('the late answer is recorded', async () => {
        return (await attemptsOf(world, tooLate.journeyId)).attempts[0]?.lateAnswerAt !== undefined;
      });
      const { attempts } = await attemptsOf(world, tooLate.journeyId);
      assert.deepEqual(
        attempts.map(({ state, lateAnswerAt }) => [state, lateAnswerAt !== undefined]),
        [
          ['unknown', true],
          ['answered', false],
        ],
      );
      wire.heal();
      assert.equal(result.stages[0]?.attempts, 2);
      await assertSent(world, tooLate.journeyId, { received: 2, posted: 2 });
    });
  }

  test('that hangs past its time-out makes a resend unnecessary if it records its answer first', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker();
    const input = prequalOnly();
    const stop = worker.stopAt(input.journeyId, 'afterAnswer');
    const handle = await world.start(input);
    const hold = await untilHeld(handle);
    // It sends heartbeats all the time, so the start-to-close time-out ended it.
    assert.equal(await scheduled(handle, 'closeAttempt'), 1);
    stop.release();
    await until('the answer is recorded', async () => {
      return (await attemptsOf(world, input.journeyId)).attempts[0]?.state === 'answered';
    });
    await assert.rejects(resend(handle, hold), ({ cause }: Error) => /attempt 1 is answered/.test(String(cause)));
    const result = await assertOwnRecord(world, handle);
    assert.equal(result.stages[0]?.attempts, 1);
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
  });

  test('that is frozen after the claim until sendBy has passed sends nothing, and the next attempt is sent once', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker(ROOMY_TIMEOUTS);
    const input = prequalOnly();
    const stop = worker.stopAt(input.journeyId, 'afterClaim');
    const handle = await world.start(input);
    await stop.reached;
    worker.freeze();
    await sleep(Number(SHORT_TIMEOUTS.SEND_BY_MS) + 300);
    // Its first action after it wakes is to try to send.
    stop.release();
    worker.thaw();
    const result = await assertOwnRecord(world, handle);
    assert.equal(result.stages[0]?.attempts, 2);
    const { attempts } = await attemptsOf(world, input.journeyId);
    assert.deepEqual(
      attempts.map(({ state, failureType }) => [state, failureType]),
      [
        ['notSent', 'GatewayUnreachable'],
        ['answered', undefined],
      ],
    );
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
  });

  test('that is frozen after the claim until an operator has decided to resend never sends', async (t) => {
    const world = await startWorld(t);
    const wire = await temporalWire(t);
    const frozen = await world.startWorker({ TEMPORAL_ADDRESS: `127.0.0.1:${wire.port}` });
    const input = prequalOnly();
    const stop = frozen.stopAt(input.journeyId, 'afterClaim');
    const handle = await world.start(input);
    await stop.reached;
    frozen.freeze();
    // The server would hand tasks to its open polls.
    wire.cut();
    await world.startWorker();
    await resend(handle, await untilHeld(handle));
    const result = await assertOwnRecord(world, handle);
    stop.release();
    frozen.thaw();
    await until('it has said that it sent nothing', async () => {
      return (await attemptsOf(world, input.journeyId)).attempts[0]?.lateAnswerAt !== undefined;
    });
    wire.heal();
    assert.equal(result.stages[0]?.attempts, 2);
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
  });

  test('that is frozen before its claim until its journey is withdrawn and closed never sends', async (t) => {
    const world = await startWorld(t);
    const wire = await temporalWire(t);
    const frozen = await world.startWorker({ TEMPORAL_ADDRESS: `127.0.0.1:${wire.port}` });
    const input = prequalOnly();
    const stop = frozen.stopAt(input.journeyId, 'beforeClaim');
    const handle = await world.start(input);
    await stop.reached;
    frozen.freeze();
    wire.cut();
    await world.startWorker();
    const withdrawal = { journeyId: input.journeyId, by: 'operator', reason: 'a test' };
    await handle.executeUpdate('withdraw', { args: [withdrawal] });
    assert.equal((await handle.result()).outcome, 'withdrawn');
    // The worker wakes up when the run no longer waits for it, and asks the ledger first.
    stop.release();
    frozen.thaw();
    await sleep(3_000);
    wire.heal();
    const { attempts } = await attemptsOf(world, input.journeyId);
    assert.deepEqual(
      attempts.map(({ state, closedAt, claimedAt }) => [state, closedAt !== undefined, claimedAt !== undefined]),
      [['notSent', true, false]],
    );
    await assertSent(world, input.journeyId, { received: 0, posted: 0 });
  });
});
