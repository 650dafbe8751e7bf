/**
 * Checks each request in this order: address, origin, caller, permission, room for its body. Then its body is read, in
 * a time of its own, and only then it takes a slot. So callers whose bodies drip hold up no other.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { omitUndefined } from '../base/defined.ts';
import type { ProxyCheck } from './addresses.ts';
import type { AccessRecord } from './audit.ts';
import { type HttpLimits, Slots, TokenBuckets } from './limits.ts';
import { Refusal } from './refusal.ts';
import type { Identity } from './token-verifier.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's name in the audit log. */
    route?: string;
    /** The needs that the service's own policy checks. A route with a name and without needs is public. */
    needs?: unknown;
    /** Requests wait for slots of their own lane alone: those that wait long for a worker delay no others. */
    lane?: string;
  }
}

/** The policy of one service: how to find the caller, and the needs of a route. */
export interface AccessPolicy<Needs, Caller extends Identity, Permission> {
  /** @throws Refusal 401, or 404 where nothing is to be told */
  verifyCaller(request: FastifyRequest): Promise<Caller>;
  /** Returns members for every audit line of the request. */
  describe?(request: FastifyRequest): Partial<AccessRecord>;
  /** Further parts of the key that a caller's requests are counted under. */
  countedBy?(request: FastifyRequest): readonly unknown[];
  /**
   * @param noted what is known so far goes into the audit line, even where the request is refused
   * @throws Refusal
   */
  permit(
    needs: Needs,
    about: { caller: Caller; request: FastifyRequest; note(more: Partial<AccessRecord>): void },
  ): Permission;
}

export interface GuardSettings<Needs, Caller extends Identity, Permission> {
  policy: AccessPolicy<Needs, Caller, Permission>;
  limits: HttpLimits;
  /** Origins of the UIs whose pages may call. */
  uiOrigins?: readonly string[] | undefined;
  /** The service has a page, which is of its own origin. */
  hasPage?: boolean | undefined;
  /** Absent where there is no proxy. */
  isTrustedProxy?: ProxyCheck | undefined;
}

/** Facts about a request so far: for the audit log, and for its handler. */
interface Access<Permission> {
  record: Omit<AccessRecord, 'status'>;
  permission?: Permission;
  /** The key from `toCallerKey`. */
  caller: string;
  /** Adds to the audit line, even when the request is refused after all. */
  note(more: Partial<AccessRecord>): void;
  /** Makes room for another request, before the answer: for one that only waits from here on. */
  giveUpSlot(): void;
  /** Makes room for another body. */
  giveUpBody(): void;
}

export class RequestGuard<Needs, Caller extends Identity, Permission> {
  readonly #settings: GuardSettings<Needs, Caller, Permission>;
  /** Tokens of an address until its caller is authenticated; given back then. */
  readonly #addresses: TokenBuckets;
  readonly #callers: TokenBuckets;
  readonly #lanes = new Map<string, Lane>();
  readonly #accesses = new WeakMap<FastifyRequest, Access<Permission>>();

  constructor(settings: GuardSettings<Needs, Caller, Permission>) {
    const { limits } = settings;
    this.#settings = settings;
    this.#addresses = new TokenBuckets(limits.burst, limits.perSecond);
    this.#callers = new TokenBuckets(limits.burst, limits.perSecond);
  }

  /** Returns `undefined` if the request is no access: an unknown address, `/healthz`, a browser's preflight. */
  findAccess(request: FastifyRequest): Access<Permission> | undefined {
    return this.#accesses.get(request);
  }

  /** For the handler of a request that `check` has let in. */
  requireGranted(request: FastifyRequest): Access<Permission> & { permission: Permission } {
    const access = this.findAccess(request);
    if (access?.permission === undefined) throw new Error('a request that was not let in');
    return access as Access<Permission> & { permission: Permission };
  }

  /** @throws Refusal */
  async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { policy } = this.#settings;
    const { route, needs } = request.routeOptions.config;
    if (route !== undefined && needs === undefined) return;
    const access: Access<Permission> = {
      record: { address: request.ip, route: route ?? 'unknown', ...policy.describe?.(request) },
      caller: '',
      note: (more) => Object.assign(access.record, more),
      giveUpSlot: () => {},
      giveUpBody: () => {},
    };
    if (needs !== undefined) this.#accesses.set(request, access);
    this.#takeFor(this.#addresses, request.ip);
    this.#requireProxy(request);
    if (answerCrossOrigin(request, reply, this.#settings)) {
      this.#addresses.giveBack(request.ip);
      await reply.code(204).send();
      return;
    }
    if (needs === undefined) return;
    const caller = await policy.verifyCaller(request);
    this.#addresses.giveBack(request.ip);
    const { subject, issuer } = caller;
    access.note(omitUndefined({ subject, issuer }));
    this.#takeFor(this.#callers, JSON.stringify([issuer, subject, ...(policy.countedBy?.(request) ?? [])]));
    access.permission = policy.permit(needs as Needs, { caller, request, note: access.note });
    access.caller = toCallerKey(caller);
    if (hasBody(request)) access.giveUpBody = await takeSlot(this.#chooseLane(request).bodies, access.caller, reply);
  }

  /** Returns the stream of a body that has its place. The stream ends in a refusal if the body arrives too slowly. */
  limitBody<Payload extends NodeJS.ReadableStream>(request: FastifyRequest, payload: Payload): Payload {
    if (this.findAccess(request)?.permission === undefined || !hasBody(request)) return payload;
    // Not `destroy`: the connection is needed for the answer.
    const tellSlow = () => payload.emit('error', new Refusal('slow'));
    const timer = setTimeout(tellSlow, this.#settings.limits.bodyTimeoutMs);
    for (const event of ['end', 'close', 'error']) payload.once(event, () => clearTimeout(timer));
    return payload;
  }

  /** Takes the slot of a request that has been read. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const access = this.findAccess(request);
    if (access?.permission === undefined) return;
    access.giveUpSlot = await takeSlot(this.#chooseLane(request).work, access.caller, reply);
    access.giveUpBody();
  }

  #chooseLane(request: FastifyRequest): Lane {
    const { lane = '' } = request.routeOptions.config;
    const { bodies, work } = this.#settings.limits;
    const known = this.#lanes.get(lane) ?? { bodies: new Slots(bodies), work: new Slots(work) };
    this.#lanes.set(lane, known);
    return known;
  }

  #takeFor(buckets: TokenBuckets, key: string): void {
    if (buckets.take(key)) return;
    const retryAfterSeconds = Math.ceil(1 / this.#settings.limits.perSecond);
    throw new Refusal('rate', undefined, { retryAfterSeconds });
  }

  #requireProxy(request: FastifyRequest): void {
    const { isTrustedProxy } = this.#settings;
    if (isTrustedProxy && !isTrustedProxy(request.socket.remoteAddress)) {
      throw new Refusal('proxy');
    }
  }
}

/** Builds the key of a caller in limits that all callers share. */
export function toCallerKey({ issuer, subject }: Identity): string {
  return JSON.stringify([issuer, subject]);
}

interface Lane {
  bodies: Slots;
  work: Slots;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns what gives the slot up. It is given up with the answer at the latest. */
async function takeSlot(slots: Slots, caller: string, reply: FastifyReply): Promise<() => void> {
  if (!(await slots.take(caller))) throw new Refusal('busy');
  let isHeld = true;
  const giveUp = () => {
    if (isHeld) slots.release(caller);
    isHeld = false;
  };
  if (reply.raw.destroyed) {
    giveUp();
    throw new Refusal('gone');
  }
  // Comes after the answer as well as after a caller who hung up.
  reply.raw.once('close', giveUp);
  return giveUp;
}

/** Lets each request of a service pass the guard, in the order in which Fastify reads it. */
export function addGuard<Needs, Caller extends Identity, Permission>(
  app: FastifyInstance,
  guard: RequestGuard<Needs, Caller, Permission>,
): void {
  app.addHook('onRequest', (request, reply) => guard.check(request, reply));
  app.addHook('preParsing', async (request, _reply, payload) => guard.limitBody(request, payload));
  app.addHook('preHandler', (request, reply) => guard.admit(request, reply));
}

/** Headers that the Temporal UI sends; `authorization-extras` is its id token, which is let through and not read. */
const ALLOWED_HEADERS = 'authorization, authorization-extras, content-type, x-namespace';

/** How long a browser may remember the answer; Chromium's own maximum is two hours. */
const MAX_AGE_SECONDS = 600;

/**
 * Says on the answer whether the page may read it.
 *
 * @returns whether this was the browser's question alone, and has been answered
 * @throws Refusal 403 for a page of another origin: nothing is done for it
 */
function answerCrossOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  { uiOrigins = [], hasPage = false }: Pick<GuardSettings<never, never, never>, 'uiOrigins' | 'hasPage'>,
): boolean {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  // No browser: a browser names the origin with each of these requests.
  if (origin === undefined) return false;
  if (hasPage && request.headers['sec-fetch-site'] === 'same-origin') return false;
  if (!uiOrigins.includes(origin)) throw new Refusal('origin');
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' });
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  reply.headers({
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(MAX_AGE_SECONDS),
    // A UI on the internet, a codec server in the office: Chromium asks before it lets the one call the other.
    ...(request.headers['access-control-request-private-network'] === 'true'
      ? { 'access-control-allow-private-network': 'true' }
      : {}),
  });
  return true;
}
