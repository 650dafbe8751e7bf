/** Proofs of consents: compact JWS (RFC 7515) over the message itself. docs/journeys.md, "Consent that can be proved". */
import { isDeepStrictEqual } from 'node:util';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { ConsentMessage } from '../model/shapes.ts';
import { ALGORITHMS, keySetFile } from './key-set.ts';

/** Why a proof proves nothing. Constant words: they stand in histories, in `status` and in answers. */
export type ProofRefusal =
  /** There is none, and a grant needs one here. */
  | 'missing'
  /** No JWS, or its payload is not `{ consent, exp, iat? }`. */
  | 'malformed'
  | 'unknownKey'
  /** Signed by another key than it names, by a secret key, or not at all. */
  | 'badSignature'
  | 'expired'
  /** It proves another consent: of another journey, share, applicant or secondary user, or one that was altered. */
  | 'differs'
  /** No keys are configured to check it with. */
  | 'notCheckable';

export type ProofVerdict = { accepted: true } | { accepted: false; reason: ProofRefusal };

/**
 * Judges a message's proof as of the instant at which the journey received it, so that whoever asks again later is
 * told the same.
 *
 * @throws Error where the keys cannot be read just now: nothing was judged
 */
export type ConsentProofVerifier = (consent: ConsentMessage, receivedAt: Date) => Promise<ProofVerdict>;

/** Clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** What is not checked would be kept in the ledger all the same, readable and as if it had been proved. */
const KNOWN_CLAIMS = new Set(['consent', 'exp', 'iat']);

/**
 * @param keySet path of a JWKS file; without one no proof is accepted
 * @throws Error where the file cannot be used
 */
export function createConsentProofVerifier(keySet: string | undefined): ConsentProofVerifier {
  const keys = keySet === undefined ? undefined : keySetFile(keySet);
  return async ({ proof, ...consent }, receivedAt) => {
    if (proof === undefined) return refused('missing');
    if (!keys) return refused('notCheckable');
    const payload = await payloadOf(proof, keys, receivedAt);
    if (typeof payload === 'string') return refused(payload);
    if (Object.keys(payload).some((name) => !KNOWN_CLAIMS.has(name))) return refused('malformed');
    return isDeepStrictEqual(payload.consent, consent) ? { accepted: true } : refused('differs');
  };
}

function refused(reason: ProofRefusal): ProofVerdict {
  return { accepted: false, reason };
}

async function payloadOf(proof: string, keys: JWTVerifyGetKey, currentDate: Date): Promise<JWTPayload | ProofRefusal> {
  try {
    const { payload } = await jwtVerify(proof, keys, {
      algorithms: [...ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp'],
      currentDate,
    });
    return payload;
  } catch (error) {
    const reason = refusalOf(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

const REFUSALS: readonly (readonly [new (...args: never[]) => Error, ProofRefusal])[] = [
  [errors.JWTExpired, 'expired'],
  [errors.JWKSNoMatchingKey, 'unknownKey'],
  // It names no key, and several would do.
  [errors.JWKSMultipleMatchingKeys, 'unknownKey'],
  [errors.JOSEAlgNotAllowed, 'badSignature'],
  [errors.JWSSignatureVerificationFailed, 'badSignature'],
  [errors.JWTClaimValidationFailed, 'malformed'],
  [errors.JWTInvalid, 'malformed'],
  [errors.JWSInvalid, 'malformed'],
  [errors.JOSENotSupported, 'malformed'],
];

/** Nothing for whatever says nothing about the proof, such as a key set that cannot be read. */
function refusalOf(error: unknown): ProofRefusal | undefined {
  return REFUSALS.find(([kind]) => error instanceof kind)?.[1];
}
