/** A worker is killed or stopped during an attempt. Checks the requests at the gateway, and how the journey ends. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  assertOwnRecord,
  assertSent,
  ENGINES,
  prequalOnly,
  resend,
  startWorld,
  until,
  untilHeld,
} from '../support/process-world.ts';

let postgres: PostgresServer | undefined;

describe('a worker process', { concurrency: 3 }, () => {
  before(async () => {
    if (ENGINES.includes('PostgreSQL')) postgres = await startPostgres();
  });
  after(() => postgres?.stop());

  for (const engine of ENGINES) {
    test(`that is killed at five points of five attempts sends none twice without a decision (${engine})`, async (t) => {
      const world = await startWorld(t, engine === 'PostgreSQL' && postgres ? { postgres } : {});
      const victim = await world.startWorker();
      const inputs = {
        beforeClaim: prequalOnly(),
        afterClaim: prequalOnly(),
        // Posts, and never answers.
        duringSend: prequalOnly('4008'),
        afterAnswer: prequalOnly(),
        afterRecord: prequalOnly(),
      };
      const stops = (['beforeClaim', 'afterClaim', 'afterAnswer', 'afterRecord'] as const).map((point) =>
        victim.stopAt(inputs[point].journeyId, point),
      );
      const [beforeClaim, afterClaim, afterAnswer, afterRecord, duringSend] = await Promise.all([
        world.start(inputs.beforeClaim),
        world.start(inputs.afterClaim),
        world.start(inputs.afterAnswer),
        world.start(inputs.afterRecord),
        world.start(inputs.duringSend),
      ]);
      await Promise.all(stops.map(({ reached }) => reached));
      const { journeyId } = inputs.duringSend;
      await until('the request is at the gateway', async () => (await world.posted(journeyId)).length === 1);
      await victim.kill();
      await world.startWorker();

      await t.test('before the claim: another worker sends the request once', async () => {
        const result = await assertOwnRecord(world, beforeClaim);
        // The look-up after the lost activity has closed the attempt as never sent: the next one is the one that is sent.
        assert.equal(result.stages[0]?.attempts, 2);
        const [inquiry] = await world.ledger.inquiriesOf(inputs.beforeClaim.journeyId);
        assert.deepEqual(
          inquiry?.attempts.map(({ attempt, state, closedAt, claimedAt }) => [
            attempt,
            state,
            closedAt !== undefined,
            claimedAt !== undefined,
          ]),
          [
            [1, 'notSent', true, false],
            [2, 'answered', false, true],
          ],
        );
        await assertSent(world, inputs.beforeClaim.journeyId, { received: 1, posted: 1 });
      });
      await t.test('between record and completion: the journey continues with the answer', async () => {
        const result = await assertOwnRecord(world, afterRecord);
        assert.equal(result.stages[0]?.attempts, 1);
        await assertSent(world, inputs.afterRecord.journeyId, { received: 1, posted: 1 });
      });
      for (const [title, handle, input, sent] of [
        ['between claim and send', afterClaim, inputs.afterClaim, 0],
        ['during the send', duringSend, inputs.duringSend, 1],
        ['between answer and record', afterAnswer, inputs.afterAnswer, 1],
      ] as const) {
        await t.test(`${title}: the inquiry is held, and the resend decision sends one request`, async () => {
          const hold = await untilHeld(handle);
          await assertSent(world, input.journeyId, { received: sent, posted: sent });
          await resend(handle, hold);
          const result = await assertOwnRecord(world, handle);
          // On a loaded machine an attempt may miss its sendBy first: it was not sent, and is counted.
          assert.equal(result.stages[0]?.attempts, hold.attempts + 1);
          await assertSent(world, input.journeyId, { received: sent + 1, posted: sent + 1 });
        });
      }
    });
  }

  test('that is stopped before a claim and with a request in flight completes both attempts before it exits', async (t) => {
    const world = await startWorld(t);
    const worker = await world.startWorker();
    // The second answers after one and a half seconds.
    const inputs = [prequalOnly(), prequalOnly('4011')] as const;
    const stop = worker.stopAt(inputs[0].journeyId, 'beforeClaim');
    const handles = await Promise.all(inputs.map(world.start));
    await stop.reached;
    const { journeyId } = inputs[1];
    await until('the request is at the gateway', async () => (await world.posted(journeyId)).length === 1);
    const ended = worker.terminate();
    stop.release();
    assert.equal(await ended, 0);
    const [inquiry] = await world.ledger.inquiriesOf(journeyId);
    assert.equal(inquiry?.attempts[0]?.state, 'answered');
    await world.startWorker();
    for (const handle of handles) {
      const result = await assertOwnRecord(world, handle);
      assert.equal(result.stages[0]?.attempts, 1);
      await assertSent(world, result.journeyId, { received: 1, posted: 1 });
      const { events } = await handle.fetchHistory();
      assert.equal(
        events?.some((event) => event.activityTaskTimedOutEventAttributes),
        false,
      );
    }
  });
});
