import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { contentDigest, decisionContent, type ProvableDecision, repeatContent } from '../../src/client.ts';
import { createDecisionProofVerifier } from '../../src/protection/proofs.ts';
import { CONSENT_KEYS } from '../support/consent-proofs.ts';
import { DECISION_KEYS, signDecision } from '../support/decision-proofs.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-decision-proof-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function keyFile(name: string, keys: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(keys));
  return path;
}

const file = keyFile('keys.json', DECISION_KEYS);
const NOW = new Date('2026-03-01T12:00:00Z');
const seconds = NOW.getTime() / 1000;
const CLAIMS = { exp: seconds + 3_600, iat: seconds };
const REFERENCE = {
  reportReferenceNumber: 'RPT-1',
  requestedAt: '2026-03-01T11:00:00Z',
  applicants: [{ applicantId: '1A', consumerId: 'C-1' }],
};
const DECISION: ProvableDecision = {
  ...{ decisionId: 'D-1', customerTraceNumber: 'PQ1', attempt: 1, action: 'accept', outcome: 'record' },
  ...{ by: 'operator', reason: 'asked the provider', providerSaid: 'posted', reference: REFERENCE },
};
const CONTENT = decisionContent('sandbox', DECISION);
const good = await signDecision(CONTENT, CLAIMS);

async function verdictOn(
  proof: string | undefined,
  { content = CONTENT as Parameters<typeof signDecision>[0], keys = file as string | undefined, trust = 'proof' } = {},
): Promise<string> {
  const decision = { content: content as typeof CONTENT, proof, receivedAt: NOW.toISOString() };
  const verdict = await createDecisionProofVerifier(keys)(decision, trust as 'proof');
  return verdict.accepted ? `by ${verdict.keyId}` : verdict.rule;
}

describe('a proof of a decision', () => {
  test('names the key that signed it by its id, or by its thumbprint if it has no id', async () => {
    assert.equal(await verdictOn(good), 'by decisions');
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const nameless = keyFile('nameless.json', { keys: [await exportJWK(publicKey)] });
    const proof = await new SignJWT({ decision: CONTENT, ...CLAIMS })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey);
    assert.match(await verdictOn(proof, { keys: nameless }), /^by [A-Za-z0-9_-]{43}$/);
  });

  const others: [string, object][] = [
    ['environment', { environment: 'uat' }],
    ['decisionId', { decisionId: 'D-2' }],
    ['customerTraceNumber', { customerTraceNumber: 'PQ2' }],
    ['attempt', { attempt: 2 }],
    ['action', { action: 'resend' }],
    ['by', { by: 'another' }],
    ['reason', { reason: 'another' }],
    ['providerSaid', { providerSaid: 'notPosted' }],
    ['outcome', { outcome: 'noReport' }],
    ['contentDigest', { contentDigest: 'another' }],
  ];
  for (const [member, change] of others) {
    test(`for another ${member} is refused`, async () => {
      assert.equal(
        await verdictOn(await signDecision({ ...CONTENT, ...change }, CLAIMS)),
        `is refused: differs in ${member}`,
      );
    });
  }

  test('that is missing, malformed or for other fields is refused with the reason', async () => {
    const cases: [string | undefined, string][] = [
      [undefined, 'is required: the profile accepts a decision only with a proof (decisionTrust)'],
      [await signDecision(CONTENT, { ...CLAIMS, exp: undefined }), 'is refused: malformed'],
      [await signDecision(CONTENT, { ...CLAIMS, iat: undefined }), 'is refused: malformed'],
      [await signDecision(CONTENT, { ...CLAIMS, sub: 'x' }), 'is refused: malformed'],
      [await signDecision(undefined, CLAIMS), 'is refused: differs'],
      [await signDecision({ ...CONTENT, confirmConsumerIds: true }, CLAIMS), 'is refused: differs'],
    ];
    for (const [proof, rule] of cases) assert.equal(await verdictOn(proof), rule);
  });

  test('by a key for consents is refused', async () => {
    const consents = keyFile('consents.json', CONSENT_KEYS);
    assert.equal(await verdictOn(good, { keys: consents }), 'is refused: unknownKey');
  });

  test('is optional if the namespace is trusted, but is refused if it is invalid', async () => {
    const trust = 'namespace';
    assert.equal(await verdictOn(undefined, { trust }), 'by undefined');
    assert.equal(await verdictOn(good, { trust }), 'by decisions');
    assert.equal(await verdictOn('a.b.c', { trust }), 'is refused: malformed');
    const without = createDecisionProofVerifier(undefined);
    const decision = { content: CONTENT, proof: good, receivedAt: NOW.toISOString() };
    assert.deepEqual(await without(decision, trust), { accepted: false, rule: 'is refused: notCheckable' });
  });
});

test('the example in Python makes the same payload', async () => {
  const applicants = [{ applicantId: '1A', names: [{ first: 'Zoë', last: 'O’Sample' }], ssn: '900000001' }];
  for (const message of [DECISION, { ...DECISION, action: 'amend' as const, reference: undefined, applicants }]) {
    const given = JSON.parse(JSON.stringify(message)) as ProvableDecision;
    const script = new URL('../../examples/python/decision_payload.py', import.meta.url).pathname;
    const printed = execFileSync('python3', [script, 'sandbox'], { input: JSON.stringify(given) }).toString();
    const { decision, exp, iat } = JSON.parse(printed);
    assert.deepEqual(decision, decisionContent('sandbox', given));
    assert.ok(exp > iat);
  }
});

test('personal content is signed as a digest of canonical JSON, which other languages can reproduce', () => {
  // A recorded value: other signers must produce the same digest.
  const json =
    '{"reference":{"applicants":[{"applicantId":"1A","consumerId":"C-1"}],"reportReferenceNumber":"RPT-1","requestedAt":"2026-03-01T11:00:00Z"}}';
  assert.equal(CONTENT.contentDigest, createHash('sha256').update(json).digest('hex'));
  assert.equal(CONTENT.contentDigest, contentDigest({ reference: REFERENCE }));
  assert.equal(CONTENT.contentDigest, 'ce338100eb56983d7a72d8e24341ba5555801cd96749a0470c13564afb412af9');
  assert.ok(!JSON.stringify(CONTENT).includes('C-1'));
  const repeat = { journeyId: 'J-1', repeat: 'PREQUAL', occurrence: 2, by: 'ops', reason: 'old' } as const;
  assert.deepEqual(repeatContent('uat', repeat), { environment: 'uat', ...repeat });
});
