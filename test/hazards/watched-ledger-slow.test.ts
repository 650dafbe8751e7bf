/** The watch detects an older copy of the ledger before anything is sent on it, also if no run knows a lost attempt. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { toLedgerWatchId } from '../../src/model/ledger-watch.ts';
import { runCli } from '../cli/run-cli.ts';
import { type Harness, journeyInput, startHarness, untilStatus } from '../support/journey-harness.ts';
import { type LedgerStore, sqliteStore } from './ledger-store.ts';
import { until, withLedger } from './operator-hands.ts';

let directory: string;
let store: LedgerStore;
let harness: Harness;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-watched-'));
  store = sqliteStore(directory);
  harness = await startHarness({
    env: { LEDGER_URL: store.url, LEDGER_WATCH_EVERY_MS: '200', BACKOFF_INITIAL_MS: '200', BACKOFF_MAX_MS: '1000' },
  });
});
after(async () => {
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

function watch() {
  return withLedger(harness, async (ledger) => {
    const workflowId = toLedgerWatchId(ledger.identity.ledgerId, harness.config.taskQueue);
    return harness.client.workflow.getHandle(workflowId);
  });
}

/** Waits until the watch has seen the newest attempt. */
async function untilSeen(): Promise<void> {
  const newest = await withLedger(harness, async (ledger) => (await ledger.restoreState()).newest);
  const handle = await watch();
  await until(async () => {
    const { memo } = await handle.describe();
    return (memo?.highWaterMark as { position?: number } | undefined)?.position === newest?.position;
  }, 'the watch has not seen it');
}

async function completed(): Promise<void> {
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  assert.equal((await handle.result()).outcome, 'completed');
}

/** The findings of `audit verify` and `doctor` while no worker runs. */
async function foundBy(env: Record<string, string>): Promise<{ verify: number | null; doctor: string | undefined }> {
  const [verified, examined] = await Promise.all([
    runCli(['audit', 'verify', '--json'], { env }),
    runCli(['doctor', '--json'], { env }),
  ]);
  const { lost, watch } = JSON.parse(verified.stdout) as { lost?: object; watch: string };
  assert.equal(watch, 'asked');
  assert.equal(verified.code, lost ? 3 : 0);
  const { checks } = JSON.parse(examined.stdout) as { checks: { check: string; status: string }[] };
  return { verify: verified.code, doctor: checks.find(({ check }) => check === 'ledger-watch')?.status };
}

describe('a ledger that is restored from an older copy while no worker runs', () => {
  test('allows no claim until an operator accepts it, and is detected again after the next restore', async () => {
    const { config } = harness;
    const env = { LEDGER_URL: config.ledger.url, KEY_RING_FILE: config.keyRingFile, PAYLOAD_ENCRYPTION: 'off' };
    const { address, namespace } = config.temporal;
    const asked = { ...env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TASK_QUEUE: config.taskQueue };
    await completed();
    for (const round of ['first', 'second']) {
      await harness.stopWorker();
      await store.backUp('older');
      await harness.startWorker();
      await completed();
      await untilSeen();
      await harness.stopWorker();
      assert.deepEqual(await foundBy(asked), { verify: 0, doctor: 'pass' });
      await store.restore('older');
      // The ledger itself cannot detect it. Only the position that the watch saw shows it.
      assert.deepEqual(await foundBy(asked), { verify: 3, doctor: 'fail' });
      assert.equal((await withLedger(harness, (ledger) => ledger.restoreState())).lost, undefined);
      await harness.startWorker();

      const waiting = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
      await untilStatus(waiting, ({ waitingFor = '' }) => waitingFor.includes('an older copy'));
      assert.deepEqual(await harness.received(waiting), [], round);
      const verified = await runCli(['audit', 'verify', '--json'], { env });
      assert.equal(verified.code, 3);
      assert.ok((JSON.parse(verified.stdout) as { lost?: object }).lost);
      const unsaid = await runCli(['ledger', 'accept-restore', '--by', 'ops'], { env });
      assert.equal(unsaid.code, 2);
      const accepted = await runCli(['ledger', 'accept-restore', '--by', 'ops', '--reason', 'the disk was lost'], {
        env,
      });
      assert.equal(accepted.code, 0, accepted.stderr);
      assert.equal((await waiting.result()).outcome, 'completed');
      await untilSeen();
      assert.equal((await runCli(['audit', 'verify'], { env })).code, 0);
    }
  });

  test('is watched by the same workflow run after a worker restart', async () => {
    const handle = await watch();
    const { runId, status } = await handle.describe();
    assert.equal(status.name, 'RUNNING');
    await harness.stopWorker();
    await harness.startWorker();
    assert.equal((await handle.describe()).runId, runId);
  });
});
