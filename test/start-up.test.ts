import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { loadConfig } from '../src/config/config.ts';
import { KeyRingError } from '../src/protection/errors.ts';
import { computeKeyAges, createKeyRing } from '../src/protection/keys/key-ring.ts';
import { isFleetPolling } from '../src/temporal/worker-deployment.ts';
import { requireFreshKeys } from '../src/worker/start-up.ts';
import { runWorker } from '../src/worker.ts';
import { runCli, spawnCli } from './cli/run-cli.ts';
import { deadPort } from './gateway/scripted-server.ts';

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'credit-journey-start-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The environment of a worker that has its keys, and no Temporal server. */
async function withoutTemporal(path: string): Promise<Record<string, string>> {
  await createKeyRing(join(path, 'keys.json'));
  return {
    TEMPORAL_ADDRESS: `127.0.0.1:${await deadPort()}`,
    LEDGER_URL: `file:${join(path, 'ledger.db')}`,
    KEY_RING_FILE: join(path, 'keys.json'),
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

describe('a worker that cannot start', () => {
  test('with payload encryption names a bundle that does not encode failures', async (t) => {
    const path = await directory(t);
    const bundle = join(path, 'bundle.js');
    await writeFile(bundle, '// without a failure converter');
    const config = loadConfig({
      ...(await withoutTemporal(path)),
      WORKFLOW_BUNDLE_FILE: bundle,
      PAYLOAD_ENCRYPTION: 'on',
    });
    await assert.rejects(runWorker(config), /does not encode failures/);
  });

  test('names the key ring that is missing', async (t) => {
    const environment = await withoutTemporal(await directory(t));
    const config = loadConfig({ ...environment, KEY_RING_FILE: `${environment.KEY_RING_FILE}.not` });
    await assert.rejects(runWorker(config), KeyRingError);
  });

  test('reports a single cause as that cause', async (t) => {
    const config = loadConfig(await withoutTemporal(await directory(t)));
    await assert.rejects(runWorker(config), { code: 'connectionRefused' });
  });

  test('ends its process, so that its supervisor starts it again', async (t) => {
    const path = await directory(t);
    const env = await withoutTemporal(path);
    const starts = [
      { env: { ...env, LEDGER_ID: randomUUID() }, type: 'ledgerNotFound' },
      { env, type: 'connectionRefused' },
      { env: { ...env, KEY_RING_FILE: join(path, 'none.json'), ENVIRONMENT: 'sandbox' }, type: 'keyRingUnusable' },
    ];
    for (const start of starts) {
      const worker = spawnCli(['worker', '--json'], { env: start.env });
      t.after(() => worker.kill('SIGKILL'));
      let said = '';
      worker.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const [code] = await once(worker, 'close');
      assert.notEqual(code, 0, said);
      assert.match(said, new RegExp(start.type));
    }
  });

  test('creates no ledger, as setup does not, if its configuration names one by LEDGER_ID, and otherwise only in the sandbox', async (t) => {
    const path = await directory(t);
    const ledgerFile = join(path, 'ledger', 'ledger.db');
    const environment = { ...(await withoutTemporal(path)), LEDGER_URL: `file:${ledgerFile}` };
    const config = loadConfig({ ...environment, LEDGER_ID: randomUUID() });
    await assert.rejects(runWorker(config), { name: 'LedgerNotFoundError' });
    const setup = await runCli(['setup', '--no-temporal'], { env: { ...environment, LEDGER_ID: 'ledger-1' } });
    assert.match(setup.stderr, /without LEDGER_ID, which makes a ledger/);
    assert.equal(existsSync(ledgerFile), false, 'it would stand in the way of the one that is away');
    await assert.rejects(runWorker(loadConfig(environment)), { code: 'connectionRefused' });
    assert.equal(existsSync(ledgerFile), true);
  });
});

describe('keys that have encrypted for more than 90 days', () => {
  async function agesAfter(t: TestContext, days: number) {
    const ring = await createKeyRing(join(await directory(t), 'keys.json'));
    return computeKeyAges(ring, Date.now() + days * DAY_MS);
  }

  test('prevent the start of a production worker, which names their ids', async (t) => {
    const ages = await agesAfter(t, 91);
    const unknown = () => Promise.reject(new Error('the server does not answer'));
    for (const isFleetRunning of [async () => false, unknown]) {
      await assert.rejects(
        requireFreshKeys(ages, 'production', { warn: () => assert.fail(), isFleetRunning }),
        (error) => error instanceof KeyRingError && ages.every(({ id }) => error.message.includes(id)),
      );
    }
  });

  test('do not prevent a worker from joining a fleet that already runs with them', async (t) => {
    const told: string[] = [];
    await requireFreshKeys(await agesAfter(t, 91), 'production', {
      warn: ({ verdict }) => told.push(verdict),
      isFleetRunning: async () => true,
    });
    assert.deepEqual(told, ['overdue', 'overdue']);
  });

  test('do not count as those of a running fleet if only workers of another version poll', async () => {
    const version = { deploymentName: 'loans', buildId: '2' };
    const asked = { namespace: 'default', taskQueue: 'q' };
    const withPollers = (...pollers: object[]) =>
      ({ describeTaskQueue: async () => ({ pollers }) }) as unknown as Parameters<typeof isFleetPolling>[0];
    const old = { deploymentOptions: { deploymentName: 'loans', buildId: '1' } };
    assert.equal(await isFleetPolling(withPollers(old), { ...asked, version }), false);
    assert.equal(await isFleetPolling(withPollers(old, { deploymentOptions: version }), { ...asked, version }), true);
    assert.equal(await isFleetPolling(withPollers(old), { ...asked, version: undefined }), false);
    assert.equal(await isFleetPolling(withPollers({}), { ...asked, version: undefined }), true);
    assert.equal(await isFleetPolling(withPollers(), { ...asked, version: undefined }), false);
  });

  test('only cause a warning outside production, as keys that will soon be due do', async (t) => {
    const told: string[] = [];
    const checks = {
      warn: ({ verdict }: { verdict: string }) => told.push(verdict),
      isFleetRunning: () => assert.fail('nobody has to know'),
    };
    await requireFreshKeys(await agesAfter(t, 91), 'uat', checks);
    await requireFreshKeys(await agesAfter(t, 80), 'production', checks);
    await requireFreshKeys(await agesAfter(t, 1), 'production', checks);
    assert.deepEqual(told, ['overdue', 'overdue', 'due', 'due']);
  });
});
