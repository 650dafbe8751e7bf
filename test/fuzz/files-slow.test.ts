/** Tests damaged files of operators, and damaged proofs. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { loadConfig } from '../../src/config/config.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { decisionContent, type ProvableDecision } from '../../src/model/decision-content.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { KeyRingError } from '../../src/protection/errors.ts';
import { readKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createConsentProofVerifier, createDecisionProofVerifier, readKeySet } from '../../src/protection/proofs.ts';
import { aConsent, anApplicant } from '../validation/sample-messages.ts';
import {
  type ByteMutation,
  byteMutations,
  changedBytes,
  changedText,
  type TreeMutation,
  treeMutations,
} from './mutations.ts';
import { property } from './property.ts';
import { assertNothingPersonal, assertSafeError } from './sentinel.ts';
import { usually } from './values.ts';

const SECRET = randomBytes(32).toString('base64');

const KEY_RING = {
  version: 1,
  keys: [
    { id: 'payload-1', use: 'payload', createdAt: '2026-01-01T00:00:00Z', status: 'current', secret: SECRET },
    { id: 'ledger-1', use: 'ledger', createdAt: '2026-01-01T00:00:00Z', status: 'current', secret: SECRET },
    {
      id: 'old',
      use: 'payload',
      createdAt: '2026-01-01T00:00:00Z',
      status: 'retired',
      wrapped: 'AAAA',
      kms: 'aws-kms:alias/x',
    },
  ],
  refused: ['payload-0'],
};

const PROFILES = {
  credentials: { east: { clientIdFile: import.meta.filename, clientSecretFile: import.meta.filename } },
  profiles: {
    default: {
      allowed: { SECONDUSE: { permissiblePurposeCodes: ['05'] } },
      returnCodes: { CR: { Suppress: 'noReport' } },
    },
    east: {
      environment: 'sandbox',
      customerId: 'EAST1',
      credentials: 'east',
      timeZone: 'America/New_York',
      limits: { connections: 9, maxResponseBytes: 10_000_000 },
      notProcessedStatuses: [401],
    },
  },
};

interface FileCase {
  tree: TreeMutation[];
  bytes: ByteMutation[];
}

function fileCases(keys: readonly string[]): fc.Arbitrary<FileCase> {
  return fc.record({
    tree: treeMutations(keys, 3),
    bytes: usually([], 3, byteMutations(2)),
  });
}

const directory = mkdtempSync(join(tmpdir(), 'fuzz-files-'));
after(() => rmSync(directory, { recursive: true }));

function written(valid: object, { tree, bytes }: FileCase): string {
  const file = join(directory, 'file.json');
  writeFileSync(file, changedBytes(Buffer.from(changedText(valid, tree)), bytes), { mode: 0o600 });
  return file;
}

property({
  name: 'damaged key ring files are loaded, or refused without showing a secret',
  weight: 1,
  cases: fileCases(['id', 'use', 'status', 'secret', 'wrapped', 'kms', 'refused', 'retiredAt']),
  check: async (value) => {
    const refused = await readKeyRing(written(KEY_RING, value)).then(
      () => null,
      (error: unknown) => error,
    );
    if (refused === null) return;
    assert.ok(refused instanceof KeyRingError, `${refused}`);
    assertSafeError(refused, 'the key ring');
    assert.ok(!`${refused.stack}`.includes(SECRET.slice(0, 12)), 'a secret in an error');
  },
});

property({
  name: 'damaged profile files are loaded, or refused without showing personal data',
  weight: 1,
  cases: fileCases([
    'environment',
    'customerId',
    'credentials',
    'limits',
    'allowed',
    'returnCodes',
    'baseUrl',
    'caFile',
    'east',
  ]),
  check: (value) => {
    const env = { GATEWAY_PROFILES_FILE: written(PROFILES, value) };
    try {
      const config = loadConfig(env);
      for (const [name, profile] of config.profiles)
        assert.ok(/^[a-z][a-z0-9-]{0,30}$/.test(name) && profile.name === name);
    } catch (error) {
      assert.ok(error instanceof ConfigError, `${error}`);
      // Errors may print the operator's names of credentials and the gateway's codes if they have this form.
      const named = /\/(?:credentials|returnCodes\/[A-Z]+)\/[\x20-\x7e]{1,100}/;
      for (const { rule } of error.problems) assertNothingPersonal(rule.replace(named, ''), 'the configuration');
    }
  },
});

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const KEY_SET = {
  keys: [
    { ...publicKey.export({ format: 'jwk' }), kid: 'signer', alg: 'ES256', use: 'sig' },
    { ...rsa.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS256', use: 'sig' },
  ],
};

property({
  name: 'damaged key set files yield only public keys, or are refused',
  weight: 1,
  cases: fileCases(['keys', 'kty', 'd', 'k', 'crv', 'x', 'n', 'e', 'kid']),
  check: (value) => {
    try {
      const { keys } = readKeySet(written(KEY_SET, value));
      assert.ok(keys.length > 0 && keys.every((key) => key.kty !== 'oct' && !('d' in key) && !('k' in key)));
    } catch (error) {
      assertSafeError(error, 'the key set');
      assert.match((error as Error).message, /key set must|keys of a key set/, 'words of our own');
    }
  },
});

// Damaged proofs of consents and of decisions, signed by a trusted key

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
  /** The member of the payload with the proved content. */
  member: 'consent' | 'decision';
  content: object;
  verify(proof: string): Promise<{ accepted: boolean; keyId?: string }>;
}

const part = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64url');

/** Checks that an accepted proof has exactly this content, has not expired, and is signed by the trusted key. */
function testProofs({ member, content, verify }: ProofForm): void {
  const valid = { [member]: content, exp: SECONDS + 600, iat: SECONDS - 5 };
  property({
    name: `a ${member} proof is accepted only for its own content, key and time`,
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

const keySetFile = join(directory, 'jwks.json');
writeFileSync(keySetFile, JSON.stringify(KEY_SET));
const verifyConsent = createConsentProofVerifier(keySetFile);
const verifyDecision = createDecisionProofVerifier(keySetFile);
const content = decisionContent('sandbox', DECISION);
const receivedAt = RECEIVED_AT.toISOString();
testProofs({
  member: 'consent',
  content: CONSENT,
  verify: (proof) => verifyConsent({ ...CONSENT, proof }, RECEIVED_AT),
});
testProofs({
  member: 'decision',
  content,
  // A proof that is present must be valid, even if the profile requires none.
  verify: (proof) => verifyDecision({ content, proof, receivedAt }, 'namespace'),
});
