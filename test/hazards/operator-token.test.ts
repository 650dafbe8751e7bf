/** The token of one of two workers is revoked. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runWorker } from '../../src/worker.ts';
import { type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { until } from './operator-hands.ts';

let harness: Harness;
const stop = new AbortController();
let second: Promise<void> | undefined;
before(async () => {
  // Each worker has one slow inquiry at a time, so several journeys at once need both workers.
  harness = await startHarness({ env: { GATEWAY_CONNECTIONS: '1' }, sandbox: { latencyMs: 500 } });
  const ready = Promise.withResolvers<void>();
  second = runWorker(harness.config, { signal: stop.signal, onReady: ready.resolve });
  await ready.promise;
});
after(async () => {
  stop.abort();
  await second;
  await harness?.close();
});

async function sandbox<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await fetch(`${harness.sandboxUrl}/_sandbox/${path}`, init)).json()) as T;
}

const tokensIssued = async () => (await sandbox<{ issued: { tokenId: string }[] }>('tokens')).issued;

async function runJourneys(count: number) {
  const handles = await Promise.all(
    Array.from({ length: count }, () => harness.start(journeyInput({ stages: ['PREQUAL'] }))),
  );
  return { handles, results: await Promise.all(handles.map((handle) => handle.result())) };
}

test('a 401 for one worker’s token ends that attempt; the next has a new token, and each inquiry is posted once', async () => {
  // Wait until both workers have a token. Each fetches its own with its first inquiry.
  await until(async () => {
    await runJourneys(6);
    return (await tokensIssued()).length >= 2;
  }, 'the second worker has no token');
  const [first] = await tokensIssued();
  const revoked = await sandbox<{ revoked: number }>('tokens/revoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tokenId: first?.tokenId }),
  });
  assert.equal(revoked.revoked, 1);

  let refused = 0;
  await until(async () => {
    const { handles, results } = await runJourneys(10);
    for (const [index, handle] of handles.entries()) {
      const received = (await harness.received(handle)) as unknown as { status: number; tokenId: string }[];
      assert.equal(results[index]?.stages[0]?.state, 'record');
      assert.equal((await harness.posted(handle)).length, 1);
      const refusals = received.filter(({ status }) => status === 401);
      assert.ok(refusals.length <= 1, 'the further attempt was refused as well');
      assert.equal(received.length, 1 + refusals.length);
      refused += refusals.length;
    }
    return refused > 0;
  }, 'the worker whose token was revoked has made no attempt');
});
