import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { CONSENT_KEYS } from '../support/consent-proofs.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-consent-keys-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const keys = file('keys.json', CONSENT_KEYS);
const proving = file('profiles.json', {
  profiles: { proving: { environment: 'sandbox', customerId: 'P1', consentTrust: 'proof' } },
});

function rulesOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    const ours = error.problems.filter(({ variable }) => variable.startsWith('CONSENT_'));
    return ours.map(({ variable, rule }) => `${variable} ${rule}`);
  }
}

test('consents are believed as the environment says, and each profile may say otherwise', () => {
  const trustOf = (env: NodeJS.ProcessEnv) =>
    [...loadConfig(env).profiles.values()].map(({ name, consentTrust }) => `${name} ${consentTrust}`);
  assert.deepEqual(trustOf({}), ['default namespace']);
  assert.deepEqual(trustOf({ CONSENT_TRUST: 'proof', CONSENT_JWKS_FILE: keys }), ['default proof']);
  assert.deepEqual(trustOf({ GATEWAY_PROFILES_FILE: proving, CONSENT_JWKS_FILE: keys }), [
    'default namespace',
    'proving proof',
  ]);
});

test('in production a grant needs a proof unless the profile says otherwise', () => {
  const env = { GATEWAY_ENVIRONMENT: 'production' };
  assert.match(rulesOf(env)[0] ?? '', /^CONSENT_JWKS_FILE is required: profile default/);
  assert.deepEqual(rulesOf({ ...env, CONSENT_TRUST: 'namespace' }), []);
  assert.deepEqual(rulesOf({ ...env, CONSENT_JWKS_FILE: keys }), []);
});

test('proofs without keys, and keys that cannot be used or are no public ones, are refused at the start', async () => {
  assert.match(rulesOf({ GATEWAY_PROFILES_FILE: proving })[0] ?? '', /^CONSENT_JWKS_FILE is required: profile proving/);
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const wrong = [file('private.json', { keys: [await exportJWK(privateKey)] }), join(directory, 'missing.json')];
  for (const path of wrong) {
    assert.match(rulesOf({ CONSENT_JWKS_FILE: path })[0] ?? '', /^CONSENT_JWKS_FILE must name a file with public keys/);
  }
  assert.match(rulesOf({ CONSENT_TRUST: 'anybody' })[0] ?? '', /^CONSENT_TRUST must be/);
});
