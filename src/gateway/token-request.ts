import type { Dispatcher } from 'undici';
import { retryAfterMs } from '../base/instants.ts';
import { isRecord } from '../base/is-record.ts';
import { member, parseJson } from '../base/json-safety.ts';
import { type TokenRequest, tokenRequestSchema } from '../fields/request-schemas.ts';
import { bodyText } from './body-text.ts';
import { GatewayError } from './errors.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import { type Credentials, type GatewayProfile, tokenUrl } from './profile.ts';

/** A token response is one JWT and three short fields (interface 2.2). */
export const MAX_TOKEN_RESPONSE_BYTES = 64 * 1024;

/**
 * Sends one request to the token service (interface 4.1). Follows no redirect and retries nothing.
 *
 * Throws `GatewayError`: `TokenUnavailable` where a new attempt may help, `CredentialsRefused` where it will not.
 */
export async function requestToken(
  dispatcher: Dispatcher,
  profile: GatewayProfile,
  credentials: Credentials,
): Promise<TokenResponse> {
  const body = tokenRequestSchema.safeParse({
    audience: profile.audience,
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  } satisfies TokenRequest);
  // Refuses an empty id or secret here, as the service would; zod's error is dropped.
  if (!body.success) throw new GatewayError('CredentialsRefused', { sent: 'nothing' });
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = profile.limits;
  const outcome = await exchange({
    dispatcher,
    url: tokenUrl(profile),
    headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify(body.data),
    // Fetches of one client run one after the other, so they wait for little but the connection.
    sendBy: performance.now() + connectTimeoutMs,
    answerWithinMs: headersTimeoutMs + bodyTimeoutMs,
  });
  return readOutcome(outcome);
}

async function readOutcome(outcome: ExchangeOutcome): Promise<TokenResponse> {
  if (outcome.kind !== 'answered') throw new GatewayError('TokenUnavailable', { sent: 'nothing' });
  const { status, headers, complete } = outcome;
  const details = { httpStatus: status, sent: 'nothing' } as const;
  // The interface does not show the response to a refusal (5.7): the statuses have HTTP's own meaning.
  if (status === 408 || status === 429 || status >= 500) {
    throw new GatewayError('TokenUnavailable', { ...details, retryAfterMs: retryAfterMs(headers, Date.now()) });
  }
  if (status >= 300) throw new GatewayError('CredentialsRefused', details);
  if (!complete) throw new GatewayError('TokenUnavailable', details);
  const text = await bodyText(outcome.body, headers['content-encoding'], MAX_TOKEN_RESPONSE_BYTES);
  const token = text === null ? null : readTokenResponse(text);
  if (!token) throw new GatewayError('CredentialsRefused', details);
  return token;
}

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
