/** The common part of the API and the codec server: options, and a server whose requests pass guard and audit log. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerRefusals } from './answer-refusals.ts';
import { type AuditDestination, type AuditLog, openAuditLog } from './audit.ts';
import type { HttpLimits } from './limits.ts';
import { Refusal } from './refusal.ts';
import { type AccessPolicy, addGuard, RequestGuard } from './request-guard.ts';
import type { RequestMetrics } from './request-metrics.ts';
import {
  createHttpServer,
  type OwnServerOptions,
  type ProxyCheck,
  protectAnswers,
  proxyCheck,
  readAddress,
} from './server.ts';
import type { Identity } from './token-verifier.ts';

export interface HttpServiceOptions {
  /** Default: lines on stderr. */
  audit?: AuditDestination | undefined;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  /** PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Addresses or CIDR blocks; where there are any, only they may connect, and `X-Forwarded-For` is believed. */
  trustedProxies?: readonly string[];
  metrics?: RequestMetrics;
  /** A bug, or an audit log that cannot be written; the caller got 500 or 503 without a reason. */
  onUnexpected?: (error: unknown) => void;
}

/** The parts of one service alone. */
interface OwnParts<Needs, Caller extends Identity, Permission> {
  limits: HttpLimits;
  policy(isTrustedProxy: ProxyCheck | undefined): AccessPolicy<Needs, Caller, Permission>;
  uiOrigins?: readonly string[] | undefined;
  /** The service has a page, which is of its own origin. */
  hasPage?: boolean;
  /** The service's own form of an error. */
  write(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void;
  /** A refusal for an error of what the service works with; `undefined` for any other. */
  translate?(error: unknown): Refusal | undefined;
  server: OwnServerOptions;
  /** Called before the guard is added. */
  prepare?(app: FastifyInstance): void;
}

export interface HttpService<Needs, Caller extends Identity, Permission> {
  app: FastifyInstance;
  guard: RequestGuard<Needs, Caller, Permission>;
  audit: AuditLog;
  /** Listens when it resolves; `url` has no slash at its end. The system's error where the port is taken. */
  listen(): Promise<{ url: string; port: number }>;
}

/** The system's error where the audit file cannot be opened. */
export function openService<Needs, Caller extends Identity, Permission>(
  options: HttpServiceOptions,
  {
    limits,
    policy,
    uiOrigins,
    hasPage = false,
    write,
    translate,
    server,
    prepare,
  }: OwnParts<Needs, Caller, Permission>,
): HttpService<Needs, Caller, Permission> {
  const { host = '127.0.0.1', port = 0, tls, trustedProxies = [], metrics, onUnexpected = () => {} } = options;
  const isTrustedProxy = trustedProxies.length > 0 ? proxyCheck(trustedProxies) : undefined;
  const audit = openAuditLog(options.audit ?? process.stderr);
  const app = createHttpServer({
    limits,
    tls,
    isTrustedProxy,
    metrics,
    onMalformedAddress: (request, reply) => write(new Refusal('address', 'the address is malformed'), request, reply),
    options: server,
  });
  const guard = new RequestGuard({
    policy: policy(isTrustedProxy),
    uiOrigins: new Set(uiOrigins),
    hasPage,
    isTrustedProxy,
    limits,
  });
  protectAnswers(app);
  prepare?.(app);
  addGuard(app, guard);
  answerRefusals(app, { guard, audit, write, translate, onUnexpected });
  return {
    app,
    guard,
    audit,
    async listen() {
      try {
        await app.listen({ port, host });
      } catch (error) {
        audit.close();
        throw error;
      }
      return readAddress(app, host, tls !== undefined);
    },
  };
}
