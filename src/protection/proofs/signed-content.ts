/** Proofs: compact JWS (RFC 7515) over a message's content, by a key that the configuration trusts with such messages. */
import type { CryptoKey, JWTPayload, JWTVerifyGetKey, KeyObject } from 'jose';
import { calculateJwkThumbprint, errors, exportJWK, jwtVerify } from 'jose';
import { ALGORITHMS, keySetFile } from './key-set.ts';

/** Why a proof proves nothing. Constant words: they stand in histories, in `status` and in answers. */
export type ProofRefusal =
  /** There is none, and one is needed here. */
  | 'missing'
  /** No JWS, or its payload is not the content with `exp` and what else it must have. */
  | 'malformed'
  | 'unknownKey'
  /** Signed by another key than it names, by a secret key, or not at all. */
  | 'badSignature'
  | 'expired'
  /** It proves other content than the message has. */
  | 'differs'
  /** No keys are configured to check it with. */
  | 'notCheckable';

/** What was signed, not compared with anything yet, and by which key: its `kid`, else its thumbprint (RFC 7638). */
export interface SignedContent {
  content: unknown;
  keyId: string;
}

export interface SignedForm {
  /** The member of the payload that holds the content. */
  member: string;
  /** What stands beside it. What is not checked would be kept all the same, readable and as if it had been proved. */
  required: readonly string[];
  optional: readonly string[];
}

/**
 * Judges a proof as of the given instant.
 *
 * @throws Error where the keys cannot be read just now: nothing was judged
 */
export type SignedContentReader = (proof: string | undefined, at: Date) => Promise<SignedContent | ProofRefusal>;

/** Clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * @param keySet path of a JWKS file; without one no proof is accepted
 * @throws Error where the file cannot be used
 */
export function createSignedContentReader(keySet: string | undefined, form: SignedForm): SignedContentReader {
  const keys = keySet === undefined ? undefined : keySetFile(keySet);
  const known = new Set([form.member, ...form.required, ...form.optional]);
  return async (proof, at) => {
    if (proof === undefined) return 'missing';
    if (!keys) return 'notCheckable';
    const verified = await verify(proof, keys, { currentDate: at, requiredClaims: [...form.required] });
    if (typeof verified === 'string') return verified;
    if (Object.keys(verified.payload).some((name) => !known.has(name))) return 'malformed';
    return { content: verified.payload[form.member], keyId: verified.keyId };
  };
}

async function verify(
  proof: string,
  keys: JWTVerifyGetKey,
  asked: { currentDate: Date; requiredClaims: string[] },
): Promise<{ payload: JWTPayload; keyId: string } | ProofRefusal> {
  try {
    const options = { algorithms: [...ALGORITHMS], clockTolerance: CLOCK_TOLERANCE_SECONDS, ...asked };
    const { payload, protectedHeader, key } = await jwtVerify(proof, keys, options);
    return { payload, keyId: protectedHeader.kid ?? (await thumbprintOf(key)) };
  } catch (error) {
    const reason = refusalOf(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

async function thumbprintOf(key: CryptoKey | KeyObject | Uint8Array): Promise<string> {
  return calculateJwkThumbprint(await exportJWK(key));
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
