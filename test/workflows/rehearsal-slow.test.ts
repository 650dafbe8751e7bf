/** The rehearsal of docs/sandbox.md: `uat` on PostgreSQL, and a sandbox with the deployer's own certificate. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningSandbox, startSandbox } from '../../sandbox/server.ts';
import { inspectConfig } from '../../src/config/config.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createCertificate } from '../support/certificates.ts';
import { type Harness, journeyInput, startHarness, untilStatus } from '../support/journey-harness.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

let directory: string;
let postgres: PostgresServer;
let sandbox: RunningSandbox;
let harness: Harness;
let variables: Record<string, string>;
let ca: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-rehearsal-'));
  const file = (name: string) => join(directory, name);
  const { cert, key } = await createCertificate({ name: 'sandbox', altName: { ip: '127.0.0.1' } });
  ca = cert;
  await writeFile(file('ca.pem'), cert);
  await writeFile(file('tls.key'), key, { mode: 0o600 });
  sandbox = await startSandbox({ tlsCertFile: file('ca.pem'), tlsKeyFile: file('tls.key') });
  postgres = await startPostgres();
  const url = await postgres.url('rehearsal');
  const keyRing = await createKeyRing(file('keys.json'));
  const ledger = await openLedger({ url, environment: 'uat', keyRing, create: true });
  await ledger.close();
  variables = {
    GATEWAY_REHEARSAL: 'on',
    GATEWAY_AUTH_URL: sandbox.url,
    GATEWAY_BASE_URL: sandbox.url,
    GATEWAY_CA_FILE: file('ca.pem'),
    LEDGER_URL: url,
    LEDGER_ID: ledger.identity.ledgerId,
    KEY_RING_FILE: file('keys.json'),
    // A reset connection is an unknown outcome, which needs a decision.
    GATEWAY_HEADERS_TIMEOUT_MS: '5000',
  };
  harness = await startHarness({ isUat: true, env: variables });
});
after(async () => {
  await harness?.close();
  await sandbox?.close();
  await postgres?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

async function postedAt(path: string): Promise<{ customerTraceNumber: string }[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(new URL(path, sandbox.url), { ca }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    response.on('end', () => resolve(text));
  });
  asked.on('error', reject).end();
  return JSON.parse(await promise);
}

function withSsn(ssn: string) {
  const input = journeyInput({ stages: ['PREQUAL'] });
  return { ...input, applicants: input.applicants.map((one) => ({ ...one, ssn })) };
}

test('a journey completes in uat over TLS, and posts once', async () => {
  const { stages } = await (await harness.start(withSsn('912340001'))).result();
  assert.deepEqual(
    stages.map(({ state }) => state),
    ['record'],
  );
  assert.equal((await postedAt('/_sandbox/inquiries')).length, 1);
});

test('the sandbox’s faults work below TLS: a reset connection becomes an unknown outcome', async () => {
  const handle = await harness.start(withSsn('912344002'));
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  assert.equal(holds[0]?.failureType, 'OutcomeUnknown');
  assert.equal((await postedAt('/_sandbox/inquiries')).length, 2);
});

test('an issued SSN is never sent in a rehearsal', async () => {
  const before = (await postedAt('/_sandbox/requests')).length;
  await assert.rejects((await harness.start(withSsn('666450001'))).result());
  assert.equal((await postedAt('/_sandbox/requests')).length, before);
});

test('the sandbox’s answer is held without the rehearsal’s setting', async () => {
  const strict = await startHarness({
    isUat: true,
    env: { ...variables, GATEWAY_REHEARSAL: 'off', GATEWAY_SSNS_WITH_9: 'send' },
  });
  try {
    const { holds } = await untilStatus(await strict.start(withSsn('912340001')), ({ state }) => state === 'held');
    assert.equal(holds[0]?.failureType, 'UnexpectedResponse');
  } finally {
    await strict.close();
  }
});

test('a rehearsal accepts only stand-in gateways, and is refused in production', async () => {
  const { rehearsal, environment } = harness.config.profiles.get('default') ?? assert.fail();
  assert.deepEqual({ rehearsal, environment }, { rehearsal: true, environment: 'uat' });
  const problems = (change: Record<string, string>) => {
    const { problems: found } = inspectConfig({ GATEWAY_ENVIRONMENT: 'uat', ...variables, ...change });
    return found.map(({ variable, rule }) => `${variable} ${rule}`).join('\n');
  };
  assert.match(problems({ GATEWAY_BASE_URL: 'https://gateway.example.com' }), /GATEWAY_BASE_URL must be a stand-in/);
  assert.doesNotMatch(problems({ GATEWAY_BASE_URL: 'https://gateway.credit.svc.cluster.local' }), /GATEWAY_BASE_URL/);
  assert.match(problems({ GATEWAY_ENVIRONMENT: 'production' }), /GATEWAY_REHEARSAL must be off in production/);
});
