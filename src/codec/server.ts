/** Starts the codec server: lets the Temporal UI, the Temporal CLI and other languages decode, encode and read reports. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { defined } from '../base/defined.ts';
import { answerRefusals } from '../http/answer-refusals.ts';
import { openAuditLog } from '../http/audit.ts';
import { DEFAULT_LIMITS } from '../http/limits.ts';
import { type Gate, RequestGuard } from '../http/request-guard.ts';
import { PATH_CALLER, type Role } from '../http/roles.ts';
import { createTokenVerifier } from '../http/token-verifier.ts';
import { proxyCheck } from '../http/trusted-proxies.ts';
import { ConfigError } from '../model/problems.ts';
import { CodecWork } from './codec-work.ts';
import { type CodecServerOptions, isLoopbackHost } from './options.ts';
import { ReportWork } from './report-work.ts';
import { addRoutes } from './routes.ts';

export type { CodecServerOptions } from './options.ts';

export interface RunningCodecServer {
  /** Without a slash at its end, and without the unguessable path. */
  url: string;
  port: number;
  /** `/<segment>`, where that is what authenticates. A secret. */
  path?: string;
  /** What the Temporal UI and CLI are given: `url` and `path`. */
  endpoint: string;
  /** Ends open connections, and closes the ledger and the audit log. */
  close(): Promise<void>;
}

/** Default roles of a caller that knows the path. */
const PATH_ROLES: readonly Role[] = ['encode', 'decode-redacted', 'report'];

/** One page of a busy UI opens dozens; a thousand are an attack, or a test. */
const MAX_CONNECTIONS = 4_000;

/**
 * Listens when it resolves. `ConfigError` where the options may not be: an unguessable path in production or beyond
 * this machine. The system's error where the port is taken or the audit file cannot be opened.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<RunningCodecServer> {
  const host = options.host ?? '127.0.0.1';
  const gate = gateOf(options, host);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const audit = openAuditLog(options.audit ?? process.stderr);
  const reports = new ReportWork(options.openLedger, options.namespaces[0]);
  const isTrustedProxy = options.trustedProxies?.length ? proxyCheck(options.trustedProxies) : undefined;
  const server = {
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    // The UI and the Temporal CLI put `/decode` behind the address that they were given, with a slash at its end or
    // not.
    routerOptions: { ignoreDuplicateSlashes: true },
    frameworkErrors: (_error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      reply.code(400).send({ error: { code: 'BadRequest', reason: 'address', message: 'the address is malformed' } });
    },
    ...(isTrustedProxy ? { trustProxy: (address: string) => isTrustedProxy(address) } : {}),
  };
  const { tls } = options;
  const app = (
    tls ? fastify({ ...server, https: { ...tls, minVersion: 'TLSv1.2' } }) : fastify(server)
  ) as FastifyInstance;
  app.server.maxConnections = MAX_CONNECTIONS;
  const guard = new RequestGuard({
    gate,
    namespaces: options.namespaces,
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
  // As text: how deep it nests and what it gives twice is seen there alone.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply) => guard.check(request, reply));
  answerRefusals(app, guard, audit, options.onUnexpected ?? (() => {}));
  addRoutes(app, { guard, audit, codec, reports, prefix: gate.kind === 'path' ? '/:segment' : '' });
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
    release: [() => reports.close(), () => audit.close()],
  });
}

function running(
  app: FastifyInstance,
  about: { host: string; gate: Gate; isSecure: boolean; release: (() => void | Promise<void>)[] },
): RunningCodecServer {
  const { host, gate, isSecure, release } = about;
  const { port } = app.server.address() as AddressInfo;
  const url = `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const path = gate.kind === 'path' ? `/${gate.segment}` : undefined;
  return {
    url,
    port,
    ...defined({ path }),
    endpoint: `${url}${path ?? ''}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      for (const step of release) await step();
    },
  };
}

function gateOf({ authentication, environment, namespaces }: CodecServerOptions, host: string): Gate {
  if (authentication.kind === 'jwt') return { kind: 'jwt', verify: createTokenVerifier(authentication) };
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
