import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { createConsentProofVerifier, readKeySet } from '../../src/protection/proofs.ts';
import { CONSENT_KEYS, type ProofParts, proved } from '../support/consent-proofs.ts';
import { aConsent } from '../validation/sample-messages.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-consent-proof-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'keys.json');
writeFileSync(file, JSON.stringify(CONSENT_KEYS));

const NOW = new Date('2026-03-01T12:00:00Z');
const nowSeconds = NOW.getTime() / 1000;
const GRANT = aConsent() as ConsentMessage;
const rsa = await generateKeyPair('RS256', { modulusLength: 2048 });

/** Tests judge it at `NOW`. It is valid for an hour unless the parts say otherwise. */
const made = (parts: ProofParts = {}) => proved(GRANT, { expiresAt: nowSeconds + 3_600, ...parts });

async function verdictOn(message: ConsentMessage, keys: string | undefined = file): Promise<string> {
  const verdict = await createConsentProofVerifier(keys)(message, NOW);
  return verdict.accepted ? 'accepted' : verdict.reason;
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const payload = { consent: GRANT, exp: nowSeconds + 3_600 };

describe('a proof of a consent', () => {
  test('of the same message is accepted, in any order of its members', async () => {
    const reordered = Object.fromEntries(Object.entries(GRANT).reverse());
    assert.equal(await verdictOn(await made()), 'accepted');
    assert.equal(await verdictOn(await made({ consent: reordered, claims: { iat: nowSeconds } })), 'accepted');
    assert.equal(await verdictOn(await made({ expiresAt: nowSeconds + 1 })), 'accepted');
  });

  const messages: [string, Partial<ConsentMessage>][] = [
    ['into another journey', { journeyId: 'J-OTHER' }],
    ['for another secondary user', { secondaryUser: { endUserCode: 'EU999' } }],
    ['for another share', { shareId: 'S2' }],
    ['for another applicant', { applicantId: '2A' }],
    ['as another decision', { decision: 'revoked' }],
    ['under another id', { consentId: 'C-2' }],
    ['with another time', { decidedAt: '2026-01-02T03:04:06Z' }],
    ['with more than it proves', { secondaryUser: { endUserCode: 'EU456', endUser: 'Another' } }],
  ];
  for (const [what, change] of messages) {
    test(`that is replayed ${what} is refused: differs`, async () => {
      assert.equal(await verdictOn({ ...(await made()), ...change }), 'differs');
    });
  }

  const forged: [string, () => Promise<string>, string][] = [
    ['that has expired', async () => (await made({ expiresAt: nowSeconds - 60 })).proof ?? '', 'expired'],
    ['that never expires', async () => (await made({ expiresAt: null })).proof ?? '', 'malformed'],
    ['without a consent', async () => (await made({ consent: [] })).proof ?? '', 'differs'],
    ['with more beside the consent', async () => (await made({ claims: { sub: 'x' } })).proof ?? '', 'malformed'],
    ['that proves itself', async () => (await made({ consent: { ...GRANT, proof: 'x' } })).proof ?? '', 'differs'],
    ['that is no JWS', async () => 'a.b.c', 'malformed'],
    ['of alg none', async () => new UnsecuredJWT(payload).encode(), 'badSignature'],
    [
      'by an unknown key',
      () => new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'other' }).sign(rsa.privateKey),
      'unknownKey',
    ],
    [
      'by another key under a known id',
      async () => {
        const other = await generateKeyPair('ES256');
        return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'consents' }).sign(other.privateKey);
      },
      'badSignature',
    ],
    [
      'whose content was altered',
      async () => {
        const [header, , signature] = ((await made()).proof ?? '').split('.');
        return `${header}.${base64url({ ...payload, exp: nowSeconds + 9_999 })}.${signature}`;
      },
      'badSignature',
    ],
    [
      'of HS256 with the public key as its secret',
      async () => {
        const { keys } = CONSENT_KEYS;
        const signed = `${base64url({ alg: 'HS256', kid: 'consents' })}.${base64url(payload)}`;
        const signature = createHmac('sha256', JSON.stringify(keys[0])).update(signed).digest('base64url');
        return `${signed}.${signature}`;
      },
      'badSignature',
    ],
    [
      'that brings its own key',
      async () => {
        const other = await generateKeyPair('ES256', { extractable: true });
        const jwk = await exportJWK(other.publicKey);
        return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'mine', jwk }).sign(other.privateKey);
      },
      'unknownKey',
    ],
  ];
  for (const [what, proof, reason] of forged) {
    test(`${what} is refused: ${reason}`, async () => {
      assert.equal(await verdictOn({ ...GRANT, proof: await proof() }), reason);
    });
  }

  test('that is missing or cannot be checked is refused', async () => {
    assert.equal(await verdictOn(GRANT), 'missing');
    const verify = createConsentProofVerifier(undefined);
    assert.deepEqual(await verify(await made(), NOW), { accepted: false, reason: 'notCheckable' });
  });
});

describe('the key set', () => {
  test('is read again when its file changes, and no proof is judged while the file is invalid', async () => {
    const changing = join(directory, 'changing.json');
    writeFileSync(changing, JSON.stringify(CONSENT_KEYS));
    const verify = createConsentProofVerifier(changing);
    const message = await made();
    assert.deepEqual(await verify(message, NOW), { accepted: true });
    writeFileSync(changing, '{"keys": [');
    await assert.rejects(verify(message, NOW), /a key set must be/);
    const others = { keys: [{ ...(await exportJWK(rsa.publicKey)), kid: 'other', alg: 'RS256' }] };
    writeFileSync(changing, JSON.stringify(others));
    assert.deepEqual(await verify(message, NOW), { accepted: false, reason: 'unknownKey' });
  });

  test('is refused unless all its keys are public and usable', async () => {
    const extractable = await generateKeyPair('ES256', { extractable: true });
    const weak = { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 255).toString('base64url') };
    const wrong: [string, unknown][] = [
      ['a private key', { keys: [await exportJWK(extractable.privateKey)] }],
      ['a secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }],
      ['a key that is none', { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }],
      ['a short key', { keys: [weak] }],
      ['a kind that nests deeply', `{"keys":[{"kty":${'['.repeat(3_000)}${']'.repeat(3_000)}}]}`],
      ['nothing', { keys: [] }],
      ['a PEM', await exportSPKI(rsa.publicKey)],
    ];
    for (const [what, content] of wrong) {
      const path = join(directory, 'wrong.json');
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      assert.throws(() => readKeySet(path), /key set/, what);
    }
  });
});
