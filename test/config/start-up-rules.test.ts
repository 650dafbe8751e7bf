/** Tests each row of "What each environment refuses" in docs/configuration.md. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadCodecServerSettings } from '../../src/codec/settings.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/model/problems.ts';
import type { Environment } from '../../src/model/products.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-rules-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function file(text: string, mode = 0o600): string {
  const path = join(directory, `file-${++files}`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

type Env = Record<string, string>;

const BASE: Env = {
  GATEWAY_AUTH_URL: 'https://auth.example.com',
  GATEWAY_BASE_URL: 'https://gateway.example.com',
  GATEWAY_CLIENT_ID: 'a-client',
  GATEWAY_CLIENT_SECRET_FILE: file('a-secret'),
  GATEWAY_CUSTOMER_ID: 'CUST0001',
  GATEWAY_SOFTWARE_PROVIDER_ID: 'SP01',
  GATEWAY_TIME_ZONE: 'America/Chicago',
  LEDGER_URL: 'postgres://ledger.example.com/credit?sslmode=verify-full',
  LEDGER_ID: 'ledger-1',
  KEY_RING_FILE: 'keys.json',
  TEMPORAL_ADDRESS: 'temporal.example.com:7233',
  TEMPORAL_TLS: 'true',
  // The namespace alone proves a consent. `proof-keys.test.ts` covers the rule about this setting.
  CONSENT_TRUST: 'namespace',
};

const ENVIRONMENTS = {
  sandbox: {},
  uat: { ...BASE, GATEWAY_ENVIRONMENT: 'uat' },
  production: { ...BASE, GATEWAY_ENVIRONMENT: 'production' },
} satisfies Record<Environment, Env>;

function refused(env: Env, load: (env: Env) => unknown = loadConfig): string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    for (const value of Object.values(env)) {
      assert.ok(value.length < 12 || !error.message.includes(value), `${error.message} shows a value`);
    }
    return error.problems.map(({ variable }) => variable);
  }
}

const without = (variable: string): Env => ({ [variable]: '' });
const profiles = (of: object) => ({ GATEWAY_PROFILES_FILE: file(JSON.stringify({ profiles: of })) });

/** The fault, the variable in the refusal, the environments that refuse it, and the settings with the fault. */
type Rule = [what: string, names: string, by: readonly Environment[], change: Env];

const ALL: readonly Environment[] = ['sandbox', 'uat', 'production'];
const OUTSIDE: readonly Environment[] = ['uat', 'production'];
const PRODUCTION: readonly Environment[] = ['production'];

const REQUIRED = [
  'GATEWAY_AUTH_URL',
  'GATEWAY_BASE_URL',
  'GATEWAY_CLIENT_ID',
  'GATEWAY_CUSTOMER_ID',
  'GATEWAY_SOFTWARE_PROVIDER_ID',
  'GATEWAY_TIME_ZONE',
  'LEDGER_URL',
  'LEDGER_ID',
  'KEY_RING_FILE',
];

const RULES: readonly Rule[] = [
  ['a gateway that may be real', 'GATEWAY_BASE_URL', ['sandbox'], { GATEWAY_BASE_URL: 'https://gateway.example.com' }],
  ['a token service over http on a public address', 'GATEWAY_AUTH_URL', ALL, { GATEWAY_AUTH_URL: 'http://192.0.2.1' }],
  ...REQUIRED.map((name) => [`no ${name}`, name, OUTSIDE, without(name)] satisfies Rule),
  ['a setting that sends made-up SSNs', 'GATEWAY_SSNS_WITH_9', PRODUCTION, { GATEWAY_SSNS_WITH_9: 'send' }],
  ['no client secret', 'GATEWAY_CLIENT_SECRET', OUTSIDE, without('GATEWAY_CLIENT_SECRET_FILE')],
  ['http to another machine', 'GATEWAY_AUTH_URL', ALL, { GATEWAY_AUTH_URL: 'http://auth.example.com' }],
  ['http to this machine', 'GATEWAY_BASE_URL', PRODUCTION, { GATEWAY_BASE_URL: 'http://127.0.0.1:7280' }],
  ['a sandbox as its gateway', 'GATEWAY_BASE_URL', PRODUCTION, { GATEWAY_BASE_URL: 'https://sandbox.example.com' }],
  ['disabled certificate checks', 'NODE_TLS_REJECT_UNAUTHORIZED', OUTSIDE, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ['payloads in the clear', 'PAYLOAD_ENCRYPTION', OUTSIDE, { PAYLOAD_ENCRYPTION: 'off' }],
  ['a log level that prints whole tasks', 'LOG_LEVEL', OUTSIDE, { LOG_LEVEL: 'TRACE' }],
  ['an unknown log level', 'LOG_LEVEL', ALL, { LOG_LEVEL: 'LOUD' }],
  ['debugging output of Node', 'NODE_DEBUG', OUTSIDE, { NODE_DEBUG: 'http' }],
  ['a debugger', 'NODE_OPTIONS', PRODUCTION, { NODE_OPTIONS: '--inspect' }],
  ['a file of TLS session keys', 'NODE_OPTIONS', PRODUCTION, { NODE_OPTIONS: '--tls-keylog=x' }],
  ['such a file by another spelling', 'NODE_OPTIONS', PRODUCTION, { NODE_OPTIONS: '--tls_keylog=x' }],
  ['another environment’s task queue', 'TASK_QUEUE', ['sandbox', 'production'], { TASK_QUEUE: 'credit-journeys-uat' }],
  [
    'a host that two environments share',
    'GATEWAY_PROFILES_FILE',
    ALL,
    profiles({
      one: { environment: 'uat', customerId: 'U1', baseUrl: 'https://shared.example.com' },
      two: { environment: 'production', customerId: 'P1', baseUrl: 'https://shared.example.com' },
    }),
  ],
  [
    'a client secret in a variable',
    'GATEWAY_CLIENT_SECRET',
    PRODUCTION,
    { GATEWAY_CLIENT_SECRET_FILE: '', GATEWAY_CLIENT_SECRET: 'sentinel-secret' },
  ],
  [
    'a database password in a variable',
    'LEDGER_URL',
    PRODUCTION,
    { LEDGER_URL: 'postgres://u:sentinel@ledger.example.com/credit?sslmode=verify-full' },
  ],
  ...['TEMPORAL_API_KEY', 'TEMPORAL_GRPC_META_AUTHORIZATION', 'PGPASSWORD', 'AWS_SECRET_ACCESS_KEY'].map(
    (name) => [`${name} in a variable`, name, PRODUCTION, { [name]: 'sentinel-secret' }] satisfies Rule,
  ),
  [
    'a client secret in a world-readable file',
    'GATEWAY_CLIENT_SECRET_FILE',
    PRODUCTION,
    { GATEWAY_CLIENT_SECRET_FILE: file('a-secret', 0o644) },
  ],
  [
    'a long client secret in place of its file',
    'GATEWAY_CLIENT_SECRET_FILE',
    ALL,
    { GATEWAY_CLIENT_SECRET_FILE: 'sentinel'.repeat(60) },
  ],
  ['a directory of a name that is too long', 'PORTFOLIO_DIR', ALL, { PORTFOLIO_DIR: `/${'sentinel'.repeat(60)}` }],
  [
    'a damaged certificate authority',
    'GATEWAY_CA_FILE',
    ALL,
    { GATEWAY_CA_FILE: file('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n') },
  ],
  ['a blank behind an address', 'GATEWAY_BASE_URL', ALL, { GATEWAY_BASE_URL: 'https://gateway.example.com ' }],
  [
    'a ledger address in a world-readable file',
    'LEDGER_URL_FILE',
    PRODUCTION,
    {
      LEDGER_URL: '',
      LEDGER_URL_FILE: file('postgres://u:p@ledger.example.com/credit?sslmode=verify-full', 0o644),
    },
  ],
  [
    'a world-readable Temporal configuration',
    'TEMPORAL_CONFIG_FILE',
    PRODUCTION,
    { TEMPORAL_CONFIG_FILE: file('[profile.default]\n', 0o644) },
  ],
  [
    'traces in the clear to another machine',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    OUTSIDE,
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example.com' },
  ],
  [
    'a collector’s credentials in a variable',
    'OTEL_EXPORTER_OTLP_HEADERS',
    PRODUCTION,
    { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a-secret' },
  ],
  ['Temporal without TLS', 'TEMPORAL_TLS', PRODUCTION, { TEMPORAL_TLS: 'false' }],
  ['a database without TLS', 'LEDGER_URL', PRODUCTION, { LEDGER_URL: 'postgres://ledger.example.com/credit' }],
  ['a database at PGHOST', 'LEDGER_URL', PRODUCTION, { LEDGER_URL: 'postgres:///credit' }],
  [
    'a database whose TLS a later parameter turns off',
    'LEDGER_URL',
    PRODUCTION,
    { LEDGER_URL: 'postgres://ledger.example.com/credit?sslmode=verify-full&sslmode=disable' },
  ],
  [
    'a database at a later host',
    'LEDGER_URL',
    PRODUCTION,
    { LEDGER_URL: 'postgres:///credit?host=127.0.0.1&host=ledger.example.com' },
  ],
  [
    'a database connection without certificate checks',
    'LEDGER_URL',
    PRODUCTION,
    { LEDGER_URL: 'postgres://ledger.example.com/credit?sslmode=no-verify' },
  ],
];

describe('start-up', () => {
  for (const environment of ALL) {
    test(`succeeds in ${environment} with a complete configuration`, () => {
      assert.deepEqual(refused(ENVIRONMENTS[environment]), []);
    });
  }

  for (const [what, names, by, change] of RULES) {
    test(`is refused with ${what} only in ${by.join(', ')}`, () => {
      const found = ALL.filter((environment) => refused({ ...ENVIRONMENTS[environment], ...change }).includes(names));
      assert.deepEqual(found, by);
    });
  }

  test('is refused with all problems at once', () => {
    const told = new Set(
      refused({ ...ENVIRONMENTS.production, ...without('LEDGER_ID'), TEMPORAL_TLS: 'false', NODE_DEBUG: 'tls' }),
    );
    assert.deepEqual([...told].toSorted(), ['LEDGER_ID', 'NODE_DEBUG', 'TEMPORAL_TLS']);
  });

  test('needs no TLS for a database or Temporal on this machine or over a Unix socket', () => {
    for (const url of ['postgres://127.0.0.1/credit', 'postgres:///credit?host=/var/run/postgresql', 'file:l.db']) {
      const env = { ...ENVIRONMENTS.production, LEDGER_URL: url, TEMPORAL_TLS: '', TEMPORAL_ADDRESS: 'localhost:7233' };
      assert.deepEqual(refused(env), []);
    }
  });

  test('in the sandbox accepts a stand-in gateway on a private network', () => {
    for (const host of ['sandbox:7280', '10.0.0.7:7280', '172.20.0.3', 'sandbox.example.com', 'localhost:1']) {
      assert.deepEqual(refused({ GATEWAY_BASE_URL: `http://${host}`, GATEWAY_AUTH_URL: `http://${host}` }), []);
    }
  });
});

describe('the codec server in production', () => {
  const PRODUCTION_CODEC: Env = {
    GATEWAY_ENVIRONMENT: 'production',
    KEY_RING_FILE: 'keys.json',
    CODEC_JWKS_URL: 'https://keys.example.com',
    CODEC_JWT_ISSUER: 'https://issuer.example.com',
    CODEC_JWT_AUDIENCE: 'codec-server',
  };
  const cases: [string, Env, string][] = [
    ['a key set over http', { CODEC_JWKS_URL: 'http://keys.example.com' }, 'CODEC_JWKS_URL'],
    ['no key set for tokens', { CODEC_JWKS_URL: '' }, 'CODEC_JWKS_URL'],
    ['no TLS on an address that other machines can reach', { CODEC_SERVER_HOST: '0.0.0.0' }, 'CODEC_TLS_CERT_FILE'],
    ['a UI origin over http', { CODEC_SERVER_UI_ORIGINS: 'http://ui.example.com' }, 'CODEC_SERVER_UI_ORIGINS'],
    [
      'a world-readable private key',
      { CODEC_TLS_CERT_FILE: file('x'), CODEC_TLS_KEY_FILE: file('x', 0o644) },
      'CODEC_TLS_KEY_FILE',
    ],
    ['disabled certificate checks', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'NODE_TLS_REJECT_UNAUTHORIZED'],
    ['a log level that prints whole tasks', { LOG_LEVEL: 'TRACE' }, 'LOG_LEVEL'],
  ];
  for (const [what, change, variable] of cases) {
    test(`refuses ${what}`, () => {
      assert.deepEqual(refused(PRODUCTION_CODEC, loadCodecServerSettings), []);
      assert.ok(refused({ ...PRODUCTION_CODEC, ...change }, loadCodecServerSettings).includes(variable));
    });
  }
});
