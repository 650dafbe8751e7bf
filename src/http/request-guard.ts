/**
 * Checks each request in this order: address, origin, caller, permission, room for its body. Then its body is read, in
 * a time of its own, and only then it takes a slot. So callers whose bodies drip hold up no other.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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

  interface FastifyRequest {
    /** Absent if the request is no access: an unknown address, `/healthz`, a browser's preflight. */
    access?: Access;
  }
}

/** The policy of one service: how to find the caller, and the needs of a route. */
export interface AccessPolicy<Caller extends Identity> {
  /** @throws Refusal 401, or 404 where nothing is to be told */
  verifyCaller(request: FastifyRequest): Promise<Caller>;
  /** Returns members for every audit line of the request. */
  describe?(request: FastifyRequest): Partial<AccessRecord>;
  /** Further parts of the key that a caller's requests are counted under. */
  countedBy?(request: FastifyRequest): readonly unknown[];
  /**
   * Returns the permission that the handler of the route gets.
   *
   * @param note adds to the audit line, even where the request is refused
   * @throws Refusal
   */
  authorize(request: FastifyRequest, caller: Caller, note: Access['note']): unknown;
}

export interface GuardSettings<Caller extends Identity> {
  policy: AccessPolicy<Caller>;
  limits: HttpLimits;
  /** Origins of the UIs whose pages may call. */
  uiOrigins?: readonly string[] | undefined;
  /** Whether the service has a page, which is of its own origin. */
  hasPage?: boolean;
  /** Absent where there is no proxy. */
  isTrustedProxy?: ProxyCheck | undefined;
}

/** Facts about a request so far: for the audit log, and for its handler. */
interface Access {
  record: Omit<AccessRecord, 'status'>;
  /** The result of the policy's `authorize`. */
  permission?: unknown;
  /** When the handler began, by `performance.now()`. */
  startedAt?: number;
  /** The key from `toCallerKey`. */
  caller: string;
  /** Adds to the audit line, even when the request is refused after all. */
  note(more: Partial<AccessRecord>): void;
  /** Makes room for another request, before the answer: for one that only waits from here on. */
  giveUpSlot(): void;
  /** Makes room for another body. */
  giveUpBody(): void;
}

/** Returns the access of a request that the guard has let in, for its handler. */
export function requireAccess<Permission>({ access }: FastifyRequest): Access & { permission: Permission } {
  if (access?.permission === undefined) throw new Error('a request that was not let in');
  return access as Access & { permission: Permission };
}

/** Lets each request of a service pass the checks, in the order in which Fastify reads it. */
export function addGuard<Caller extends Identity>(app: FastifyInstance, settings: GuardSettings<Caller>): void {
  const { policy, limits, isTrustedProxy } = settings;
  /** Tokens of an address until its caller is authenticated; given back then. */
  const addresses = new TokenBuckets(limits);
  const callers = new TokenBuckets(limits);
  const lanes = new Map<string, Lane>();

  function chooseLane({ routeOptions }: FastifyRequest): Lane {
    const { lane = '' } = routeOptions.config;
    const chosen = lanes.get(lane) ?? { bodies: new Slots(limits.bodies), work: new Slots(limits.work) };
    lanes.set(lane, chosen);
    return chosen;
  }

  app.decorateRequest('access');
  app.addHook('onRequest', async (request, reply) => {
    const { route, needs } = request.routeOptions.config;
    if (route !== undefined && needs === undefined) return;
    const access: Access = {
      record: { address: request.ip, route: route ?? 'unknown', ...policy.describe?.(request) },
      caller: '',
      note: (more) => Object.assign(access.record, more),
      giveUpSlot: () => {},
      giveUpBody: () => {},
    };
    if (needs !== undefined) request.access = access;
    addresses.take(request.ip);
    if (isTrustedProxy && !isTrustedProxy(request.socket.remoteAddress)) throw new Refusal('proxy');
    if (answerCrossOrigin(request, reply, settings)) {
      addresses.giveBack(request.ip);
      await reply.code(204).send();
      return;
    }
    if (needs === undefined) return;
    const caller = await policy.verifyCaller(request);
    addresses.giveBack(request.ip);
    const { subject, issuer } = caller;
    access.note({ subject, issuer });
    callers.take(JSON.stringify([issuer, subject, ...(policy.countedBy?.(request) ?? [])]));
    access.permission = policy.authorize(request, caller, access.note);
    access.caller = toCallerKey(caller);
    if (hasBody(request)) access.giveUpBody = await takeSlot(chooseLane(request).bodies, access.caller, reply);
  });
  // The stream of a body that has its place. It ends in a refusal if the body arrives too slowly.
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.access?.permission === undefined || !hasBody(request)) return payload;
    // Not `destroy`: the connection is needed for the answer.
    const tellSlow = () => payload.emit('error', new Refusal('slow'));
    const timer = setTimeout(tellSlow, limits.bodyTimeoutMs);
    for (const event of ['end', 'close', 'error']) payload.once(event, () => clearTimeout(timer));
    return payload;
  });
  app.addHook('preHandler', async (request, reply) => {
    const { access } = request;
    if (access?.permission === undefined) return;
    access.giveUpSlot = await takeSlot(chooseLane(request).work, access.caller, reply);
    access.giveUpBody();
  });
}

/** Builds the key of a caller in limits that all callers share. */
export function toCallerKey({ issuer, subject }: Identity): string {
  return JSON.stringify([issuer, subject]);
}

type Lane = Record<'bodies' | 'work', Slots>;

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
  { uiOrigins = [], hasPage = false }: Pick<GuardSettings<never>, 'uiOrigins' | 'hasPage'>,
): boolean {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  // No browser: a browser names the origin with each of these requests.
  if (origin === undefined) return false;
  // The service's own page, as the browser says.
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
