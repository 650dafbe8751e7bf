/** Starts the codec server: lets the Temporal UI, the Temporal CLI and other languages decode and encode. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defined } from '../base/defined.ts';
import { answerRefusals } from '../http/answer-refusals.ts';
import { type AccessRecord, type AuditLog, openAuditLog } from '../http/audit.ts';
import { badRequest, type Refusal } from '../http/refusal.ts';
import { addGuard, type Granted as GrantedAccess, RequestGuard } from '../http/request-guard.ts';
import { addressOf, createHttpServer, isLoopbackHost, protectAnswers } from '../http/server.ts';
import { proxyCheck } from '../http/trusted-proxies.ts';
import { ConfigError } from '../model/problems.ts';
import { type CodecGuard, codecPolicy, codecTokenVerifier, type Gate } from './access.ts';
import { CodecWork } from './codec-work.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { CodecServerOptions } from './options.ts';
import { PATH_CALLER, type Permission, type Role } from './roles.ts';

// The routes. `request-guard.ts` has authenticated the caller before; `answer-refusals.ts` answers errors.

interface Routes {
  guard: CodecGuard;
  audit: AuditLog;
  codec: CodecWork;
  /** `/:segment` where an unguessable path authenticates, else nothing. */
  prefix: string;
}

/** An access that was let in. */
interface Granted extends GrantedAccess<Permission> {
  /** Writes the line, before anything is given out; throws where it cannot be written. */
  given(outcome: Partial<AccessRecord>): void;
}

export function addRoutes(app: FastifyInstance, routes: Routes): void {
  app.get('/healthz', { config: { route: '/healthz' } }, async () => ({ status: 'ok' }));
  for (const asksReveal of [false, true]) addCodecRoutes(app, routes, asksReveal);
}

function addCodecRoutes(app: FastifyInstance, routes: Routes, asksReveal: boolean): void {
  const base = baseOf(routes, asksReveal);
  app.post(
    `${base}/encode`,
    { config: { route: '/encode', needs: { action: 'encode', asksReveal } } },
    async (request) => {
      const { permission, given } = granted(routes, request);
      const payloads = await routes.codec.encode(request.body, permission);
      given({ count: payloads.length });
      return { payloads };
    },
  );
  app.post(
    `${base}/decode`,
    { config: { route: '/decode', needs: { action: 'decode', asksReveal } } },
    async (request) => {
      const { permission, given } = granted(routes, request);
      const { payloads, undecodable } = await routes.codec.decode(request.body, permission);
      given({ count: payloads.length, undecodable, ...revealed(permission) });
      return { payloads };
    },
  );
}

function baseOf({ prefix }: Routes, asksReveal: boolean): string {
  return `${prefix}${asksReveal ? '/reveal' : ''}`;
}

function revealed({ view }: Permission): { revealed: boolean } {
  return { revealed: view === 'whole' };
}

function granted({ guard, audit }: Routes, request: FastifyRequest): Granted {
  const access = guard.granted(request);
  return {
    ...access,
    given: (outcome) => {
      access.noted(outcome);
      audit.record({ address: request.ip, route: 'unknown', ...guard.accessOf(request)?.record, status: 200 });
    },
  };
}

export type { CodecServerOptions } from './options.ts';

export interface RunningCodecServer {
  /** Without a slash at its end, and without the unguessable path. */
  url: string;
  port: number;
  /** `/<segment>`, where that is what authenticates. A secret. */
  path?: string;
  /** What the Temporal UI and CLI are given: `url` and `path`. */
  endpoint: string;
  /** Ends open connections, and closes the audit log. */
  close(): Promise<void>;
}

/** Default roles of a caller that knows the path. */
const PATH_ROLES: readonly Role[] = ['encode', 'decode-redacted'];

/**
 * Listens when it resolves. `ConfigError` where the options may not be: an unguessable path in production or beyond
 * this machine. The system's error where the port is taken or the audit file cannot be opened.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<RunningCodecServer> {
  const host = options.host ?? '127.0.0.1';
  const gate = gateOf(options, host);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const audit = openAuditLog(options.audit ?? process.stderr);
  const isTrustedProxy = options.trustedProxies?.length ? proxyCheck(options.trustedProxies) : undefined;
  const { tls, metrics } = options;
  const app = createHttpServer({
    limits,
    ...defined({ tls, isTrustedProxy, metrics }),
    onMalformedAddress: (request, reply) => {
      writeError(badRequest('address', 'the address is malformed'), request, reply);
    },
    options: {
      forceCloseConnections: true,
      // The UI and the Temporal CLI put `/decode` behind the address that they were given, with a slash at its end or
      // not.
      routerOptions: { ignoreDuplicateSlashes: true },
    },
  });
  const guard: CodecGuard = new RequestGuard({
    policy: codecPolicy(gate, options.namespaces),
    uiOrigins: new Set(options.uiOrigins),
    ...defined({ isTrustedProxy }),
    limits,
  });
  const codec = new CodecWork({
    keys: options.keys,
    originNamespaces: options.originNamespaces ?? [],
    limits,
    onUnknownKey: options.onUnknownKey ?? (() => {}),
  });
  protectAnswers(app);
  addGuard(app, guard);
  answerRefusals(app, { guard, audit, write: writeError, onUnexpected: options.onUnexpected ?? (() => {}) });
  addRoutes(app, { guard, audit, codec, prefix: gate.kind === 'path' ? '/:segment' : '' });
  try {
    await app.listen({ port: options.port ?? 0, host });
  } catch (error) {
    audit.close();
    throw error;
  }
  return running(app, {
    host,
    gate,
    isSecure: tls !== undefined,
    audit,
  });
}

function running(
  app: FastifyInstance,
  about: { host: string; gate: Gate; isSecure: boolean; audit: AuditLog },
): RunningCodecServer {
  const { host, gate, isSecure, audit } = about;
  const { url, port } = addressOf(app, host, isSecure);
  const path = gate.kind === 'path' ? `/${gate.segment}` : undefined;
  return {
    url,
    port,
    ...defined({ path }),
    endpoint: `${url}${path ?? ''}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      audit.close();
    },
  };
}

function writeError(refusal: Refusal, _request: FastifyRequest, reply: FastifyReply): void {
  reply.send(refusal.body);
}

function gateOf({ authentication, environment, namespaces }: CodecServerOptions, host: string): Gate {
  if (authentication.kind === 'jwt') return { kind: 'jwt', verify: codecTokenVerifier(authentication) };
  const problems = [];
  if (environment === 'production') {
    const rule = 'is required in production, or CODEC_JWKS_FILE: an unguessable path is for one machine alone';
    problems.push({ variable: 'CODEC_JWKS_URL', rule });
  }
  if (!isLoopbackHost(host)) {
    const rule = 'must be 127.0.0.1, ::1 or localhost where no key set for tokens is given';
    problems.push({ variable: 'CODEC_SERVER_HOST', rule });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const { segment = randomBytes(32).toString('base64url'), roles = PATH_ROLES } = authentication;
  if (!/^[\w-]{43,}$/.test(segment)) throw new TypeError('the path must be 32 random bytes in base64url');
  const granted = new Map(namespaces.map((namespace) => [namespace, new Set(roles)] as const));
  return { kind: 'path', segment, caller: { subject: PATH_CALLER, roles: granted } };
}
