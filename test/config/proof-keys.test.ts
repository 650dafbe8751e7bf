import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { loadConfig, loadDecisionTrust } from '../../src/config/config.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { CONSENT_KEYS } from '../support/consent-proofs.ts';
import { DECISION_KEYS } from '../support/decision-proofs.ts';
import { problemsOf } from './problems.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-proof-keys-'));
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
  const ours = problemsOf(() => loadConfig(env)).filter(({ variable }) => /^(CONSENT|DECISION)_/.test(variable));
  return ours.map(({ variable, rule }) => `${variable} ${rule}`);
}

test('CONSENT_TRUST sets the trust in consents, and each profile can override it', () => {
  const trustOf = (env: NodeJS.ProcessEnv) =>
    [...loadConfig(env).profiles.values()].map(({ name, consentTrust }) => `${name} ${consentTrust}`);
  assert.deepEqual(trustOf({}), ['default namespace']);
  assert.deepEqual(trustOf({ CONSENT_TRUST: 'proof', CONSENT_JWKS_FILE: keys }), ['default proof']);
  assert.deepEqual(trustOf({ GATEWAY_PROFILES_FILE: proving, CONSENT_JWKS_FILE: keys }), [
    'default namespace',
    'proving proof',
  ]);
});

test('a grant in production needs a proof unless CONSENT_TRUST says otherwise', () => {
  const env = { GATEWAY_ENVIRONMENT: 'production' };
  assert.match(rulesOf(env)[0] ?? '', /^CONSENT_JWKS_FILE is required: profile default/);
  assert.deepEqual(rulesOf({ ...env, CONSENT_TRUST: 'namespace' }), []);
  assert.deepEqual(rulesOf({ ...env, CONSENT_JWKS_FILE: keys }), []);
});

test('a required proof without keys, unusable keys and private keys are refused at start-up', async () => {
  assert.match(rulesOf({ GATEWAY_PROFILES_FILE: proving })[0] ?? '', /^CONSENT_JWKS_FILE is required: profile proving/);
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const wrong = [file('private.json', { keys: [await exportJWK(privateKey)] }), join(directory, 'missing.json')];
  for (const path of wrong) {
    assert.match(
      rulesOf({ CONSENT_JWKS_FILE: path })[0] ?? '',
      /^CONSENT_JWKS_FILE must name a file with only public keys/,
    );
  }
  assert.match(rulesOf({ CONSENT_TRUST: 'anybody' })[0] ?? '', /^CONSENT_TRUST must be/);
});

test('decisions need no proof by default, even in production, and each profile can override this', () => {
  const decisions = file('decisions.json', DECISION_KEYS);
  const deciding = file('deciding.json', {
    profiles: { deciding: { environment: 'sandbox', customerId: 'D1', decisionTrust: 'proof' } },
  });
  const trustOf = (env: NodeJS.ProcessEnv) =>
    [...loadConfig(env).profiles.values()].map(({ name, decisionTrust }) => `${name} ${decisionTrust}`);
  assert.deepEqual(trustOf({}), ['default namespace']);
  assert.deepEqual(trustOf({ DECISION_TRUST: 'proof', DECISION_JWKS_FILE: decisions }), ['default proof']);
  const env = { GATEWAY_PROFILES_FILE: deciding };
  assert.deepEqual(trustOf({ ...env, DECISION_JWKS_FILE: decisions }), ['default namespace', 'deciding proof']);
  assert.match(rulesOf(env)[0] ?? '', /^DECISION_JWKS_FILE is required: profile deciding/);
  // Keys of consent systems sign no decisions.
  assert.equal(rulesOf({ ...env, CONSENT_JWKS_FILE: keys }).length, 1);
  assert.match(rulesOf({ DECISION_TRUST: 'anybody' })[0] ?? '', /^DECISION_TRUST must be/);
  const production = { GATEWAY_ENVIRONMENT: 'production', CONSENT_TRUST: 'namespace' };
  assert.deepEqual(rulesOf(production), []);
  assert.match(rulesOf({ ...production, DECISION_TRUST: 'proof' })[0] ?? '', /^DECISION_JWKS_FILE is required/);
});

test('a program beside the ledger reads the trust in decisions without the gateway’s secrets', () => {
  const decisions = file('decisions.json', DECISION_KEYS);
  const env = { GATEWAY_ENVIRONMENT: 'uat', DECISION_TRUST: 'proof' };
  const { trust, keysFile } = loadDecisionTrust({ ...env, DECISION_JWKS_FILE: decisions });
  assert.deepEqual([...trust, keysFile], [['default', 'proof'], decisions]);
  assert.throws(() => loadDecisionTrust(env), ConfigError);
});
