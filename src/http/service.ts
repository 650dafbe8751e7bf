/** The common part of the API and the codec server: a bounded server whose requests pass guard and audit log. */
import type { AddressInfo } from 'node:net';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { writeToStandardError } from '../base/standard-error.ts';
import { decodeUtf8 } from '../base/utf-8.ts';
import { createProxyCheck } from './addresses.ts';
import { toRefusal } from './answer-refusals.ts';
import { type AuditDestination, openAuditLog } from './audit.ts';
import { Refusal } from './refusal.ts';
import { addGuard, type GuardSettings } from './request-guard.ts';
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
  /** Called with each answer. `operation` is the route's name, or `other`: an address of the caller's is not shown. */
  onAnswered?: (operation: string, status: number, seconds: number) => void;
  /** A bug, or an audit log that cannot be written; the caller got 500 or 503 without a reason. */
  onUnexpected?: (error: unknown) => void;
}

/** The parts of one service alone. */
interface OwnParts<Caller extends Identity> extends Omit<GuardSettings<Caller>, 'isTrustedProxy'> {
  /** The service's own form of an error. */
  write(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void;
  /** The refusal for an error of what the service works with; `undefined` for any other. */
  translate?(error: unknown): Refusal | undefined;
  server: FastifyServerOptions;
  /** Called before the guard is added. */
  prepare?(app: FastifyInstance): void;
}

export type HttpService = ReturnType<typeof openService>;

const MAX_CONNECTIONS = 4_000;

/** No answer lets its caller wait for longer than a minute. */
const IDLE_TIMEOUT_MS = 90_000;

const LONGEST_CHECK_MS = 5_000;

/** The system's error where the audit file cannot be opened. */
export function openService<Caller extends Identity>(options: HttpServiceOptions, parts: OwnParts<Caller>) {
  const { host = '127.0.0.1', port = 0, tls, onAnswered, onUnexpected = () => {} } = options;
  const { limits, write } = parts;
  const isTrustedProxy = createProxyCheck(options.trustedProxies);
  const audit = openAuditLog(options.audit ?? { write: writeToStandardError });
  const refuse = (refusal: Refusal, request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, retryAfterSeconds } = refusal;
    reply.code(status).headers(headers);
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    // Does not wait for the rest of the body.
    if (status === 413 || status === 408) reply.header('connection', 'close');
    write(refusal, request, reply);
  };
  // Node checks every 30 s by default: a slow sender would stay that long.
  const connectionsCheckingInterval = Math.min(LONGEST_CHECK_MS, limits.requestTimeoutMs / 2);
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    exposeHeadRoutes: false,
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
      refuse(new Refusal('address'), request, reply),
    trustProxy: isTrustedProxy,
    ...parts.server,
    ...(tls
      ? { https: { ...tls, minVersion: 'TLSv1.2', connectionsCheckingInterval } }
      : { http: { connectionsCheckingInterval } }),
  } as FastifyServerOptions) as FastifyInstance;
  const { server } = app;
  server.maxConnections = limits.connections ?? MAX_CONNECTIONS;
  // Node takes the shorter of the two for the headers and the longer, by default a minute, for the body.
  server.headersTimeout = limits.requestTimeoutMs;
  // Node would answer 417 past all hooks. An unknown expectation may be passed over (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // A body is parsed as text: only the text shows its depth and its duplicate members.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    // With U+FFFD in place of other bytes, the ledger would keep another text than the caller sent.
    const text = decodeUtf8(body as Buffer);
    done(text === null ? new Refusal('notJson', 'the body must be JSON in UTF-8, not compressed') : null, text);
  });
  app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) =>
    onAnswered?.(routeOptions.config.route ?? 'other', statusCode, elapsedTime / 1_000),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // The path may be the secret.
      'referrer-policy': 'no-referrer',
    });
  });
  parts.prepare?.(app);
  addGuard(app, { ...parts, isTrustedProxy });
  app.setNotFoundHandler((request, reply) => {
    refuse(new Refusal('notFound', 'there is nothing at this address'), request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    let refusal = parts.translate?.(error) ?? toRefusal(error);
    if (refusal.reason === 'failed') onUnexpected(error);
    // Not 429, which could fill the disk.
    if (request.access && refusal.status !== 429) {
      try {
        audit.record({ ...request.access.record, status: refusal.status, refused: refusal.reason });
      } catch (auditError) {
        onUnexpected(auditError);
        refusal = new Refusal('audit');
      }
    }
    refuse(refusal, request, reply);
  });
  return {
    app,
    audit,
    /** Listens when it resolves; `url` has no slash at its end. The system's error where the port is taken. */
    async listen() {
      try {
        await app.listen({ port, host });
      } catch (error) {
        audit.close();
        throw error;
      }
      const { port: taken } = server.address() as AddressInfo;
      const name = host.includes(':') ? `[${host}]` : host;
      return { url: `${tls ? 'https' : 'http'}://${name}:${taken}`, port: taken };
    },
  };
}
