/** Access tokens: JWTs, signed by a key of one key set, for this server, with roles for namespaces. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ALGORITHMS, keySetFile } from '../protection/proofs/key-set.ts';
import { type Refusal, unauthenticated, unavailable } from './refusal.ts';
import { type Caller, ROLES, type Role } from './roles.ts';

export interface TokenSettings {
  jwks: { url: string } | { file: string };
  issuer: string;
  audience: string;
  /** Default: `ALGORITHMS`; never others. */
  algorithms?: readonly string[];
  /** The claim that lists `<namespace>:<role>`; as Temporal's own does by default, so that one token fits both. */
  permissionsClaim?: string;
}

/** The caller. `Refusal` 401 where the token is not good, 503 where the keys cannot be had. */
export type TokenVerifier = (authorization: string | undefined) => Promise<Caller>;

const FETCH_TIMEOUT_MS = 5_000;
/** Clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;
const MAX_SUBJECT_CHARACTERS = 255;

/** @throws Error where a key set file cannot be used */
export function createTokenVerifier(settings: TokenSettings): TokenVerifier {
  const keys = 'file' in settings.jwks ? keySetFile(settings.jwks.file) : remoteKeys(settings.jwks.url);
  const { issuer, audience, permissionsClaim = 'permissions' } = settings;
  const algorithms = (settings.algorithms ?? ALGORITHMS).filter((name) => ALGORITHMS.some((one) => one === name));
  return async (authorization) => {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw authorization === undefined
        ? unauthenticated('noToken', 'a bearer token is required')
        : unauthenticated('malformed', 'the authorization header must be a bearer token in JWT form');
    }
    const options = {
      issuer,
      audience,
      algorithms,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'sub'],
    };
    const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
      throw refusalOf(error);
    });
    return callerOf(payload, permissionsClaim);
  };
}

function remoteKeys(url: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: FETCH_TIMEOUT_MS });
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) return unauthenticated('expired', 'the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    const known: Record<string, string> = { aud: 'audience', iss: 'issuer', nbf: 'notYetValid' };
    const reason = known[error.claim] ?? 'claims';
    return unauthenticated(
      reason,
      `the token's claim ${known[error.claim] ? error.claim : 'set'} is not what it must be`,
    );
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return unauthenticated('algorithm', 'the token is signed by an algorithm that is not allowed');
  }
  const unusable = [
    errors.JWSSignatureVerificationFailed,
    errors.JWKSNoMatchingKey,
    errors.JWKSMultipleMatchingKeys,
    errors.JOSENotSupported,
  ];
  if (unusable.some((kind) => error instanceof kind)) {
    return unauthenticated('signature', 'the token is not signed by a key of the key set');
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return unauthenticated('malformed', 'the token is not a JWT');
  }
  return unavailable('keySet', 'the key set that tokens are checked against cannot be read');
}

function callerOf(payload: JWTPayload, permissionsClaim: string): Caller {
  const { sub: subject, iss: issuer } = payload;
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_CHARACTERS) {
    throw unauthenticated('claims', 'the token must say in sub whose it is');
  }
  const claim = Object.hasOwn(payload, permissionsClaim) ? payload[permissionsClaim] : undefined;
  return { subject, ...(issuer === undefined ? {} : { issuer }), roles: rolesOf(claim) };
}

/** `["default:decode-redacted", …]`, or the same with spaces between. Words of others' are passed over. */
function rolesOf(claim: unknown): Map<string, Set<Role>> {
  const words = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  const roles = new Map<string, Set<Role>>();
  for (const word of words) {
    if (typeof word !== 'string') continue;
    const at = word.lastIndexOf(':');
    const role = ROLES.find((one) => one === word.slice(at + 1));
    if (at <= 0 || role === undefined) continue;
    const namespace = word.slice(0, at);
    roles.set(namespace, (roles.get(namespace) ?? new Set()).add(role));
  }
  return roles;
}
