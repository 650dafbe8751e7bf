import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { loadCodecServerSettings } from '../../src/codec/settings.ts';
import { DEFAULT_PORTS } from '../../src/config/variables.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { spawnCli } from '../cli/run-cli.ts';
import { createCertificate } from '../support/certificates.ts';
import { call, clear, directory, keySet } from './fixtures.ts';

const PRODUCTION = {
  GATEWAY_ENVIRONMENT: 'production',
  KEY_RING_FILE: '/run/secrets/keys.json',
  CODEC_JWKS_FILE: keySet,
  CODEC_JWT_ISSUER: 'https://issuer.example.com',
  CODEC_JWT_AUDIENCE: 'codec-server',
};

/** Returns the names of the wrong variables, in order. */
function faults(env: Record<string, string>): string[] {
  try {
    loadCodecServerSettings(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const value of Object.values(env)) assert.ok(value.length < 12 || !error.message.includes(value), value);
    return error.problems.map(({ variable }) => variable);
  }
}

test('the sandbox needs no variables', () => {
  const { options, keyRingFile } = loadCodecServerSettings({});
  assert.deepEqual(options.authentication, { kind: 'path', roles: undefined });
  assert.deepEqual(
    [options.host, options.port, options.namespaces],
    ['127.0.0.1', DEFAULT_PORTS.codecServer, ['default']],
  );
  assert.deepEqual(options.uiOrigins, ['http://127.0.0.1:8233', 'http://localhost:8233']);
  assert.equal(keyRingFile, '.credit-journey/keys.json');
});

test('the production settings authenticate by tokens', () => {
  const { options } = loadCodecServerSettings({ ...PRODUCTION, CODEC_NAMESPACES: 'loans, cards' });
  assert.equal(options.authentication.kind, 'jwt');
  assert.deepEqual(options.namespaces, ['loans', 'cards']);
  assert.deepEqual(options.uiOrigins, []);
});

test('the TLS certificate and key are read from their files', async () => {
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const { cert, key } = await createCertificate({ name: 'localhost' });
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const env = { ...PRODUCTION, CODEC_TLS_CERT_FILE: certFile, CODEC_TLS_KEY_FILE: keyFile };
  const { tls } = loadCodecServerSettings(env).options;
  assert.deepEqual([String(tls?.cert), String(tls?.key)], [cert, key]);
});

describe('start-up is refused because of', () => {
  const cases: [string, Record<string, string>, string[]][] = [
    ['production without tokens', { ...PRODUCTION, CODEC_JWKS_FILE: '' }, ['CODEC_JWKS_URL']],
    [
      'path authentication on an address that other machines can reach',
      { CODEC_SERVER_HOST: '0.0.0.0' },
      ['CODEC_SERVER_HOST'],
    ],
    [
      'a key set over http',
      { ...PRODUCTION, CODEC_JWKS_FILE: '', CODEC_JWKS_URL: 'http://keys.example.com' },
      ['CODEC_JWKS_URL'],
    ],
    ['two sources of the key set', { ...PRODUCTION, CODEC_JWKS_URL: 'https://keys.example.com' }, ['CODEC_JWKS_URL']],
    [
      'a missing issuer and audience',
      { ...PRODUCTION, CODEC_JWT_ISSUER: '', CODEC_JWT_AUDIENCE: '' },
      ['CODEC_JWT_ISSUER', 'CODEC_JWT_AUDIENCE'],
    ],
    ['an HMAC algorithm', { ...PRODUCTION, CODEC_JWT_ALGORITHMS: 'RS256,HS256' }, ['CODEC_JWT_ALGORITHMS']],
    ['a network without TLS', { ...PRODUCTION, CODEC_SERVER_HOST: '0.0.0.0' }, ['CODEC_TLS_CERT_FILE']],
    ['a TLS key without a certificate', { ...PRODUCTION, CODEC_TLS_KEY_FILE: keySet }, ['CODEC_TLS_CERT_FILE']],
    ['an invalid proxy address', { CODEC_TRUSTED_PROXIES: '10.0.0.0/8,anybody' }, ['CODEC_TRUSTED_PROXIES']],
    ['a wildcard origin', { CODEC_SERVER_UI_ORIGINS: '*' }, ['CODEC_SERVER_UI_ORIGINS']],
    ['an origin with a path', { CODEC_SERVER_UI_ORIGINS: 'https://ui.example.com/' }, ['CODEC_SERVER_UI_ORIGINS']],
    [
      'an origin over http',
      { ...PRODUCTION, CODEC_SERVER_UI_ORIGINS: 'http://ui.example.com' },
      ['CODEC_SERVER_UI_ORIGINS'],
    ],
    ['an unknown role', { CODEC_PATH_ROLES: 'everything' }, ['CODEC_PATH_ROLES']],
    ['a missing key ring', { ...PRODUCTION, KEY_RING_FILE: '' }, ['KEY_RING_FILE']],
    ['an invalid port', { CODEC_SERVER_PORT: '70000' }, ['CODEC_SERVER_PORT']],
    [
      'several problems, which are all reported',
      {
        GATEWAY_ENVIRONMENT: 'production',
        CODEC_SERVER_HOST: '0.0.0.0',
        CODEC_NAMESPACES: 'a b',
        CODEC_RATE_PER_SECOND: 'many',
      },
      [
        'CODEC_NAMESPACES',
        'CODEC_JWKS_URL',
        'CODEC_SERVER_HOST',
        'CODEC_TLS_CERT_FILE',
        'CODEC_RATE_PER_SECOND',
        'KEY_RING_FILE',
      ],
    ],
  ];
  for (const [title, env, variables] of cases) {
    test(title, () => assert.deepEqual(faults(env), variables));
  }

  test('a key set that is empty, malformed or has a private or symmetric key', () => {
    const file = join(directory, 'bad.json');
    for (const content of [
      '{"keys":[]}',
      '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}',
      '{"keys":[{"kty":"RSA","d":"x"}]}',
      '{',
    ]) {
      writeFileSync(file, content);
      assert.deepEqual(faults({ ...PRODUCTION, CODEC_JWKS_FILE: file }), ['CODEC_JWKS_FILE']);
    }
  });
});

test('the command prints its address in one line and exits on SIGTERM', { timeout: 20_000 }, async () => {
  const keys = join(directory, 'keys.json');
  await createKeyRing(keys);
  const env = { KEY_RING_FILE: keys, CODEC_AUDIT_FILE: join(directory, 'cli-audit.log') };
  const child = spawnCli(['codec-server', '--port', '0'], { env, cwd: directory });
  const exit = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  const { endpoint, url, authentication } = JSON.parse(line);
  assert.equal(authentication, 'path');
  const { json } = await call(`${endpoint}/encode`, { namespace: 'default', body: { payloads: [clear('x')] } });
  assert.equal(json.payloads.length, 1);
  assert.ok(endpoint.startsWith(`${url}/`));
  child.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
});
