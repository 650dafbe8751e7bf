/**
 * Proofs: compact JWS (RFC 7515) over a message's content, by a key that the configuration trusts for such messages.
 */
import {
  type CryptoKey,
  calculateJwkThumbprint,
  errors,
  exportJWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  type KeyObject,
} from 'jose';
import { ALGORITHMS, keySetFile } from './key-set.ts';

/** Why a proof is refused. Constant words: they appear in histories, in `status` and in answers. */
export type ProofRefusal =
  /** The message has no proof, and needs one. */
  | 'missing'
  /** Not a JWS, or its payload lacks the content, `exp` or another required member. */
  | 'malformed'
  | 'unknownKey'
  /** Signed by another key than it names, by a secret key, or not at all. */
  | 'badSignature'
  | 'expired'
  /** It proves other content than the message has. */
  | 'differs'
  /** No keys to check it with are configured. */
  | 'notCheckable';

/** What was signed, before any comparison, and the key that signed it: its `kid`, else its thumbprint (RFC 7638). */
interface SignedContent {
  content: unknown;
  keyId: string;
}

interface SignedForm {
  /** The member of the payload that holds the content. */
  member: string;
  /**
   * The required members beside it. Any other member is refused: it would be kept, readable, as if it had been proved.
   */
  required: readonly string[];
  optional: readonly string[];
}

/**
 * Judges a proof as of the given instant.
 *
 * @throws Error where the keys cannot be read at the moment: nothing was judged
 */
type SignedContentReader = (proof: string | undefined, at: Date) => Promise<SignedContent | ProofRefusal>;

/** The difference between the clocks of two machines. */
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
  // The proof names no key, and several would fit.
  [errors.JWKSMultipleMatchingKeys, 'unknownKey'],
  [errors.JOSEAlgNotAllowed, 'badSignature'],
  [errors.JWSSignatureVerificationFailed, 'badSignature'],
  [errors.JWTClaimValidationFailed, 'malformed'],
  [errors.JWTInvalid, 'malformed'],
  [errors.JWSInvalid, 'malformed'],
  [errors.JOSENotSupported, 'malformed'],
];

/**
 * The refusal that an error means. `undefined` for an error that says nothing about the proof, such as an unreadable
 * key set.
 */
function refusalOf(error: unknown): ProofRefusal | undefined {
  return REFUSALS.find(([kind]) => error instanceof kind)?.[1];
}
