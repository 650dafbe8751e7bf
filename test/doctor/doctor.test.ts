import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Config, inspectConfig } from '../../src/config/config.ts';
import type { Finding } from '../../src/doctor/check.ts';
import { examine } from '../../src/doctor/examine-installation.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { ConfigProblem } from '../../src/model/problems.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from '../cli/run-cli.ts';
import { deadPort, startServer } from '../gateway/scripted-server.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { untilTaken } from '../support/patiently.ts';

let harness: Harness;

before(async () => {
  harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } });
  await untilTaken(
    async () => assert.deepEqual(Object.keys(await troubles()).filter(isOfWorkers), []),
    (error) => error instanceof assert.AssertionError,
  );
});
after(() => harness?.close());

/** A worker is ready before the server has received its first poll of each queue. */
function isOfWorkers(check: string): boolean {
  return check.startsWith('workers');
}

type Findings = Record<string, Finding['status']>;

async function findings(change: Partial<Config> = {}, problems: ConfigProblem[] = [], timeoutMs = 10_000) {
  const { checks } = await examine({ config: { ...harness.config, ...change }, problems }, { timeoutMs });
  return new Map(checks.map(({ check, ...finding }) => [check, finding]));
}

/** Returns the checks that do not pass. */
async function troubles(...how: Parameters<typeof findings>): Promise<Findings> {
  return listTroubles(await findings(...how));
}

function listTroubles(found: ReadonlyMap<string, Finding>): Findings {
  const troubled = [...found].filter(([, { status }]) => status !== 'pass');
  return Object.fromEntries(troubled.map(([check, { status }]) => [check, status]));
}

function profile(change: Partial<GatewayProfile>): Pick<Config, 'profiles'> {
  const usual = harness.config.profiles.get('default') ?? assert.fail();
  return { profiles: new Map([['default', { ...usual, ...change }]]) };
}

function environment(): Record<string, string> {
  const { temporal, taskQueue, ledger, keyRingFile } = harness.config;
  return {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TASK_QUEUE: taskQueue,
    GATEWAY_AUTH_URL: harness.sandboxUrl,
    GATEWAY_BASE_URL: harness.sandboxUrl,
    LEDGER_URL: ledger.url,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'on',
  };
}

test('doctor warns of a version without workers while unversioned ones get the work', async () => {
  const deployment = { deploymentName: `doctor-${randomUUID()}`, buildId: 'b1' };
  const change = { worker: { ...harness.config.worker, deployment } };
  assert.deepEqual(await troubles(change), { deployment: 'warn' });
});

/** The names of all checks, in the order in which they are printed. */
const CHECKS = [
  ...['configuration', 'key-ring', 'ledger', 'ledger-durability', 'ledger-keys', 'temporal', 'namespace'],
  ...['ledger-watch', 'search-attributes', 'workers', 'workers/gateway-default', 'deployment'],
  ...['token-service/default', 'gateway/default', 'pauses', 'failing-runs', 'holds', 'clock'],
];

test('all checks pass in a sound installation, in a fixed order and without a gateway request', async () => {
  const found = [...(await findings())].map(([check, { status }]) => [check, status]);
  assert.deepEqual(
    found,
    CHECKS.map((check) => [check, 'pass']),
  );
  const received = await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json();
  assert.deepEqual(received, []);
});

describe('doctor reports', () => {
  test('a Temporal server that is down', async () => {
    const address = `127.0.0.1:${await deadPort()}`;
    const temporal = { address, namespace: 'default', connectionOptions: { address } };
    const found = await findings({ temporal }, [], 3_000);
    assert.match(found.get('temporal')?.detail ?? '', /: nothing answers at 127\.0\.0\.1:\d+$/);
    assert.deepEqual(listTroubles(found), {
      temporal: 'fail',
      namespace: 'unchecked',
      'ledger-watch': 'unchecked',
      'search-attributes': 'unchecked',
      workers: 'unchecked',
      'workers/gateway-default': 'unchecked',
      'failing-runs': 'unchecked',
    });
  });

  test('a missing namespace', async () => {
    const temporal = { ...harness.config.temporal, namespace: 'nobody-made-it' };
    const found = await troubles({ temporal });
    assert.equal(found.temporal, undefined);
    assert.equal(found.namespace, 'fail');
  });

  test('missing search attributes', async (t) => {
    const namespace = `doctor-${randomUUID().slice(0, 8)}`;
    const { workflowService } = harness.client;
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    t.after(() => harness.client.connection.operatorService.deleteNamespace({ namespace }).catch(() => {}));
    const found = await findings({ temporal: { ...harness.config.temporal, namespace } });
    assert.equal(found.get('search-attributes')?.status, 'warn');
    assert.match(found.get('search-attributes')?.detail ?? '', /JourneyStage/);
  });

  test('a queue that no worker polls', async () => {
    assert.deepEqual(await troubles({ taskQueue: `test-${randomUUID()}` }), {
      workers: 'fail',
      'workers/gateway-default': 'fail',
    });
  });

  test('refused credentials, without showing them', async () => {
    const read = async () => ({ clientId: 'sandbox-client', clientSecret: 'sentinel-secret' });
    const found = await findings(profile({ credentials: { name: 'default', read } }));
    assert.equal(found.get('token-service/default')?.status, 'fail');
    assert.doesNotMatch(JSON.stringify([...found]), /sentinel|sandbox-client/);
  });

  test('a gateway that accepts no connection', async () => {
    const baseUrl = `http://127.0.0.1:${await deadPort()}`;
    const found = await findings(profile({ baseUrl }));
    assert.deepEqual(listTroubles(found), { 'gateway/default': 'fail' });
    assert.match(found.get('gateway/default')?.detail ?? '', /^nothing answers at its address/);
  });

  test('a gateway with untrusted TLS, and sends it no request', async (t) => {
    const plain = await startServer(t, { onConnection: (socket) => socket.once('data', () => socket.end('no TLS')) });
    const found = await troubles(profile({ baseUrl: plain.url.replace('http:', 'https:') }));
    assert.deepEqual(found, { 'gateway/default': 'fail' });
    assert.equal(plain.requests.length, 0);
  });

  test('a ledger other than the configured ledger', async () => {
    assert.deepEqual(await troubles({ ledger: { ...harness.config.ledger, expectedId: 'ledger-other' } }), {
      ledger: 'fail',
    });
  });

  test('a missing ledger', async () => {
    const ledger = {
      ...harness.config.ledger,
      url: `file:${join(harness.dataDir, 'nowhere.db')}`,
      expectedId: 'ledger-1',
    };
    const found = await troubles({ ledger });
    assert.deepEqual(found, {
      ...{ ledger: 'fail', 'ledger-durability': 'unchecked', 'ledger-keys': 'unchecked' },
      ...{ 'ledger-watch': 'unchecked', pauses: 'unchecked', holds: 'unchecked', clock: 'unchecked' },
    });
  });

  test('a key that the ledger needs and the key ring lacks', async () => {
    const keyRingFile = join(harness.dataDir, `${randomUUID()}.json`);
    await createKeyRing(keyRingFile);
    const found = await findings({ keyRingFile });
    assert.equal(found.get('key-ring')?.status, 'pass');
    assert.equal(found.get('ledger-keys')?.status, 'fail');
    assert.match(found.get('ledger-keys')?.detail ?? '', /the ledger’s own secret/);
  });

  test('overdue keys, as a failure in production and as a warning elsewhere', async () => {
    const keyRingFile = join(harness.dataDir, `${randomUUID()}.json`);
    await createKeyRing(keyRingFile);
    const ring = JSON.parse(await readFile(keyRingFile, 'utf8'));
    for (const key of ring.keys) key.createdAt = '2020-01-01T00:00:00Z';
    await writeFile(keyRingFile, JSON.stringify(ring));
    assert.equal((await findings({ keyRingFile })).get('key-ring')?.status, 'warn');
    assert.equal((await findings({ keyRingFile, environment: 'production' })).get('key-ring')?.status, 'fail');
  });

  test('a check that hangs, while the other checks end', async (t) => {
    const { url } = await startServer(t, {});
    const found = await findings(profile({ authUrl: url }), [], 2_000);
    assert.match(found.get('token-service/default')?.detail ?? '', /did not end within/);
    assert.equal(found.get('ledger')?.status, 'pass');
  });

  test('a wrong configuration, and the checks that it prevents', async () => {
    const inspected = inspectConfig({ ...environment(), GATEWAY_TIME_ZONE: 'sentinel-zone', LEDGER_URL: 'sentinel:x' });
    const { healthy, checks } = await examine(inspected);
    const those = (wanted: Finding['status']) =>
      checks.filter(({ status }) => status === wanted).map(({ check }) => check);
    assert.equal(healthy, false);
    assert.deepEqual(those('fail'), ['configuration']);
    assert.ok(those('unchecked').includes('ledger') && those('unchecked').includes('gateway/default'));
    assert.equal(checks.find(({ check }) => check === 'temporal')?.status, 'pass');
    assert.doesNotMatch(JSON.stringify(checks), /sentinel/);
  });

  test('an unknown environment alone, since every default depends on it', async () => {
    const { checks } = await examine(inspectConfig({ ...environment(), GATEWAY_ENVIRONMENT: 'sentinel' }));
    const [configuration, ...others] = checks;
    assert.equal(configuration?.status, 'fail');
    for (const { check, status, detail } of others) {
      assert.deepEqual([status, detail.split(': ')[1]], ['unchecked', 'GATEWAY_ENVIRONMENT is wrong'], check);
    }
    assert.equal(others.length, CHECKS.length - 1);
  });
});

test('`doctor --json` prints the checks as JSON and exits with 0', async () => {
  const { code, stdout, stderr } = await runCli(['doctor', '--json'], { env: environment() });
  assert.equal(code, 0, stdout + stderr);
  const { healthy, checks } = JSON.parse(stdout);
  assert.equal(healthy, true);
  assert.deepEqual(checks[0].check, 'configuration');
});
