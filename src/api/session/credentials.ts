/**
 * Finds a request's token: in a program's header, in the header of a proxy that knows the person, or in the page's
 * cookie.
 */
import type { FastifyRequest } from 'fastify';
import { isLoopbackHost, type ProxyCheck } from '../../http/addresses.ts';
import { Refusal } from '../../http/refusal.ts';

export type SignedInBy = 'authorization' | 'header' | 'cookie';

interface CredentialSources {
  /** In small letters. What an identity-aware proxy puts the person's token into. */
  tokenHeader?: string;
  /** The proxies whose `tokenHeader` is trusted. */
  isTrustedProxy?: ProxyCheck;
  cookieName?: string;
}

interface Credential {
  /** In the form of `Authorization`; `undefined` if the request brings no token. */
  authorization: string | undefined;
  signedInBy: SignedInBy;
}

type Headers = Pick<FastifyRequest, 'headers' | 'raw' | 'socket'>;

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

/** @throws Refusal 401 where it is not one token; 403 where the header comes from somebody else than the proxy */
export function readCredential(
  request: Headers,
  { tokenHeader, isTrustedProxy, cookieName }: CredentialSources,
): Credential {
  const authorization = refuseTwo(readHeaders(request, 'authorization'));
  const given = tokenHeader === undefined ? undefined : refuseTwo(readHeaders(request, tokenHeader));
  if (given !== undefined && given !== '') {
    if (!isTrustedProxy?.(request.socket.remoteAddress))
      throw new Refusal('proxy', 'only the proxy may send this header');
    if (!TOKEN.test(given)) throw new Refusal('tokenMalformed', 'the header must hold one token in JWT form');
    const bearer = `Bearer ${given}`;
    if (authorization !== undefined && authorization !== bearer) throw createTwoTokensRefusal();
    return { authorization: bearer, signedInBy: 'header' };
  }
  if (authorization !== undefined) return { authorization, signedInBy: 'authorization' };
  const cookie = cookieName === undefined ? undefined : refuseTwo(readCookies(request, cookieName));
  if (cookie === undefined) return { authorization: undefined, signedInBy: 'authorization' };
  return { authorization: `Bearer ${cookie}`, signedInBy: 'cookie' };
}

/** Returns the headers as they arrived: Node keeps the first of two `Authorization`, and joins others. */
function readHeaders({ raw }: Headers, name: string): string[] {
  const { rawHeaders } = raw;
  const found: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push((rawHeaders[at + 1] ?? '').trim());
  }
  return found;
}

function readCookies({ headers }: Headers, name: string): string[] {
  return (headers.cookie ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

/** Refuses two tokens, since readers would differ in which one they take. */
function refuseTwo(values: string[]): string | undefined {
  if (values.length > 1) throw createTwoTokensRefusal();
  return values[0];
}

function createTwoTokensRefusal(): Refusal {
  return new Refusal('twoTokens');
}

/**
 * A browser adds a cookie, and a proxy its header, to any request that any page sends. So such a request must come from
 * our own page, as the browser says. A program names its token itself, and needs to say nothing.
 *
 * @throws Refusal 403, 415
 */
export function requireOwnPage({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): void {
  const site = headers['sec-fetch-site'];
  const isRead = method === 'GET';
  // `none`: the user has typed the address.
  const isOwn = site === 'same-origin' || (isRead && (site === undefined || site === 'none'));
  if (!isOwn) throw new Refusal('crossSite');
  if (isRead || method === 'DELETE') return;
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Refusal('contentType');
  }
}
