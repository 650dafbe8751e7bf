import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadApiSettings } from '../../src/api/settings.ts';
import { DEFAULT_PORTS } from '../../src/config/variables.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { KEY_SET } from './fixtures.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-api-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const keySet = join(directory, 'jwks.json');
writeFileSync(keySet, JSON.stringify(KEY_SET));

const SANDBOX = {
  API_JWKS_FILE: keySet,
  API_JWT_ISSUER: 'https://issuer.example.com',
  API_JWT_AUDIENCE: 'api-7',
};
const PRODUCTION = {
  ...SANDBOX,
  GATEWAY_ENVIRONMENT: 'production',
  KEY_RING_FILE: 'keys.json',
  LEDGER_URL: 'file:ledger.db',
  LEDGER_ID: 'ledger-1',
  TEMPORAL_TLS: 'true',
  TEMPORAL_ADDRESS: 'temporal.example.com:7233',
};

/** Returns the invalid variables in alphabetical order. */
function faults(env: Record<string, string>): string[] {
  try {
    loadApiSettings(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const value of Object.values(env)) assert.ok(value.length < 12 || !error.message.includes(value), value);
    return [...new Set(error.problems.map(({ variable }) => variable))].toSorted();
  }
}

test('the sandbox needs a key set, an issuer and an audience', () => {
  const { options, ledgerAccess } = loadApiSettings(SANDBOX);
  assert.deepEqual([options.host, options.port, options.byClaim], ['127.0.0.1', DEFAULT_PORTS.api, 'sub']);
  assert.equal(ledgerAccess.keyRingFile, '.credit-journey/keys.json');
  assert.deepEqual(faults({}), ['API_JWKS_URL', 'API_JWT_AUDIENCE', 'API_JWT_ISSUER']);
});

test('the API does not start without the keys of those who decide, where decisions need a proof', () => {
  assert.deepEqual(faults({ ...SANDBOX, DECISION_TRUST: 'proof' }), ['DECISION_JWKS_FILE']);
  assert.deepEqual(faults({ ...SANDBOX, DECISION_TRUST: 'proof', DECISION_JWKS_FILE: keySet }), []);
});

test('the API knows the profiles of its own environment: without a profiles file only the default one', () => {
  const file = join(directory, 'profiles.json');
  const named = { ...SANDBOX, GATEWAY_PROFILES_FILE: file };
  const of = (environment: string) => ({ environment, customerId: 'EAST0001', credentials: 'not on this machine' });
  writeFileSync(file, JSON.stringify({ profiles: { default: {}, east: of('sandbox'), west: of('production') } }));
  assert.deepEqual(loadApiSettings(named).options.profiles, ['default', 'east']);
  assert.deepEqual(loadApiSettings(SANDBOX).options.profiles, ['default']);
  writeFileSync(file, '{');
  assert.deepEqual(faults(named), ['GATEWAY_PROFILES_FILE']);
});

test('operators sign in by a proxy’s header, or by a token if the API listens on this machine only', () => {
  const behind = { API_TOKEN_HEADER: 'X-Forwarded-Access-Token', API_TRUSTED_PROXIES: '10.0.0.1' };
  assert.equal(loadApiSettings({ ...SANDBOX, ...behind }).options.tokenHeader, 'x-forwarded-access-token');
  assert.equal(loadApiSettings({ ...SANDBOX, API_SIGN_IN: 'token' }).options.signIn, 'token');
  assert.equal(loadApiSettings(SANDBOX).options.signIn, undefined);
  assert.deepEqual(faults({ ...SANDBOX, API_SIGN_IN: 'token', API_HOST: '0.0.0.0' }), ['API_HOST']);
  const { options } = loadApiSettings({ ...SANDBOX, API_TEMPORAL_UI: 'http://127.0.0.1:8233/' });
  assert.equal(options.temporalUi, 'http://127.0.0.1:8233');
  const runbook = { RUNBOOK_URL: 'https://wiki.example.com/runbook/' };
  assert.equal(loadApiSettings({ ...SANDBOX, ...runbook }).options.runbookUrl, 'https://wiki.example.com/runbook');
  const signingOut = (path: string) => loadApiSettings({ ...SANDBOX, API_SIGN_OUT_PATH: path }).options.signOutPath;
  assert.equal(signingOut('/oauth2/sign_out?rd=%2F'), '/oauth2/sign_out?rd=%2F');
  for (const path of [
    '//evil.example.com',
    'https://evil.example.com',
    '/\\\\evil.example.com',
    'oauth2',
    'javascript:0',
  ]) {
    for (const name of ['API_SIGN_IN_PATH', 'API_SIGN_OUT_PATH']) {
      assert.deepEqual(faults({ ...SANDBOX, [name]: path }), [name], path);
    }
  }
});

describe('the API in production', () => {
  test('accepts a complete configuration', () => {
    assert.deepEqual(faults(PRODUCTION), []);
  });

  const cases: [what: string, change: Record<string, string>, variables: string[]][] = [
    ['a key set over http', { API_JWKS_FILE: '', API_JWKS_URL: 'http://keys.example.com' }, ['API_JWKS_URL']],
    ['two key sets', { API_JWKS_URL: 'https://keys.example.com' }, ['API_JWKS_URL']],
    ['to listen beyond this machine without TLS', { API_HOST: '0.0.0.0' }, ['API_TLS_CERT_FILE']],
    ['a certificate without its key', { API_TLS_CERT_FILE: keySet }, ['API_TLS_KEY_FILE']],
    [
      'the settings of a codec server client',
      { CODEC_SERVER_URL: 'https://codec.example.com' },
      ['CODEC_SERVER_TOKEN_FILE', 'CODEC_SERVER_URL'],
    ],
    ['to run without a ledger', { LEDGER_URL: '', LEDGER_ID: '' }, ['LEDGER_ID', 'LEDGER_URL']],
    ['Temporal without TLS', { TEMPORAL_TLS: 'false' }, ['TEMPORAL_TLS']],
    ['signature algorithms with a shared secret', { API_JWT_ALGORITHMS: 'HS256' }, ['API_JWT_ALGORITHMS']],
    [
      'a token header without the addresses of its proxy',
      { API_TOKEN_HEADER: 'X-Forwarded-Access-Token' },
      ['API_TRUSTED_PROXIES'],
    ],
    [
      'a standard header as the token header',
      { API_TOKEN_HEADER: 'Authorization', API_TRUSTED_PROXIES: '10.0.0.1' },
      ['API_TOKEN_HEADER'],
    ],
    ['to trade tokens for cookies', { API_SIGN_IN: 'token' }, ['API_SIGN_IN']],
    ['a runbook link that is not a web address', { RUNBOOK_URL: 'javascript:alert(1)' }, ['RUNBOOK_URL']],
    ['a link to a Temporal UI without TLS', { API_TEMPORAL_UI: 'http://ui.example.com' }, ['API_TEMPORAL_UI']],
    ['an invalid claim name', { API_BY_CLAIM: 'a b' }, ['API_BY_CLAIM']],
    ['a log level that prints whole tasks', { LOG_LEVEL: 'TRACE' }, ['LOG_LEVEL']],
    ['to trust any certificate', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, ['NODE_TLS_REJECT_UNAUTHORIZED']],
  ];
  for (const [what, change, variables] of cases) {
    test(`refuses ${what}`, () => assert.deepEqual(faults({ ...PRODUCTION, ...change }), variables));
  }
});
