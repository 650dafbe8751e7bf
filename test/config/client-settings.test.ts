import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type ClientUse, loadClientSettings } from '../../src/config/client.ts';
import { variablesOf } from './problems.ts';

type Env = Record<string, string>;

const directory = mkdtempSync(join(tmpdir(), 'client-settings-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const tokenFile = join(directory, 'token');
writeFileSync(tokenFile, 'a-token\n', { mode: 0o600 });

const PRODUCTION: Env = {
  GATEWAY_ENVIRONMENT: 'production',
  TEMPORAL_TLS: 'true',
  CODEC_SERVER_URL: 'https://codec.example.com/',
  CODEC_SERVER_TOKEN_FILE: tokenFile,
};
const { CODEC_SERVER_URL: _url, CODEC_SERVER_TOKEN_FILE: _file, ...WITHOUT_CODEC_SERVER } = PRODUCTION;
const UAT: Env = { GATEWAY_ENVIRONMENT: 'uat' };
const LEDGER: Env = { LEDGER_URL: 'file:ledger.db', LEDGER_ID: 'ledger-1', KEY_RING_FILE: 'keys.json' };

describe('a client in production', () => {
  it('uses the codec server', async () => {
    const { payloads } = loadClientSettings(PRODUCTION);
    assert.ok(payloads.kind === 'codecServer');
    assert.equal(payloads.access.url, 'https://codec.example.com');
    assert.equal(await payloads.access.readToken?.(), 'a-token');
  });

  it('must use TLS to Temporal', () => {
    const inTheClear = { ...PRODUCTION, TEMPORAL_TLS: 'false', TEMPORAL_ADDRESS: 'temporal.example.com:7233' };
    assert.deepEqual(variablesOf(() => loadClientSettings(inTheClear)).toSorted(), ['TEMPORAL_TLS']);
  });

  const beside: ClientUse = { besideLedger: true };
  const cases: [string, Env, string[], string[]][] = [
    // The settings, the variables refused for a client, and those refused beside the ledger.
    ['a key ring', { ...PRODUCTION, KEY_RING_FILE: 'keys.json' }, ['KEY_RING_FILE'], []],
    ['a ledger', { ...PRODUCTION, LEDGER_URL: 'file:ledger.db' }, ['LEDGER_URL'], []],
    ['a ledger in a file', { ...PRODUCTION, LEDGER_URL_FILE: 'ledger-url' }, ['LEDGER_URL_FILE'], []],
    [
      'keys and ledger in place of a codec server',
      { ...WITHOUT_CODEC_SERVER, ...LEDGER },
      ['KEY_RING_FILE', 'LEDGER_URL'],
      [],
    ],
    ['neither codec server nor keys', WITHOUT_CODEC_SERVER, ['CODEC_SERVER_URL'], ['CODEC_SERVER_URL']],
    [
      'no token for the codec server',
      { ...PRODUCTION, CODEC_SERVER_TOKEN_FILE: '' },
      ['CODEC_SERVER_TOKEN_FILE'],
      ['CODEC_SERVER_TOKEN_FILE'],
    ],
    [
      'a token in a variable',
      { ...PRODUCTION, CODEC_SERVER_TOKEN_FILE: '', CODEC_SERVER_TOKEN: 'a-token' },
      ['CODEC_SERVER_TOKEN'],
      ['CODEC_SERVER_TOKEN'],
    ],
    [
      'a codec server over http',
      { ...PRODUCTION, CODEC_SERVER_URL: 'http://codec.example.com' },
      ['CODEC_SERVER_URL'],
      ['CODEC_SERVER_URL'],
    ],
    [
      'a codec server on this machine',
      { ...PRODUCTION, CODEC_SERVER_URL: 'https://localhost' },
      ['CODEC_SERVER_URL'],
      ['CODEC_SERVER_URL'],
    ],
    ['no encryption', { ...PRODUCTION, PAYLOAD_ENCRYPTION: 'off' }, ['PAYLOAD_ENCRYPTION'], ['PAYLOAD_ENCRYPTION']],
  ];
  for (const [what, env, asClient, besideLedger] of cases) {
    it(`is refused with ${what}, and ${besideLedger.length > 0 ? 'also' : 'not'} beside the ledger`, () => {
      assert.deepEqual(variablesOf(() => loadClientSettings(env)).toSorted(), asClient);
      assert.deepEqual(variablesOf(() => loadClientSettings(env, beside)).toSorted(), besideLedger);
    });
  }

  it('needs no payload settings if the program has its own data converter', () => {
    assert.deepEqual(variablesOf(() => loadClientSettings(WITHOUT_CODEC_SERVER, { dataConverter: {} })).toSorted(), []);
  });
});

describe('a client outside production', () => {
  it('prefers the codec server to a key ring', () => {
    const codec = { CODEC_SERVER_URL: 'http://127.0.0.1:7281/a-path', CODEC_SERVER_TOKEN: 'a-token' };
    for (const environment of [{}, UAT]) {
      const env = { ...environment, ...LEDGER, ...codec };
      assert.equal(loadClientSettings(env).payloads.kind, 'codecServer');
    }
  });

  it('uses the key ring if no codec server is configured', () => {
    assert.deepEqual(loadClientSettings(LEDGER).payloads, { kind: 'keyRing', file: 'keys.json' });
    const { payloads } = loadClientSettings({ ...UAT, ...LEDGER });
    assert.deepEqual(payloads, { kind: 'keyRing', file: 'keys.json' });
  });

  it('sends payloads in the clear only in the sandbox and only with PAYLOAD_ENCRYPTION off', () => {
    assert.deepEqual(loadClientSettings({ PAYLOAD_ENCRYPTION: 'off' }).payloads, { kind: 'clear' });
    for (const env of [{}, { PAYLOAD_ENCRYPTION: 'on' }]) {
      assert.deepEqual(loadClientSettings(env).payloads, { kind: 'keyRing', file: '.credit-journey/keys.json' });
    }
    assert.deepEqual(variablesOf(() => loadClientSettings(UAT)).toSorted(), ['CODEC_SERVER_URL']);
  });

  const wrong: [string, Env, string[]][] = [
    ['an invalid codec server address', { CODEC_SERVER_URL: 'codec' }, ['CODEC_SERVER_URL']],
    ['http to another machine', { ...UAT, CODEC_SERVER_URL: 'http://codec.example.com' }, ['CODEC_SERVER_URL']],
    [
      'a token in both a variable and a file',
      { CODEC_SERVER_TOKEN: 'a-token', CODEC_SERVER_TOKEN_FILE: tokenFile },
      ['CODEC_SERVER_TOKEN'],
    ],
    ['a missing token file', { CODEC_SERVER_TOKEN_FILE: '/nonexistent/token' }, ['CODEC_SERVER_TOKEN_FILE']],
    ['an invalid certificate authority', { CODEC_SERVER_CA_FILE: tokenFile }, ['CODEC_SERVER_CA_FILE']],
  ];
  for (const [what, env, variables] of wrong) {
    it(`is refused with ${what}`, () => {
      const whole = { CODEC_SERVER_URL: 'http://127.0.0.1:7281', ...env };
      assert.deepEqual(variablesOf(() => loadClientSettings(whole)).toSorted(), variables);
    });
  }
});
