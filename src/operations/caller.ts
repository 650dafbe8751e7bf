/**
 * The caller of the API: where its request has the token, and what the token's claims permit, for which runs, and in whose
 * name.
 */
import type { FastifyRequest } from 'fastify';
import { text } from '../fields/fields.ts';
import { isLoopbackHost, type ProxyCheck } from '../http/addresses.ts';
import { Refusal } from '../http/refusal.ts';
import {
  createTokenVerifier,
  type Identity,
  readClaimWords,
  type TokenSettings,
  type TokenVerifier,
} from '../http/token-verifier.ts';
import { isScope, type Scope } from './scopes.ts';

/** All of them, or those that are listed. */
export type Reach = '*' | ReadonlySet<string>;

export interface ApiCaller extends Identity {
  scopes: ReadonlySet<Scope>;
  /** Names of gateway profiles. */
  profiles: Reach;
  /** Codes, or names, of end users. */
  endUsers: Reach;
  /** The person or program that acts. `undefined` if the claim cannot be used as a name. */
  by: string | undefined;
  /** How the request carried the token. */
  signedInBy?: SignedInBy;
  /** A program that has direct access to the ledger calls operations in its own process, without a token. */
  isLocal?: true;
}

const MAX_BY_CHARACTERS = 100;

/** The rule for `by` of every message. */
export const actingName = text(MAX_BY_CHARACTERS);

/**
 * @param byClaim the claim that names who acts
 * @throws Error where a key set file cannot be used
 */
export function createApiTokenVerifier(settings: TokenSettings, byClaim: string): TokenVerifier<ApiCaller> {
  return createTokenVerifier(settings, (identity, claim) => ({
    ...identity,
    scopes: new Set(readClaimWords(claim('scope')).filter(isScope)),
    profiles: readReach(claim('profiles')),
    endUsers: readReach(claim('end_users')),
    by: actingName.safeParse(claim(byClaim)).data,
  }));
}

/** Takes a list, or `*`. It splits no text at spaces, since an end user's name may hold one. No claim is no reach. */
function readReach(claim: unknown): Reach {
  const names = Array.isArray(claim) ? claim.filter((name) => typeof name === 'string') : claim === '*' ? ['*'] : [];
  return names.includes('*') ? '*' : new Set(names);
}

/** @throws Refusal 403 */
export function requireScope({ scopes }: ApiCaller, scope: Scope): void {
  if (!scopes.has(scope)) throw new Refusal('scope', `this needs the scope ${scope}`);
}

/** @throws Refusal 403 where the token names nobody in a form that a message takes */
export function requireActingName({ by }: ApiCaller): string {
  if (by === undefined) {
    throw new Refusal('by', `the token must say who acts, in 1 to ${MAX_BY_CHARACTERS} characters`);
  }
  return by;
}

// A request has its token in a program's header, in the header of a proxy that knows the person, or in the page's cookie.

type SignedInBy = 'authorization' | 'header' | 'cookie';

/** A JWT and nothing else: two headers of one name reach us with a comma between. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

interface SignInSettings {
  host: string;
  tokenHeader?: string | undefined;
  trustedProxies: readonly string[];
  signIn?: 'token' | undefined;
}

/** Any sender could set the header, so a trusted proxy must set it. A token in a cookie works on this machine only. */
export function listSignInProblems({ host, tokenHeader, trustedProxies, signIn }: SignInSettings) {
  const problems: { variable: 'API_TRUSTED_PROXIES' | 'API_HOST'; rule: string }[] = [];
  if (tokenHeader !== undefined && trustedProxies.length === 0) {
    const rule = 'is required beside API_TOKEN_HEADER: it names the proxies that may send a person’s token';
    problems.push({ variable: 'API_TRUSTED_PROXIES', rule });
  }
  if (signIn === 'token' && !isLoopbackHost(host)) {
    problems.push({ variable: 'API_HOST', rule: 'must be 127.0.0.1, ::1 or localhost where API_SIGN_IN is token' });
  }
  return problems;
}

/**
 * Returns the token in the form of `Authorization`; `undefined` if the request brings none.
 *
 * @param sources `tokenHeader`, in small letters: what an identity-aware proxy puts the person's token into.
 *   `isTrustedProxy`: the proxies whose `tokenHeader` is trusted.
 * @throws Refusal 401 where it is not one token; 403 where the header comes from somebody else than the proxy
 */
export function readCredential(
  request: FastifyRequest,
  sources: { tokenHeader?: string; isTrustedProxy?: ProxyCheck; cookieName?: string },
): { authorization: string | undefined; signedInBy: SignedInBy } {
  const { tokenHeader, isTrustedProxy, cookieName } = sources;
  const authorization = refuseTwo(request.raw.headersDistinct.authorization);
  const given = tokenHeader === undefined ? undefined : refuseTwo(request.raw.headersDistinct[tokenHeader]);
  if (given !== undefined && given !== '') {
    if (!isTrustedProxy?.(request.socket.remoteAddress))
      throw new Refusal('proxy', 'only the proxy may send this header');
    if (!TOKEN.test(given)) throw new Refusal('tokenMalformed', 'the header must hold one token in JWT form');
    const bearer = `Bearer ${given}`;
    if (authorization !== undefined && authorization !== bearer) throw new Refusal('twoTokens');
    return { authorization: bearer, signedInBy: 'header' };
  }
  if (authorization !== undefined) return { authorization, signedInBy: 'authorization' };
  const cookie = cookieName === undefined ? undefined : refuseTwo(readCookies(request, cookieName));
  if (cookie === undefined) return { authorization: undefined, signedInBy: 'authorization' };
  return { authorization: `Bearer ${cookie}`, signedInBy: 'cookie' };
}

function readCookies({ headers }: FastifyRequest, name: string): string[] {
  return (headers.cookie ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

/** Refuses two tokens, since readers would differ in which one they take. */
function refuseTwo(values: readonly string[] = []): string | undefined {
  if (values.length > 1) throw new Refusal('twoTokens');
  return values[0]?.trim();
}

/**
 * A browser adds a cookie, and a proxy its header, to any request that any page sends. So such a request must come from
 * our own page, as the browser says. A program names its token itself, and needs to say nothing.
 *
 * @throws Refusal 403, 415
 */
export function requireOwnPage({ method, headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isRead = method === 'GET';
  // `none`: the user has typed the address.
  const isOwn = site === 'same-origin' || (isRead && (site === undefined || site === 'none'));
  if (!isOwn) throw new Refusal('crossSite');
  if (isRead || method === 'DELETE') return;
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) throw new Refusal('contentType');
}
