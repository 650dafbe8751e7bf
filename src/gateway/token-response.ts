import { isRecord } from '../base/is-record.ts';
import { member, parseJson } from '../base/json-safety.ts';

/** The token service's sample token is a JWT of under 2 kB. A longer one would exceed our header limit. */
const MAX_TOKEN_LENGTH = 8 * 1024;

/** A year: a longer life is an error, and would overflow timers and dates. */
const MAX_EXPIRES_IN_S = 366 * 24 * 3600;

export interface TokenResponse {
  accessToken: string;
  expiresInS: number;
}

/**
 * Reads a token response (interface 2.2) that may be cached and put in a header; `null` for anything else. Ignores
 * `scope`: the interface names no scope that a request needs.
 */
export function readTokenResponse(text: string): TokenResponse | null {
  const [value] = parseJson(text) ?? [];
  if (!isRecord(value)) return null;
  const accessToken = member(value, 'access_token');
  const tokenType = member(value, 'token_type');
  const expiresInS = member(value, 'expires_in');
  if (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer') return null;
  if (typeof accessToken !== 'string' || accessToken.length > MAX_TOKEN_LENGTH) return null;
  if (!/^[\x21-\x7e]+$/.test(accessToken)) return null;
  if (typeof expiresInS !== 'number' || !Number.isInteger(expiresInS)) return null;
  if (expiresInS <= 0 || expiresInS > MAX_EXPIRES_IN_S) return null;
  return { accessToken, expiresInS };
}
