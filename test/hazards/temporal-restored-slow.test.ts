/** Temporal's database is restored from an older copy, and the ledger is the former one: runs forget what they did since. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { runCli } from '../cli/run-cli.ts';
import { applicant, journeyInput, newSsn, startHarness, untilStatus, update } from '../support/journey-harness.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout, until, untilIdle } from './operator-hands.ts';

test('a run that has forgotten the decision about its hold is found and decided again, although the ledger has no row', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-restored-'));
  let server = await startTemporalServer({ headless: true, dataDir });
  const port = Number(server.address.split(':')[1]);
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  t.after(() => server.stop());
  const harness = await startHarness({ server, env: SHORT_TIMEOUTS });
  t.after(() => harness.close());
  // The server that stops leaves some of it beside the file.
  const copy = async (from: string, to: string) => {
    for (const suffix of ['', '-wal', '-shm']) {
      await rm(join(dataDir, `${to}${suffix}`), { force: true });
      await cp(join(dataDir, `${from}${suffix}`), join(dataDir, `${to}${suffix}`));
    }
  };
  const whileStopped = async (work: () => Promise<void>) => {
    await harness.stopWorker();
    await server.stop();
    await work();
    server = await startTemporalServer({ headless: true, dataDir, port });
    await harness.startWorker();
  };
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] });
  const handle = await harness.start(input);
  const held = await untilStatus(handle, ({ state }) => state === 'held');
  await untilIdle(handle);
  await whileStopped(() => copy('temporal.db', 'older.db'));
  await update(handle, 'resolveInquiry', decisionAbout(held));
  assert.equal((await handle.result()).stages[0]?.state, 'record');
  await whileStopped(() => copy('older.db', 'temporal.db'));
  const { ledger, keyRingFile, temporal, taskQueue } = harness.config;
  const env = { LEDGER_URL: ledger.url, KEY_RING_FILE: keyRingFile, PAYLOAD_ENCRYPTION: 'off', TASK_QUEUE: taskQueue };
  const asked = { env: { ...env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace } };
  assert.equal((await runCli(['holds'], asked)).code, 0);
  await until(async () => {
    const { stdout } = await runCli(['list', '--needs-attention', '--json'], asked);
    return stdout.includes(input.journeyId);
  }, 'the run is not listed');
  const decision = [
    '--attempt',
    '1',
    '--action',
    'abandon',
    '--provider-said',
    'unknown',
    '--by',
    'ops',
    '--reason',
    'x',
  ];
  const decided = await runCli(['resolve', input.journeyId, ...decision], asked);
  assert.match(decided.stderr, /nothing was decided: /);
  assert.equal((await handle.result()).stages[0]?.state, 'record');
  assert.equal((await harness.received(handle)).length, 2);
});
