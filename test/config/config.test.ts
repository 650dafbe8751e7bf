import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadClientSettings } from '../../src/config/client.ts';
import { loadConfig } from '../../src/config/config.ts';
import { loadLedgerAccess } from '../../src/config/ledger.ts';
import { problemsOf } from './problems.ts';

type Env = Record<string, string>;

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'credit-journey-config-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const variablesOf = (env: Env, load: (env: Env) => unknown = loadConfig) =>
  problemsOf(() => load(env))
    .map(({ variable }) => variable)
    .toSorted();

/** A complete configuration of the UAT environment. */
const UAT: Env = {
  GATEWAY_ENVIRONMENT: 'uat',
  GATEWAY_AUTH_URL: 'https://auth.uat.example.com',
  GATEWAY_BASE_URL: 'https://gateway.uat.example.com',
  GATEWAY_CLIENT_ID: 'a-client',
  GATEWAY_CLIENT_SECRET: 'a-secret',
  GATEWAY_CUSTOMER_ID: 'CUST0001',
  GATEWAY_SOFTWARE_PROVIDER_ID: 'SP01',
  GATEWAY_TIME_ZONE: 'America/Chicago',
  LEDGER_URL: 'postgres://ledger.example.com/credit?sslmode=verify-full',
  LEDGER_ID: 'ledger-1',
  KEY_RING_FILE: 'keys.json',
};

async function production(t: TestContext): Promise<Env> {
  const file = join(await directory(t), 'secret');
  await writeFile(file, 'a-secret\n', { mode: 0o600 });
  const { GATEWAY_CLIENT_SECRET: _, ...env } = UAT;
  return {
    ...env,
    GATEWAY_ENVIRONMENT: 'production',
    GATEWAY_AUTH_URL: 'https://auth.example.com',
    GATEWAY_BASE_URL: 'https://gateway.example.com',
    GATEWAY_CLIENT_SECRET_FILE: file,
    TEMPORAL_TLS: 'true',
    CONSENT_TRUST: 'namespace',
  };
}

describe('the configuration of the sandbox', () => {
  it('needs no variables', async () => {
    const config = loadConfig({});
    const profile = config.profiles.get('default');
    assert.equal(config.environment, 'sandbox');
    assert.equal(config.taskQueue, 'credit-journeys-sandbox');
    const durability = { kind: 'replication', by: undefined };
    assert.deepEqual(config.ledger, { url: 'file:.credit-journey/ledger.db', durability, expectedId: undefined });
    assert.equal(config.keyRingMayBeMade, true);
    assert.deepEqual(config.temporal, {
      address: '127.0.0.1:7233',
      namespace: 'default',
      connectionOptions: { address: '127.0.0.1:7233' },
    });
    assert.equal(profile?.baseUrl, 'http://127.0.0.1:7280');
    assert.deepEqual(await profile?.credentials.read(), {
      clientId: 'sandbox-client',
      clientSecret: 'sandbox-secret',
    });
    assert.deepEqual(profile?.notProcessedStatuses, [401, 429]);
  });

  it('allows a resend at once, but outside the sandbox only when the first request can no longer arrive', () => {
    assert.equal(loadConfig({}).protocol.resendAfterMs, 0);
    assert.equal(loadConfig(UAT).protocol.resendAfterMs, 16 * 60_000);
    assert.equal(loadConfig({ ...UAT, RESEND_AFTER: 'PT0S' }).protocol.resendAfterMs, 0);
    assert.equal(loadConfig({ ...UAT, RESEND_AFTER: 'PT1H' }).protocol.resendAfterMs, 3_600_000);
  });

  it('gives the submit activity more time than token, sendBy and all HTTP time-outs together', () => {
    const { protocol, profiles, worker } = loadConfig({});
    const { limits } = profiles.get('default') ?? assert.fail();
    const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = limits;
    const token = connectTimeoutMs + headersTimeoutMs + bodyTimeoutMs;
    assert.ok(protocol.submitTimeoutMs > token + protocol.sendByMs + headersTimeoutMs + bodyTimeoutMs);
    assert.ok(worker.shutdownGraceMs > protocol.submitTimeoutMs);
    assert.equal(worker.maxConcurrentInquiries, limits.connections);
  });

  it('does not create a key ring if KEY_RING_FILE is set', () => {
    assert.equal(loadConfig({ KEY_RING_FILE: 'other.json' }).keyRingMayBeMade, false);
  });

  it('treats an empty variable as absent', () => {
    assert.equal(loadConfig({ GATEWAY_BASE_URL: '', TEMPORAL_ADDRESS: '' }).temporal.address, '127.0.0.1:7233');
  });

  it('reads an empty list of statuses as no statuses', () => {
    const statuses = (value: string) =>
      loadConfig({ GATEWAY_NOT_PROCESSED_STATUSES: value }).profiles.get('default')?.notProcessedStatuses;
    assert.deepEqual(statuses(''), []);
    assert.deepEqual(statuses('none'), []);
    assert.deepEqual(statuses('401, 429,503,401'), [401, 429, 503]);
  });
});

describe('the configuration outside the sandbox', () => {
  it('is accepted when it is complete', () => {
    const config = loadConfig(UAT);
    assert.equal(config.taskQueue, 'credit-journeys-uat');
    assert.equal(config.ledger.expectedId, 'ledger-1');
    assert.equal(config.keyRingMayBeMade, false);
  });

  it('needs a ledger id, except for setup', () => {
    const { LEDGER_ID: _, ...env } = UAT;
    assert.deepEqual(variablesOf(env, loadLedgerAccess), ['LEDGER_ID']);
    assert.equal(loadLedgerAccess(env, { needsId: false }).ledger.expectedId, undefined);
  });
});

describe('the configuration of production', () => {
  it('is accepted with https and secrets from files', async (t) => {
    const config = loadConfig(await production(t));
    assert.equal((await config.profiles.get('default')?.credentials.read())?.clientSecret, 'a-secret');
  });

  it('takes the address of its ledger from a file', async (t) => {
    const file = join(await directory(t), 'url');
    await writeFile(file, 'postgres://u:p@db.example.com/x?sslmode=verify-full\n', { mode: 0o600 });
    const { LEDGER_URL: _, ...env } = await production(t);
    assert.equal(
      loadConfig({ ...env, LEDGER_URL_FILE: file }).ledger.url,
      'postgres://u:p@db.example.com/x?sslmode=verify-full',
    );
  });
});

it('the configuration knows no closed status codes outside the sandbox unless the profile lists them', async (t) => {
  const codesOf = (env: Env) => loadConfig(env).profiles.get('default')?.changes?.closedStatusCodes;
  const file = join(await directory(t), 'profiles.json');
  const told = async (closedStatusCodes: string[]) => {
    await writeFile(file, JSON.stringify({ profiles: { default: { changes: { closedStatusCodes } } } }));
    return { GATEWAY_PROFILES_FILE: file };
  };
  assert.deepEqual(codesOf({}), ['13']);
  assert.deepEqual(codesOf(UAT), []);
  assert.deepEqual(codesOf({ ...UAT, ...(await told(['A1', 'B2'])) }), ['A1', 'B2']);
  assert.deepEqual(codesOf(await told([])), []);
});

it('the limit of a decoded answer is four times the limit of the encoded answer', () => {
  const limits = loadConfig({ GATEWAY_MAX_RESPONSE_BYTES: '4096' }).profiles.get('default')?.limits;
  assert.deepEqual([limits?.maxResponseBytes, limits?.maxDecodedBytes], [4_096, 16_384]);
});

describe('the refusal of a wrong value', () => {
  const cases: [string, string][] = [
    ['GATEWAY_ENVIRONMENT', 'staging'],
    ['GATEWAY_AUTH_URL', 'not an address'],
    ['GATEWAY_BASE_URL', 'ftp://x.example.com'],
    ['GATEWAY_AUTH_URL', 'http://user:password@x.example.com'],
    ['GATEWAY_BASE_URL', 'http://x.example.com/?q=1'],
    ['GATEWAY_CUSTOMER_ID', 'x'.repeat(17)],
    ['GATEWAY_CUSTOMER_ID', 'HÔUSE'],
    ['GATEWAY_SOFTWARE_PROVIDER_ID', 'ABCDE'],
    ['GATEWAY_TIME_ZONE', 'Mars/Olympus'],
    ['GATEWAY_TIME_ZONE', '+02:00'],
    ['GATEWAY_API_VERSION', '../other'],
    ['GATEWAY_CONNECTIONS', '0'],
    ['GATEWAY_CONNECT_TIMEOUT_MS', '1e3'],
    ['GATEWAY_NOT_PROCESSED_STATUSES', '200'],
    ['GATEWAY_SSN_MISMATCH', 'ignore'],
    ['GATEWAY_CA_FILE', '/nonexistent/ca.pem'],
    ['GATEWAY_CLIENT_SECRET_FILE', '/nonexistent/secret'],
    ['GATEWAY_PROFILES_FILE', '/nonexistent/profiles.json'],
    ['GIVE_UP_AFTER', '24 hours'],
    ['RESEND_AFTER', '16 minutes'],
    ['SUBMIT_TIMEOUT_MS', '1000'],
    ['BACKOFF_MAX_MS', '1'],
    ['GATEWAY_MAX_INQUIRIES_PER_SECOND', '-1'],
    ['WEBHOOK_GIVE_UP_AFTER', '3 days'],
    ['WORKFLOW_BUNDLE_FILE', '/nonexistent/bundle.js'],
    ['LEDGER_URL', 'mysql://x'],
    ['TASK_QUEUE', 'two words'],
    ['TEMPORAL_CONFIG_FILE', '/nonexistent/temporal.toml'],
    ['TEMPORAL_TLS_CLIENT_KEY_PATH', '/nonexistent/key.pem'],
  ];
  for (const [variable, value] of cases) {
    it(`names ${variable} but not its value: ${value.slice(0, 30)}`, () => {
      const problems = problemsOf(() => loadConfig({ [variable]: value }));
      const names = problems.map((problem) => problem.variable);
      assert.deepEqual(names, [variable]);
      assert.ok(value.length < 5 || !JSON.stringify(problems).includes(value));
    });
  }

  it('reports all wrong values at once', () => {
    const env = Object.fromEntries(cases);
    const told = new Set(variablesOf(env));
    assert.deepEqual([...told].toSorted(), Object.keys(env).toSorted());
  });
});

describe('the Temporal connection', () => {
  it('is read from profile file, variables and API key', async (t) => {
    const file = join(await directory(t), 'temporal.toml');
    await writeFile(file, '[profile.cloud]\naddress = "cloud.example.com:7233"\nnamespace = "a.b"\napi_key = "k"\n');
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' };
    const { temporal } = loadClientSettings(env);
    assert.equal(temporal.namespace, 'a.b');
    assert.deepEqual(temporal.connectionOptions, { address: 'cloud.example.com:7233', apiKey: 'k', tls: true });
    assert.equal(loadClientSettings({ ...env, TEMPORAL_NAMESPACE: 'c' }).temporal.namespace, 'c');
    const clear = loadClientSettings({ ...env, TEMPORAL_TLS: 'false' }).temporal.connectionOptions;
    assert.deepEqual(clear, { address: 'cloud.example.com:7233', apiKey: 'k' }, 'the SDK sends a key by TLS');
  });

  it('is refused by variable name, without a quote, if its file is not TOML', async (t) => {
    const file = join(await directory(t), 'temporal.toml');
    await writeFile(file, 'api_key = sentinel-of-a-key');
    const problems = problemsOf(() => loadClientSettings({ TEMPORAL_CONFIG_FILE: file }));
    assert.deepEqual(
      problems.map(({ variable }) => variable),
      ['TEMPORAL_CONFIG_FILE'],
    );
    assert.ok(!JSON.stringify(problems).includes('sentinel'));
  });
});

describe('secrets in files', () => {
  it('are read again at each use, without the final newline', async (t) => {
    const file = join(await directory(t), 'secret');
    await writeFile(file, 'first\n');
    const credentials = loadConfig({ GATEWAY_CLIENT_SECRET_FILE: file }).profiles.get('default')?.credentials;
    assert.equal((await credentials?.read())?.clientSecret, 'first');
    await writeFile(file, 'second\n');
    assert.equal((await credentials?.read())?.clientSecret, 'second');
  });

  it('are refused if they are empty or also given in a variable', async (t) => {
    const file = join(await directory(t), 'secret');
    await writeFile(file, '\n');
    await chmod(file, 0o600);
    assert.deepEqual(variablesOf({ GATEWAY_CLIENT_SECRET_FILE: file, GATEWAY_CLIENT_SECRET: 'x' }), [
      'GATEWAY_CLIENT_SECRET',
      'GATEWAY_CLIENT_SECRET_FILE',
    ]);
  });
});
