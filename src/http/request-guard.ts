/** What every request passes before a byte of its body is read, in this order: address, origin, who, what, whether there is room. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessRecord } from './audit.ts';
import { crossOrigin } from './cross-origin.ts';
import type { CodecServerLimits } from './limits.ts';
import { badRequest, forbidden, notFound, Refusal, unavailable } from './refusal.ts';
import { type Caller, type Permission, permit, type RouteAction } from './roles.ts';
import { Slots } from './slots.ts';
import { TokenBuckets } from './token-buckets.ts';
import type { TokenVerifier } from './token-verifier.ts';
import type { ProxyCheck } from './trusted-proxies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As the audit log names the route. */
    route?: string;
    action?: RouteAction;
    /** Under `/reveal`: for the UI, which can put nothing behind the path. */
    asksReveal?: boolean;
  }
}

/** The unguessable path, or tokens. */
export type Gate = { kind: 'path'; segment: string; caller: Caller } | { kind: 'jwt'; verify: TokenVerifier };

interface GuardSettings {
  gate: Gate;
  namespaces: readonly string[];
  uiOrigins: ReadonlySet<string>;
  /** Absent where there is no proxy. */
  isTrustedProxy?: ProxyCheck;
  limits: CodecServerLimits;
}

/** What is known of a request so far: for the audit log, and for its handler. */
export interface Access {
  record: Omit<AccessRecord, 'status'>;
  permission?: Permission;
}

export class RequestGuard {
  readonly #settings: GuardSettings;
  /** Tokens of an address until its caller is authenticated; given back then. */
  readonly #addresses: TokenBuckets;
  readonly #callers: TokenBuckets;
  readonly #slots: Slots;
  readonly #accesses = new WeakMap<FastifyRequest, Access>();

  constructor(settings: GuardSettings) {
    const { limits } = settings;
    this.#settings = settings;
    this.#addresses = new TokenBuckets(limits.burst, limits.perSecond);
    this.#callers = new TokenBuckets(limits.burst, limits.perSecond);
    this.#slots = new Slots(limits);
  }

  /** `undefined` for what is no access: an unknown address, `/healthz`, a browser's question. */
  accessOf(request: FastifyRequest): Access | undefined {
    return this.#accesses.get(request);
  }

  /** @throws Refusal */
  async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // The path may be the secret.
      'referrer-policy': 'no-referrer',
    });
    const { route, action, asksReveal = false } = request.routeOptions.config;
    if (route !== undefined && action === undefined) return;
    const access: Access = { record: { address: request.ip, route: route ?? 'unknown' } };
    if (action !== undefined) this.#accesses.set(request, access);
    this.#takeFor(this.#addresses, request.ip);
    this.#requireProxy(request);
    if (crossOrigin(request, reply, this.#settings.uiOrigins)) {
      this.#addresses.giveBack(request.ip);
      await reply.code(204).send();
      return;
    }
    if (action === undefined) return;
    const caller = await this.#callerOf(request);
    this.#addresses.giveBack(request.ip);
    const { subject, issuer } = caller;
    access.record = { ...access.record, subject, ...(issuer === undefined ? {} : { issuer }) };
    this.#takeFor(this.#callers, JSON.stringify([issuer, subject, this.#settings.gate.kind === 'path' && request.ip]));
    const namespace = this.#namespaceOf(request, caller);
    access.record = { ...access.record, namespace };
    const wantsReveal = asksReveal || revealAsked(request);
    access.permission = permit({ caller, action, namespace, wantsReveal });
    await this.#takeSlot(reply);
  }

  #takeFor(buckets: TokenBuckets, key: string): void {
    if (buckets.take(key)) return;
    const retryAfterSeconds = Math.ceil(1 / this.#settings.limits.perSecond);
    throw new Refusal(429, 'TooManyRequests', 'rate', 'too many requests at once', { retryAfterSeconds });
  }

  #requireProxy(request: FastifyRequest): void {
    const { isTrustedProxy } = this.#settings;
    if (isTrustedProxy && !isTrustedProxy(request.socket.remoteAddress)) {
      throw forbidden('proxy', 'this server is called through its proxy');
    }
  }

  async #callerOf(request: FastifyRequest): Promise<Caller> {
    const { gate } = this.#settings;
    if (gate.kind === 'jwt') return gate.verify(request.headers.authorization);
    const { segment = '' } = request.params as { segment?: string };
    if (!isSame(segment, gate.segment)) throw notFound();
    return gate.caller;
  }

  /** The header's; without one the only one that it can mean. */
  #namespaceOf(request: FastifyRequest, caller: Caller): string {
    const header = request.headers['x-namespace'];
    const served = this.#settings.namespaces.filter((namespace) => caller.roles.has(namespace));
    if (header === undefined) {
      const [only, ...others] = served;
      if (only === undefined) throw forbidden('namespace', 'the token has no role in a namespace that is served here');
      if (others.length > 0) throw badRequest('namespace', 'the header X-Namespace must say which namespace is meant');
      return only;
    }
    // The error is the same for a namespace that is not served: a caller without a role in it does not learn which.
    const named = served.find((namespace) => namespace === header);
    if (named === undefined) throw forbidden('namespace', 'the token has no role in the namespace of X-Namespace');
    return named;
  }

  async #takeSlot(reply: FastifyReply): Promise<void> {
    if (!(await this.#slots.take())) throw unavailable('busy', 'too many requests are waiting');
    if (reply.raw.destroyed) {
      this.#slots.release();
      throw unavailable('gone', 'the caller has gone');
    }
    // Comes after the answer as well as after a caller who hung up.
    reply.raw.once('close', () => this.#slots.release());
  }
}

function revealAsked(request: FastifyRequest): boolean {
  const { reveal } = request.query as { reveal?: unknown };
  if (reveal === undefined || reveal === 'false') return false;
  if (reveal === 'true') return true;
  throw badRequest('reveal', 'reveal must be true or false');
}

/** In the same time however much of it was guessed. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
