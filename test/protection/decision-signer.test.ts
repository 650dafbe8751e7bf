import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { DoctorContext } from '../../src/doctor/check.ts';
import { checkDecisionSigner } from '../../src/doctor/key-checks.ts';
import { decisionContent } from '../../src/model/decision-content.ts';
import { loadDecisionSigner, makeSigningKey } from '../../src/protection/keys/signing-keys.ts';
import { createDecisionProofVerifier } from '../../src/protection/proofs.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-signer-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const CONTENT = decisionContent('sandbox', {
  ...{ decisionId: 'D-1', customerTraceNumber: 'PQ1', attempt: 1, action: 'abandon', by: 'ops', reason: 'a test' },
  providerSaid: 'notAsked',
});

const PAIRS = {
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  Ed25519: generateKeyPairSync('ed25519'),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
};

function keySetOf(name: string, jwk: object, kid: string): string {
  return file(`${name}.jwks.json`, JSON.stringify({ keys: [{ ...jwk, kid }] }));
}

for (const [name, { publicKey, privateKey }] of Object.entries(PAIRS)) {
  test(`a proof by a key of ${name} is valid, from a PEM file and from a JWK`, async () => {
    const pem = file(`${name}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    const jwk = file(`${name}.json`, JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'own' }));
    for (const signer of [await loadDecisionSigner(pem), await loadDecisionSigner(jwk)]) {
      const verify = createDecisionProofVerifier(keySetOf(name, publicKey.export({ format: 'jwk' }), signer.keyId));
      const proof = await signer.sign(CONTENT);
      const verdict = await verify({ content: CONTENT, proof, receivedAt: new Date().toISOString() }, 'proof');
      assert.deepEqual(verdict, { accepted: true, keyId: signer.keyId });
      const late = new Date(Date.now() + 11 * 60_000).toISOString();
      const expired = await verify({ content: CONTENT, proof, receivedAt: late }, 'proof');
      assert.equal(expired.accepted, false);
      const altered = await verify(
        { content: { ...CONTENT, by: 'mallory' }, proof, receivedAt: new Date().toISOString() },
        'proof',
      );
      assert.equal(altered.accepted, false);
    }
  });
}

test('a key that may not sign is refused, and the error quotes nothing of the file', async () => {
  const { publicKey } = PAIRS['P-256'];
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
  const bad = {
    'text.pem': 'a SECRET text',
    'public.pem': publicKey.export({ type: 'spki', format: 'pem' }) as string,
    'public.json': JSON.stringify(publicKey.export({ format: 'jwk' })),
    'secret.json': JSON.stringify({ kty: 'oct', k: 'U0VDUkVU' }),
    'weak.pem': weak.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    'curve.pem': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
  };
  for (const [name, content] of Object.entries(bad)) {
    await assert.rejects(
      loadDecisionSigner(file(name, content)),
      (error) => {
        return (
          error instanceof Error && /^the key that signs decisions/.test(error.message) && error.cause === undefined
        );
      },
      name,
    );
  }
});

test('doctor reports whether workers accept the decisions that the API signs', async () => {
  const { privateKey, publicKey } = PAIRS['P-256'];
  const named = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'api-1' });
  const check = checkDecisionSigner(file('doctor.json', named));
  const found = (decisionKeysFile: string | undefined) => {
    const config = { environment: 'sandbox', ...(decisionKeysFile ? { decisionKeysFile } : {}) };
    return check.run({ config } as unknown as DoctorContext, new AbortController().signal);
  };
  const jwk = publicKey.export({ format: 'jwk' });
  assert.equal((await found(keySetOf('known', jwk, 'api-1'))).status, 'pass');
  assert.match((await found(keySetOf('other', jwk, 'other'))).detail, /unknownKey/);
  assert.match((await found(undefined)).detail, /notCheckable/);
  const unusable = checkDecisionSigner(join(directory, 'none.pem'));
  const missing = await unusable.run({ config: {} } as unknown as DoctorContext, new AbortController().signal);
  assert.equal(missing.status, 'fail');
});

test('doctor fails in production if every user of the machine may read the key', async () => {
  const [signer, keySet] = [join(directory, 'open.json'), join(directory, 'open-jwks.json')];
  const keyId = await makeSigningKey({ file: signer, keySet });
  const check = checkDecisionSigner(signer);
  const found = async (environment: string) => {
    const context = { config: { environment, decisionKeysFile: keySet } } as unknown as DoctorContext;
    const { status, detail } = await check.run(context, new AbortController().signal);
    return [status, detail.includes(keyId)];
  };
  assert.deepEqual(await found('production'), ['pass', true]);
  chmodSync(signer, 0o644);
  assert.deepEqual(await found('sandbox'), ['pass', true]);
  assert.deepEqual(await found('production'), ['fail', false]);
});
