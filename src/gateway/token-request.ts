import type { Dispatcher } from 'undici';
import { type TokenRequest, tokenRequestSchema } from '../fields/request-schemas.ts';
import { tokenUrl } from './addresses.ts';
import { bodyText } from './body-text.ts';
import { GatewayError } from './errors.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import type { Credentials, GatewayProfile } from './profile.ts';
import { retryAfterMs } from './retry-after.ts';
import { readTokenResponse, type TokenResponse } from './token-response.ts';

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
    const { 'retry-after': retryAfter, date } = headers;
    const wait = { retryAfter: textOf(retryAfter), date: textOf(date) };
    throw new GatewayError('TokenUnavailable', { ...details, retryAfterMs: retryAfterMs(wait, Date.now()) });
  }
  if (status >= 300) throw new GatewayError('CredentialsRefused', details);
  if (!complete) throw new GatewayError('TokenUnavailable', details);
  const text = await bodyText(outcome.body, headers['content-encoding'], MAX_TOKEN_RESPONSE_BYTES);
  const token = text === null ? null : readTokenResponse(text);
  if (!token) throw new GatewayError('CredentialsRefused', details);
  return token;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
