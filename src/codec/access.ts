/** Access to the codec server: by the unguessable path or a token, in the namespace that the request names. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { CODEC_ROLES, type CodecRole } from '../config/variables.ts';
import { isLoopbackHost } from '../http/addresses.ts';
import { Refusal } from '../http/refusal.ts';
import type { AccessPolicy } from '../http/request-guard.ts';
import {
  createTokenVerifier,
  type Identity,
  readClaimWords,
  type TokenSettings,
  type TokenVerifier,
} from '../http/token-verifier.ts';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';

export type Authentication =
  | ({ kind: 'jwt' } & CodecTokenSettings)
  /** Only on this machine, never in `production`: every caller that has the address has these `roles`. */
  | {
      kind: 'path';
      /** Default: `encode` and `decode-redacted`. */
      roles?: readonly CodecRole[] | undefined;
    };

interface CodecTokenSettings extends TokenSettings {
  /** The claim that lists `<namespace>:<role>`; as Temporal's own does by default, so that one token fits both. */
  permissionsClaim?: string;
}

export interface Caller extends Identity {
  /** Namespaces without a role are not in it. */
  roles: ReadonlyMap<string, ReadonlySet<CodecRole>>;
}

export interface CodecNeeds {
  action: 'encode' | 'decode';
  /** Under `/reveal`. */
  asksReveal: boolean;
}

export interface Permission {
  namespace: string;
  /** `redacted` masks personal data. */
  view: 'whole' | 'redacted';
  /** A service cannot do without a payload that may be readable later; a person is shown that it is not. */
  isService: boolean;
}

/** @throws Error where a key set file cannot be used */
export function createCodecTokenVerifier(settings: CodecTokenSettings): TokenVerifier<Caller> {
  const { permissionsClaim = 'permissions' } = settings;
  return createTokenVerifier(settings, (identity, claim) => ({
    ...identity,
    roles: parseRoles(claim(permissionsClaim)),
  }));
}

/**
 * The roles of a claim: `["default:decode-redacted", …]`, or the same with spaces between. Words of others' are passed
 * over.
 */
function parseRoles(claim: unknown): Map<string, Set<CodecRole>> {
  const roles = new Map<string, Set<CodecRole>>();
  for (const word of readClaimWords(claim)) {
    const at = word.lastIndexOf(':');
    const role = CODEC_ROLES.find((candidate) => candidate === word.slice(at + 1));
    if (at <= 0 || role === undefined) continue;
    const namespace = word.slice(0, at);
    roles.set(namespace, (roles.get(namespace) ?? new Set()).add(role));
  }
  return roles;
}

/** Rules for an unguessable path: for one machine alone. */
export function findPathProblems(environment: Environment, host: string): ConfigProblem[] {
  const production = {
    variable: 'CODEC_JWKS_URL',
    rule: 'is required in production unless CODEC_JWKS_FILE is given: an unguessable path is for one machine alone',
  };
  const beyond = {
    variable: 'CODEC_SERVER_HOST',
    rule: 'must be 127.0.0.1, ::1 or localhost where no key set for tokens is given',
  };
  return [...(environment === 'production' ? [production] : []), ...(isLoopbackHost(host) ? [] : [beyond])];
}

/** `segment` is absent where callers have tokens. @throws ConfigError for it in production or beyond this machine */
export function createAccess(
  authentication: Authentication,
  { environment, host, namespaces }: { environment: Environment; host: string; namespaces: readonly string[] },
): { policy: AccessPolicy<Caller>; segment?: string } {
  const authorize = createAuthorization(namespaces);
  if (authentication.kind === 'jwt') {
    const verify = createCodecTokenVerifier(authentication);
    return { policy: { verifyCaller: ({ headers }) => verify(headers.authorization), authorize } };
  }
  const problems = findPathProblems(environment, host);
  if (problems.length > 0) throw new ConfigError(problems);
  const { roles = ['encode', 'decode-redacted'] } = authentication;
  const segment = randomBytes(32).toString('base64url');
  const granted = new Map(namespaces.map((namespace) => [namespace, new Set(roles)] as const));
  const policy: AccessPolicy<Caller> = {
    async verifyCaller({ params }) {
      const given = (params as { segment?: string }).segment ?? '';
      if (!isSame(given, segment)) throw new Refusal('notFound', 'there is nothing at this address');
      return { subject: 'path', roles: granted };
    },
    countedBy: ({ ip }) => [ip],
    authorize,
  };
  return { policy, segment };
}

/** In the same time however much of it was guessed. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The permission by the caller's roles in the namespace. It throws a Refusal where the caller has no role for it there. */
function createAuthorization(namespaces: readonly string[]): AccessPolicy<Caller>['authorize'] {
  return (request, caller, note): Permission => {
    const { action, asksReveal } = request.routeOptions.config.needs as CodecNeeds;
    const namespace = readNamespace(request, caller, namespaces);
    note({ namespace });
    const roles = caller.roles.get(namespace) ?? new Set<CodecRole>();
    const sufficient: CodecRole[] = action === 'encode' ? ['encode'] : ['decode', 'decode-redacted', 'reveal'];
    if (!sufficient.some((role) => roles.has(role)))
      throw new Refusal('role', `this needs the role ${action} in the namespace`);
    const isService = roles.has('decode');
    if (asksReveal && action !== 'encode' && !isService && !roles.has('reveal')) {
      throw new Refusal('role', 'revealing needs the role reveal in the namespace');
    }
    return { namespace, view: isService || asksReveal ? 'whole' : 'redacted', isService };
  };
}

/** Reads the namespace from the header. Without a header, returns the caller's only namespace. */
function readNamespace(request: FastifyRequest, caller: Caller, namespaces: readonly string[]): string {
  const header = request.headers['x-namespace'];
  const served = namespaces.filter((namespace) => caller.roles.has(namespace));
  if (header === undefined) {
    const [only, ...others] = served;
    if (only === undefined) throw new Refusal('namespace', 'the token has no role in a namespace that is served here');
    if (others.length === 0) return only;
    throw new Refusal('namespaceMissing', 'the header X-Namespace must say which namespace is meant');
  }
  // The error is the same for a namespace that is not served: a caller without a role in it does not learn which.
  const named = served.find((namespace) => namespace === header);
  if (named === undefined) throw new Refusal('namespace', 'the token has no role in the namespace of X-Namespace');
  return named;
}
