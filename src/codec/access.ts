/** Access to the codec server: by the unguessable path or a token, in the namespace that the request names. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../http/refusal.ts';
import type { AccessPolicy } from '../http/request-guard.ts';
import {
  createTokenVerifier,
  type Identity,
  type TokenSettings,
  type TokenVerifier,
  wordsIn,
} from '../http/token-verifier.ts';

/** The unguessable path, or tokens. */
export type Gate = { kind: 'path'; segment: string; caller: Caller } | { kind: 'jwt'; verify: TokenVerifier<Caller> };

export interface CodecNeeds {
  action: RouteAction;
  /** Under `/reveal`: for the UI, which can put nothing behind the path. */
  asksReveal: boolean;
}

export interface CodecTokenSettings extends TokenSettings {
  /** The claim that lists `<namespace>:<role>`; as Temporal's own does by default, so that one token fits both. */
  permissionsClaim?: string;
}

/** @throws Error where a key set file cannot be used */
export function codecTokenVerifier(settings: CodecTokenSettings): TokenVerifier<Caller> {
  const { permissionsClaim = 'permissions' } = settings;
  return createTokenVerifier(settings, (identity, claim) => ({ ...identity, roles: rolesIn(claim(permissionsClaim)) }));
}

export function codecPolicy(gate: Gate, namespaces: readonly string[]): AccessPolicy<CodecNeeds, Caller, Permission> {
  return {
    async verifyCaller(request) {
      if (gate.kind === 'jwt') return gate.verify(request.headers.authorization);
      const { segment = '' } = request.params as { segment?: string };
      if (!isSame(segment, gate.segment)) throw new Refusal('notFound', 'there is nothing at this address');
      return gate.caller;
    },
    countedBy: (request) => [gate.kind === 'path' && request.ip],
    permit({ action, asksReveal }, { caller, request, note }) {
      const namespace = readNamespace(request, caller, namespaces);
      note({ namespace });
      return permit(caller, action, namespace, asksReveal || revealAsked(request));
    },
  };
}

/** The header's; without one the only one that it can mean. */
function readNamespace(request: FastifyRequest, caller: Caller, namespaces: readonly string[]): string {
  const header = request.headers['x-namespace'];
  const served = namespaces.filter((namespace) => caller.roles.has(namespace));
  if (header === undefined) {
    const [only, ...others] = served;
    if (only === undefined) throw new Refusal('namespace', 'the token has no role in a namespace that is served here');
    if (others.length > 0)
      throw new Refusal('namespaceMissing', 'the header X-Namespace must say which namespace is meant');
    return only;
  }
  // The error is the same for a namespace that is not served: a caller without a role in it does not learn which.
  const named = served.find((namespace) => namespace === header);
  if (named === undefined) throw new Refusal('namespace', 'the token has no role in the namespace of X-Namespace');
  return named;
}

function revealAsked(request: FastifyRequest): boolean {
  const { reveal } = request.query as { reveal?: unknown };
  if (reveal === undefined || reveal === 'false') return false;
  if (reveal === 'true') return true;
  throw new Refusal('reveal', 'reveal must be true or false');
}

/** In the same time however much of it was guessed. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * - `encode`: have payloads encrypted
 * - `decode-redacted`: people; see decoded payloads with personal data masked
 * - `decode`: services; see everything
 * - `reveal`: people; as `decode-redacted`, and everything where they ask for it
 */
export const ROLES = ['encode', 'decode-redacted', 'decode', 'reveal'] as const;
export type Role = (typeof ROLES)[number];

/** The subject of a caller that knows the unguessable path. */
export const PATH_CALLER = 'path';

/** `subject` is `sub` of the token, or `PATH_CALLER`. */
export interface Caller extends Identity {
  /** Namespaces without a role are not in it. */
  roles: ReadonlyMap<string, ReadonlySet<Role>>;
}

type RouteAction = 'encode' | 'decode';

/** How much is shown. */
export type View = 'whole' | 'redacted';

export interface Permission {
  namespace: string;
  view: View;
  /** A service cannot do without a payload that may be readable later; a person is shown that it is not. */
  isService: boolean;
}

/**
 * The roles of a claim: `["default:decode-redacted", …]`, or the same with spaces between. Words of others' are passed
 * over.
 */
function rolesIn(claim: unknown): Map<string, Set<Role>> {
  const roles = new Map<string, Set<Role>>();
  for (const word of wordsIn(claim)) {
    const at = word.lastIndexOf(':');
    const role = ROLES.find((candidate) => candidate === word.slice(at + 1));
    if (at <= 0 || role === undefined) continue;
    const namespace = word.slice(0, at);
    roles.set(namespace, (roles.get(namespace) ?? new Set()).add(role));
  }
  return roles;
}

/** @throws Refusal where the caller has no role for it there */
function permit(caller: Caller, action: RouteAction, namespace: string, wantsReveal: boolean): Permission {
  const roles = caller.roles.get(namespace) ?? new Set<Role>();
  const may =
    action === 'decode'
      ? roles.has('decode') || roles.has('decode-redacted') || roles.has('reveal')
      : roles.has(action);
  if (!may) throw new Refusal('role', `this takes the role ${action} in the namespace`);
  const isService = roles.has('decode');
  if (wantsReveal && action !== 'encode' && !isService && !roles.has('reveal')) {
    throw new Refusal('role', 'revealing takes the role reveal in the namespace');
  }
  const isWhole = isService || (wantsReveal && roles.has('reveal'));
  return { namespace, view: isWhole ? 'whole' : 'redacted', isService };
}
