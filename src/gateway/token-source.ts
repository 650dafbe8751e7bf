/**
 * Access tokens, in memory and per process: one for each gateway profile. Each is fetched once for any number of callers,
 * and renewed before it expires. docs/protocol.md; interface 5.
 */
import type { Agent, Dispatcher } from 'undici';
import { z } from 'zod';
import { parseRetryAfterMs } from '../base/instants.ts';
import { parseJson } from '../base/json-safety.ts';
import { type TokenRequest, tokenRequestSchema } from '../fields/request-schemas.ts';
import { readBodyText } from './body-text.ts';
import { createConnections } from './connections.ts';
import { GatewayError } from './errors.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import { type ExchangeObserver, observe } from './observer.ts';
import { type Credentials, type GatewayProfile, toTokenUrl } from './profile.ts';

export interface TokenSourceOptions {
  /** Milliseconds since the epoch; tests set their own clock. */
  now?: () => number;
  /** Random number from 0 to 1, so that the workers of a fleet renew at different seconds. */
  random?: () => number;
  /** Called for each fetch. */
  observer?: ExchangeObserver | undefined;
}

interface CachedToken {
  accessToken: string;
  /** Start of the token's fetch. A token that was revoked earlier is another one. */
  fetchedAtMs: number;
  renewAtMs: number;
  expiresAtMs: number;
}

interface Fetch {
  startedAtMs: number;
  token: Promise<CachedToken>;
}

/**
 * The token of one profile. A later fetch takes the place of an earlier one that a caller cannot use. The earlier fetch
 * then still answers its waiting callers, but its token is not kept.
 */
interface Slot {
  agent: Agent;
  token?: CachedToken | undefined;
  fetch?: Fetch | undefined;
}

/** A request in flight takes less than this. The margin is never more than a tenth of a short token's life. */
const RENEWAL_MARGIN_MS = 5 * 60_000;
/**
 * While the token service is down, or refuses, the source uses a token that is still valid, and retries the renewal
 * after this time.
 */
const RENEWAL_RETRY_MS = 10_000;
/** A service may lock out a client that it has refused many times. */
const REFUSED_RENEWAL_RETRY_MS = 60_000;

export class TokenSource {
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #observer: ExchangeObserver | undefined;
  readonly #slots = new Map<GatewayProfile, Slot>();

  constructor(options: TokenSourceOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#observer = options.observer;
  }

  /**
   * A token that is valid now.
   *
   * @param options.fetchedAfter RFC 3339: a token whose fetch began earlier is not returned
   * @param options.signal ends this caller's wait with the signal's own reason; a fetch that others share goes on
   * @throws GatewayError `TokenUnavailable` (perhaps with `retryAfterMs`) or `CredentialsRefused`
   */
  async get(
    profile: GatewayProfile,
    options: { fetchedAfter?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<{ accessToken: string }> {
    options.signal?.throwIfAborted();
    const afterMs = options.fetchedAfter === undefined ? Number.NEGATIVE_INFINITY : Date.parse(options.fetchedAfter);
    return rejectOnAbort(this.#get(profile, afterMs), options.signal);
  }

  /** Drops a token that the gateway refused, unless it has already been replaced. */
  invalidate(profile: GatewayProfile, accessToken: string): void {
    const slot = this.#slots.get(profile);
    if (slot?.token?.accessToken !== accessToken) return;
    slot.token = undefined;
    slot.fetch = undefined;
  }

  async close(): Promise<void> {
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    await Promise.all(slots.map(({ agent }) => agent.close()));
  }

  async #get(profile: GatewayProfile, afterMs: number): Promise<CachedToken> {
    const slot = this.#slots.get(profile) ?? { agent: createConnections(profile, MAX_TOKEN_RESPONSE_BYTES) };
    this.#slots.set(profile, slot);
    const nowMs = this.#now();
    const { token } = slot;
    const good = token && token.expiresAtMs > nowMs && token.fetchedAtMs > afterMs ? token : undefined;
    if (good && nowMs < good.renewAtMs) return good;
    try {
      return await this.#fetchOnce(slot, profile, afterMs);
    } catch (error) {
      // While the fetch lasted, the token may have expired, or the gateway may have refused it.
      if (!good || slot.token !== good || good.expiresAtMs <= this.#now()) throw error;
      const { code, retryAfterMs = 0 } = error as Partial<GatewayError>;
      const waitMs = code === 'CredentialsRefused' ? REFUSED_RENEWAL_RETRY_MS : RENEWAL_RETRY_MS;
      good.renewAtMs = this.#now() + Math.max(waitMs, retryAfterMs);
      return good;
    }
  }

  #fetchOnce(slot: Slot, profile: GatewayProfile, afterMs: number): Promise<CachedToken> {
    if (slot.fetch && slot.fetch.startedAtMs > afterMs) return slot.fetch.token;
    const startedAtMs = this.#now();
    const fetch = { startedAtMs, token: this.#fetch(slot.agent, profile, startedAtMs) };
    slot.fetch = fetch;
    const end = (token = slot.token) => {
      if (slot.fetch !== fetch) return;
      slot.token = token;
      slot.fetch = undefined;
    };
    fetch.token.then(end, () => end());
    return fetch.token;
  }

  #fetch(agent: Agent, profile: GatewayProfile, startedAtMs: number): Promise<CachedToken> {
    const work = async () => {
      // Reads the credentials for each fetch, so that a rotated secret takes effect after a refusal.
      const credentials = await profile.credentials.read().catch(() => {
        // An unreadable source counts as refused credentials: its own error may quote paths or contents.
        throw new GatewayError('CredentialsRefused', { sent: 'nothing' });
      });
      return this.#toCached(await requestToken(agent, profile, credentials), startedAtMs);
    };
    return observe(this.#observer, { profile, url: toTokenUrl(profile) }, work, () => ({}));
  }

  #toCached({ accessToken, expiresInS }: TokenResponse, startedAtMs: number): CachedToken {
    const lifeMs = expiresInS * 1000;
    const marginMs = Math.min(RENEWAL_MARGIN_MS, lifeMs / 10);
    const expiresAtMs = startedAtMs + lifeMs;
    // Renews the token at a random instant between one and two margins before its end.
    const renewAtMs = expiresAtMs - marginMs * (1 + this.#random());
    return { accessToken, fetchedAtMs: startedAtMs, renewAtMs, expiresAtMs };
  }
}

function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

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
    url: toTokenUrl(profile),
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
    throw new GatewayError('TokenUnavailable', { ...details, retryAfterMs: parseRetryAfterMs(headers, Date.now()) });
  }
  if (status >= 300) throw new GatewayError('CredentialsRefused', details);
  if (!complete) throw new GatewayError('TokenUnavailable', details);
  const text = await readBodyText(outcome.body, headers['content-encoding'], MAX_TOKEN_RESPONSE_BYTES);
  const token = text === null ? null : readTokenResponse(text);
  if (!token) throw new GatewayError('CredentialsRefused', details);
  return token;
}

/** The token service's sample token is a JWT of under 2 kB. A longer one would exceed our header limit. */
const MAX_TOKEN_LENGTH = 8 * 1024;

/** A year: a longer life is an error, and would overflow timers and dates. */
const MAX_EXPIRES_IN_S = 366 * 24 * 3600;

export type TokenResponse = z.output<typeof tokenResponseSchema>;

/** Interface 2.2. Ignores `scope`: the interface names no scope that a request needs. */
const tokenResponseSchema = z
  .object({
    access_token: z
      .string()
      .max(MAX_TOKEN_LENGTH)
      .regex(/^[\x21-\x7e]+$/),
    token_type: z.string().regex(/^bearer$/i),
    expires_in: z.int().positive().max(MAX_EXPIRES_IN_S),
  })
  .transform(({ access_token: accessToken, expires_in: expiresInS }) => ({ accessToken, expiresInS }));

/** Reads a token response that may be cached and put in a header; `null` for anything else. */
export function readTokenResponse(text: string): TokenResponse | null {
  return tokenResponseSchema.safeParse(parseJson(text)?.[0]).data ?? null;
}
