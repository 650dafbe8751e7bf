/** Proofs of consents and of decisions, by a key that is trusted, with things wrong in them. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { decisionContent, type ProvableDecision } from '../../src/model/decision-content.ts';
import { createConsentProofVerifier, createDecisionProofVerifier } from '../../src/protection/proofs.ts';
import { aConsent, anApplicant } from '../validation/sample-messages.ts';
import {
  type ByteMutation,
  byteMutations,
  changedBytes,
  changedText,
  type TreeMutation,
  treeMutations,
} from './mutations.ts';
import { property, type Runnable } from './property.ts';
import { assertNothingPersonal } from './sentinel.ts';
import { usually } from './values.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const KEY_SET = {
  keys: [
    { ...publicKey.export({ format: 'jwk' }), kid: 'signer', alg: 'ES256', use: 'sig' },
    { ...rsa.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS256', use: 'sig' },
  ],
};
const HEADER = { alg: 'ES256', kid: 'signer' };

const RECEIVED_AT = new Date('2026-06-01T00:00:00Z');
const SECONDS = RECEIVED_AT.getTime() / 1_000;

interface ProofCase {
  header: TreeMutation[];
  claims: TreeMutation[];
  bytes: ByteMutation[];
}

function proofCases(member: string): fc.Arbitrary<ProofCase> {
  return fc.record({
    header: usually([], 2, treeMutations(['alg', 'kid', 'crit', 'b64', 'jwk', 'jku', 'typ', 'zip'], 2)),
    claims: usually([], 2, treeMutations([member, 'exp', 'iat', 'nbf', 'proof', 'contentDigest'], 2)),
    bytes: usually([], 3, byteMutations(2)),
  });
}

interface ProofForm {
  /** The member of the payload that holds what is proved. */
  member: 'consent' | 'decision';
  content: object;
  verify(proof: string): Promise<{ accepted: boolean; keyId?: string }>;
}

const part = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64url');

/** A proof that is accepted holds this very content, is not over, and is of the one key. */
function proofs({ member, content, verify }: ProofForm): Runnable {
  const valid = { [member]: content, exp: SECONDS + 600, iat: SECONDS - 5 };
  return property({
    name: `${member}-proofs`,
    weight: 1,
    cases: proofCases(member),
    check: async ({ header, claims, bytes }) => {
      const signed = `${part(changedText(HEADER, header))}.${part(changedText(valid, claims))}`;
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      const proof = changedBytes(Buffer.from(`${signed}.${part(signature)}`), bytes).toString('latin1');
      const verdict = await verify(proof);
      assertNothingPersonal(JSON.stringify(verdict), 'a verdict');
      if (!verdict.accepted) {
        assert.ok(header.length + claims.length + bytes.length > 0, 'a good proof was refused');
        return;
      }
      const proved = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString('utf8'));
      assert.ok(isDeepStrictEqual(proved[member], content), `another ${member} was proved`);
      assert.ok(proved.exp > SECONDS - 10, 'a proof that is over');
      if ('keyId' in verdict) assert.match(`${JSON.stringify(verdict.keyId)}`, /^"(?:signer|[\w-]{43})"$/, 'a key id');
    },
  });
}

const CONSENT = aConsent() as unknown as ConsentMessage;
const DECISION: ProvableDecision = {
  ...{ decisionId: 'D-1', customerTraceNumber: 'PQ1', attempt: 1, action: 'amend' },
  ...{ by: 'operator', reason: 'a wrong name', providerSaid: 'notAsked' },
  applicants: [anApplicant()] as NonNullable<ProvableDecision['applicants']>,
};

/** @param directory where the key set is written */
export function openProofs(directory: string): Runnable[] {
  const file = join(directory, 'jwks.json');
  writeFileSync(file, JSON.stringify(KEY_SET));
  const verifyConsent = createConsentProofVerifier(file);
  const verifyDecision = createDecisionProofVerifier(file);
  const content = decisionContent('sandbox', DECISION);
  const receivedAt = RECEIVED_AT.toISOString();
  return [
    proofs({
      member: 'consent',
      content: CONSENT,
      verify: (proof) => verifyConsent({ ...CONSENT, proof }, RECEIVED_AT),
    }),
    proofs({
      member: 'decision',
      content,
      // A proof that is present must be valid, even if the profile requires none.
      verify: (proof) => verifyDecision({ content, proof, receivedAt }, 'namespace'),
    }),
  ];
}
