/** On PostgreSQL, a worker runs while `setup` holds locks on the ledger's tables. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openEngine } from '../../src/ledger/open-ledger.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout } from './operator-hands.ts';

let postgres: PostgresServer;
let harness: Harness;
before(async () => {
  postgres = await startPostgres();
  const env = { ...SHORT_TIMEOUTS, BACKOFF_MAX_MS: '1000', LEDGER_URL: await postgres.url('migrating') };
  harness = await startHarness({ env });
});
after(async () => {
  await harness?.close();
  await postgres?.stop();
});

/** A `setup` that locks the tables until `finish` is called. It changes nothing. */
async function beginSetup(t: TestContext) {
  const engine = await openEngine(harness.config.ledger.url);
  const [has, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = async () => {
    has.resolve();
    await end.promise;
    return undefined;
  };
  const done = engine.migrate(work);
  done.catch(has.reject);
  t.after(async () => {
    end.resolve();
    await done.catch(() => undefined);
    await engine.close();
  });
  const finish = async () => {
    end.resolve();
    await done;
  };
  return { hasTables: has.promise, finish };
}

const oneStage = (lastFour = '0001') =>
  journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });

/** Fails if a journey has a hold or a refused message, or has closed. */
async function assertWaits(handles: readonly JourneyHandle[]): Promise<void> {
  for (const handle of handles) {
    const { holds, refusedMessages } = await statusOf(handle);
    assert.deepEqual([holds, refusedMessages], [[], []]);
    assert.equal((await handle.describe()).status.name, 'RUNNING');
  }
}

describe('a `setup` that migrates a ledger on PostgreSQL', { concurrency: 1 }, () => {
  test('delays journeys without a hold, also when it takes longer than the statement time-out', async (t) => {
    const held = await harness.start(oneStage('4002'));
    const share = { shareId: 'S1', endUserCode: 'EU999' };
    const sharing = journeyInput({ stages: ['PREQUAL'], shares: [share] });
    const waiting = await harness.start(sharing);
    const status = await untilStatus(held, ({ state }) => state === 'held');
    await untilStatus(waiting, ({ state }) => state === 'waitingForConsent');

    const { hasTables, finish } = await beginSetup(t);
    await hasTables;
    const started = await Promise.all(Array.from({ length: 4 }, () => harness.start(oneStage())));
    // Both are accepted, and say that the ledger does not have them yet.
    const grant = consentMessage(sharing.journeyId, { applicantId: '1A' });
    const decision = decisionAbout(status, { action: 'abandon' });
    const answers = await Promise.all([
      update(waiting, 'recordConsent', grant),
      update(held, 'resolveInquiry', decision),
    ]);
    assert.deepEqual(
      answers.map(({ accepted, recorded }) => [accepted, recorded]),
      [
        [true, false],
        [true, false],
      ],
    );
    await assertWaits([...started, waiting]);
    await Promise.all(started.map((handle) => untilStatus(handle, isWaitingForTheLedger)));
    await assertWaits([...started, waiting]);
    assert.equal((await harness.posted(waiting)).length, 1, 'the share was not posted');
    await finish();

    for (const handle of started) {
      assert.equal((await handle.result()).stages[0]?.state, 'record');
      assert.equal((await harness.received(handle)).length, 1);
    }
    assert.equal((await waiting.result()).shares[0]?.state, 'posted');
    assert.equal((await held.result()).outcome, 'abandoned');
  });
});

const isWaitingForTheLedger = (status: object) => JSON.stringify(status).includes('the ledger cannot be reached');
