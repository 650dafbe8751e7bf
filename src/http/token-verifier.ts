/** Access tokens: JWTs, signed by a key of one key set, for this server. What their claims permit, each service says. */
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { ALGORITHMS } from '../base/signature-algorithms.ts';
import { watchKeySetFile } from '../protection/proofs.ts';
import { type ProblemCode, Refusal } from './refusal.ts';

export interface TokenSettings {
  jwks: { url: string } | { file: string };
  issuer: string;
  audience: string;
  /** Default: all. */
  algorithms?: readonly (typeof ALGORITHMS)[number][] | undefined;
}

/** The caller that the token names: its `sub` and `iss`. */
export interface Identity {
  subject: string;
  issuer?: string;
}

/** Reads a claim that is an own member of the token, never an inherited one. */
type Claim = (name: string) => unknown;

/** The caller. `Refusal` 401 where the token is not good, 503 where the keys cannot be had. */
export type TokenVerifier<Caller extends Identity> = (authorization: string | undefined) => Promise<Caller>;

const FETCH_TIMEOUT_MS = 5_000;
/** Allows for the difference between the clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;
const MAX_SUBJECT_CHARACTERS = 255;

/**
 * @param callerOf adds to the identity what the claims permit
 * @throws Error where a key set file cannot be used
 */
export function createTokenVerifier<Caller extends Identity>(
  settings: TokenSettings,
  callerOf: (identity: Identity, claim: Claim) => Caller,
): TokenVerifier<Caller> {
  const { jwks } = settings;
  const keys =
    'file' in jwks
      ? watchKeySetFile(jwks.file)
      : createRemoteJWKSet(new URL(jwks.url), { timeoutDuration: FETCH_TIMEOUT_MS });
  const { issuer, audience, algorithms = ALGORITHMS } = settings;
  return async (authorization) => {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw authorization === undefined
        ? new Refusal('noToken', 'a bearer token is required')
        : new Refusal('tokenMalformed', 'the authorization header must be a bearer token in JWT form');
    }
    const options = {
      issuer,
      audience,
      algorithms: [...algorithms],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'sub'],
    };
    const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
      throw toRefusal(error);
    });
    const { sub: subject, iss } = payload;
    if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_CHARACTERS) {
      throw new Refusal('claims', 'the token must name its owner in sub');
    }
    return callerOf({ subject, issuer: iss }, (name) => (Object.hasOwn(payload, name) ? payload[name] : undefined));
  };
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) return new Refusal('expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    const known: Record<string, ProblemCode> = { aud: 'audience', iss: 'issuer', nbf: 'notYetValid' };
    const reason = known[error.claim] ?? 'claims';
    return new Refusal(reason, `the token's claim ${known[error.claim] ? error.claim : 'set'} has a wrong value`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return new Refusal('algorithm');
  const unusable = [
    errors.JWSSignatureVerificationFailed,
    errors.JWKSNoMatchingKey,
    errors.JWKSMultipleMatchingKeys,
    errors.JOSENotSupported,
  ];
  if (unusable.some((kind) => error instanceof kind)) {
    return new Refusal('signature', 'the token is not signed by a key of the key set');
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return new Refusal('tokenMalformed');
  return new Refusal('keySet', 'the key set that tokens are checked against cannot be read');
}

/** Splits a claim that is a list of texts, or one text with spaces. Returns an empty list for any other form. */
export function readClaimWords(claim: unknown): string[] {
  const words = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}
