/** A gateway whose 401 does not say that nothing was processed, and two workers whose tokens were revoked. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { activityInfo } from '@temporalio/activity';
import { runWorker } from '../../src/worker.ts';
import { interceptActivities } from '../support/intercept-activities.ts';
import { type Harness, journeyInput, startHarness, untilStatus, update } from '../support/journey-harness.ts';
import { ON_GATEWAY_QUEUE } from '../support/short-timeouts.ts';
import { decisionAbout } from './operator-hands.ts';

const WORKERS = ['first', 'second'] as const;

let harness: Harness;
/** The worker that makes the attempts. */
let attempting: (typeof WORKERS)[number];
const stop = new AbortController();
const workers: Promise<void>[] = [];
before(async () => {
  const env = { ...ON_GATEWAY_QUEUE, GATEWAY_NOT_PROCESSED_STATUSES: '429', BACKOFF_INITIAL_MS: '50' };
  harness = await startHarness({ withoutWorker: true, env });
  for (const name of WORKERS) {
    mock.restoreAll();
    interceptActivities(() => ({
      execute: async (input, next) =>
        activityInfo().activityType === 'submitInquiry' && attempting !== name ? { kind: 'noSlot' } : next(input),
    }));
    const ready = Promise.withResolvers<void>();
    workers.push(runWorker(harness.config, { signal: stop.signal, onReady: ready.resolve }));
    await ready.promise;
  }
});
after(async () => {
  stop.abort();
  await Promise.all(workers);
  await harness?.close();
  mock.restoreAll();
});

test('a resend after a 401 has a new token, whichever worker makes it', async () => {
  for (attempting of WORKERS) await (await harness.start(journeyInput({ stages: ['PREQUAL'] }))).result();
  await fetch(`${harness.sandboxUrl}/_sandbox/tokens/revoke`, { method: 'POST' });
  attempting = 'first';
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  const held = await untilStatus(handle, ({ state }) => state === 'held');
  assert.equal(held.holds[0]?.httpStatus, 401);
  attempting = 'second';
  await update(handle, 'resolveInquiry', decisionAbout(held));
  const { stages } = await untilStatus(
    handle,
    ({ state, holds }) => state === 'completed' || (holds[0]?.attempts ?? 0) > 1,
  );
  assert.equal(stages[0]?.state, 'record');
});
