/**
 * Proofs: compact JWS (RFC 7515) over a message's content, by a key that the configuration trusts for such messages.
 */

import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { findDifferingPaths } from '../base/differing-paths.ts';
import { isRecord } from '../base/is-record.ts';
import { parseJson } from '../base/json-safety.ts';
import { READ_WITHOUT_WAIT } from '../base/read-flags.ts';
import { ALGORITHMS } from '../base/signature-algorithms.ts';
import type { ConsentMessage } from '../messages/consent.ts';
import type { DecisionContent, RepeatContent } from '../model/decision-content.ts';
import { readFileVersion } from './file-version.ts';

/** Reasons to refuse a proof. Constant words: they appear in histories, in `status` and in answers. */
export type ProofRefusal =
  /** The message has no proof, and needs one. */
  | 'missing'
  /** Not a JWS, or its payload lacks the content, `exp` or another required member. */
  | 'malformed'
  | 'unknownKey'
  /** Signed by another key than it names, by a secret key, or not at all. */
  | 'badSignature'
  | 'expired'
  /** The proof is about other content than the message has. */
  | 'differs'
  /** No keys to check it with are configured. */
  | 'notCheckable';

/** The difference between the clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** `signed`: the other content that a proof is about. */
type Judgement = { keyId: string } | { refusal: ProofRefusal; signed?: unknown };

/**
 * Makes a function that judges whether a proof is about this content, as of the given instant. It returns the key that
 * signed it: its `kid`, else its thumbprint (RFC 7638).
 *
 * @param keySet path of a JWKS file; without one no proof is accepted
 * @param member of the payload that holds the content
 * @throws Error where the file cannot be used; a later judgement throws where the keys cannot be read at the moment
 */
function createJudge(keySet: string | undefined, member: string, requiredClaims: ('exp' | 'iat')[]) {
  const keys = keySet === undefined ? undefined : watchKeySetFile(keySet);
  // Any other member is refused: it would be kept, readable, as if it had been proved.
  const known = new Set([member, 'exp', 'iat']);
  return async (proof: string | undefined, content: object, at: Date): Promise<Judgement> => {
    if (proof === undefined) return { refusal: 'missing' };
    if (!keys) return { refusal: 'notCheckable' };
    try {
      const { payload, protectedHeader, key } = await jwtVerify(proof, keys, {
        algorithms: [...ALGORITHMS],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: at,
        requiredClaims,
      });
      if (Object.keys(payload).some((name) => !known.has(name))) return { refusal: 'malformed' };
      const signed = payload[member];
      if (!isDeepStrictEqual(signed, content)) return { refusal: 'differs', signed };
      return { keyId: protectedHeader.kid ?? (await calculateJwkThumbprint(await exportJWK(key))) };
    } catch (error) {
      // Any other error says nothing about the proof: the key set cannot be read, for example.
      const [, refusal] = REFUSALS.find(([kind]) => error instanceof kind) ?? [];
      if (refusal === undefined) throw error;
      return { refusal };
    }
  };
}

const REFUSALS: readonly (readonly [new (...args: never[]) => Error, ProofRefusal])[] = [
  [errors.JWTExpired, 'expired'],
  [errors.JWKSNoMatchingKey, 'unknownKey'],
  // The proof names no key, and several would fit.
  [errors.JWKSMultipleMatchingKeys, 'unknownKey'],
  [errors.JOSEAlgNotAllowed, 'badSignature'],
  [errors.JWSSignatureVerificationFailed, 'badSignature'],
  [errors.JWTClaimValidationFailed, 'malformed'],
  [errors.JWTInvalid, 'malformed'],
  [errors.JWSInvalid, 'malformed'],
  [errors.JOSENotSupported, 'malformed'],
];

// Public keys of other systems, from a JWKS file. They check the signatures of tokens, consents and decisions.

/** `jose` refuses shorter keys, but only at the first signature. This check refuses them at the start. */
export const MIN_RSA_BITS = 2_048;

/**
 * Looks keys up in the current file: it reads the file again after each change, so that a removed key counts no longer.
 * While the file cannot be used every look-up throws.
 *
 * @throws Error that names no key, where it cannot be used at the start
 */
export function watchKeySetFile(file: string): JWTVerifyGetKey {
  let version = readFileVersion(file);
  let lookup: JWTVerifyGetKey = createLocalJWKSet(readKeySet(file));
  return async (header, token) => {
    const found = readFileVersion(file);
    if (found !== version) {
      lookup = createLocalJWKSet(readKeySet(file));
      version = found;
    }
    return lookup(header, token);
  };
}

/** @throws Error that names no key */
export function readKeySet(file: string): JSONWebKeySet {
  const [content] = parseJson(readFileSync(file, { encoding: 'utf8', flag: READ_WITHOUT_WAIT })) ?? [];
  const keys = isRecord(content) ? content.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isRecord)) {
    throw new Error('a key set must be {"keys": [...]}, with one key or more');
  }
  if (keys.some((key) => key.kty === 'oct' || 'd' in key || 'k' in key)) {
    throw new Error('a key set must hold only public keys');
  }
  for (const key of keys) checkKey(key);
  return { keys } as unknown as JSONWebKeySet;
}

/** Checks a key of a known kind. Others may be in the file, but no signature of theirs is accepted here. */
function checkKey(jwk: Record<string, unknown>): void {
  if (typeof jwk.kty !== 'string') throw new Error('a key set must hold keys that can be used');
  if (!['RSA', 'EC', 'OKP'].includes(jwk.kty)) return;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    throw new Error('a key set must hold keys that can be used');
  }
  if (key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS) {
    throw new Error(`RSA keys of a key set must have ${MIN_RSA_BITS} bits or more`);
  }
}

// Proofs of consents, made over the message itself. docs/journeys.md, "Consent that can be proved".

type ProofVerdict = { accepted: true } | { accepted: false; reason: ProofRefusal };
export type ConsentProofVerifier = ReturnType<typeof createConsentProofVerifier>;

/**
 * Makes a function that judges a message's proof. It judges as of the instant at which the run received the message,
 * so that a later call gives the same answer. A proof counts for its own journey, share, applicant and secondary user
 * alone, and only unaltered. Throws as `createJudge`.
 */
export function createConsentProofVerifier(keySet: string | undefined) {
  const judge = createJudge(keySet, 'consent', ['exp']);
  return async ({ proof, ...consent }: ConsentMessage, receivedAt: Date): Promise<ProofVerdict> => {
    const judged = await judge(proof, consent, receivedAt);
    return 'refusal' in judged ? { accepted: false, reason: judged.refusal } : { accepted: true };
  };
}

// Proofs of operators' decisions about inquiries. docs/journeys.md, "Decisions that can be proved".

export type DecisionProofVerdict =
  /** The key that signed it; absent where a proof is missing and not needed. */
  | { accepted: true; keyId?: string }
  /** The rule that `/proof` breaks, for operators. */
  | { accepted: false; rule: string };

interface ProvedDecision {
  content: DecisionContent | RepeatContent;
  proof?: string | undefined;
  receivedAt: string;
}

export type DecisionProofVerifier = ReturnType<typeof createDecisionProofVerifier>;

/**
 * Makes a function that judges a decision's proof. It judges as of the instant at which the run received the decision,
 * so that a repeated activity gives the same answer. The trust of the inquiry's profile says whether a proof is needed.
 * A proof that is given must be good in any case. Throws as `createJudge`.
 */
export function createDecisionProofVerifier(keySet: string | undefined) {
  const judge = createJudge(keySet, 'decision', ['exp', 'iat']);
  return async (decision: ProvedDecision, trust: 'namespace' | 'proof'): Promise<DecisionProofVerdict> => {
    const { content, proof, receivedAt } = decision;
    if (proof === undefined && trust === 'namespace') return { accepted: true };
    const judged = await judge(proof, content, new Date(receivedAt));
    if ('keyId' in judged) return { accepted: true, keyId: judged.keyId };
    const { refusal, signed } = judged;
    if (refusal === 'missing') {
      const rule = 'is required: the profile accepts a decision only with a proof (decisionTrust)';
      return { accepted: false, rule };
    }
    // Only names of the content's own members: any other signed name is the signer's text.
    const differing = refusal === 'differs' ? findDifferingPaths(signed, content) : [];
    const named = Object.keys(content).filter((name) => differing.includes(`/${name}`));
    return { accepted: false, rule: `is refused: ${refusal}${named.length > 0 ? ` in ${named.join(', ')}` : ''}` };
  };
}
