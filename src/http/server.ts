/** A Fastify server as each HTTP service has it: bounded, TLS where it is configured, behind its proxies. */

import { type AddressInfo, BlockList, isIP } from 'node:net';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { HttpLimits } from './limits.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** Options that a service may choose for its server. */
export type OwnServerOptions = Pick<
  FastifyServerOptions,
  'forceCloseConnections' | 'routerOptions' | 'genReqId' | 'clientErrorHandler' | 'return503OnClosing'
>;

interface HttpServerOptions {
  limits: HttpLimits;
  /** PEM. */
  tls?: { cert: string; key: string } | undefined;
  isTrustedProxy?: ProxyCheck | undefined;
  metrics?: RequestMetrics | undefined;
  /** Answers 400 to an address that cannot be read. */
  onMalformedAddress(request: FastifyRequest, reply: FastifyReply): void;
  options?: OwnServerOptions;
}

const MAX_CONNECTIONS = 4_000;

/** No answer lets its caller wait for longer than a minute. */
const IDLE_TIMEOUT_MS = 90_000;

const LONGEST_CHECK_MS = 5_000;

export function createHttpServer(about: HttpServerOptions): FastifyInstance {
  const { limits, tls, isTrustedProxy, metrics, onMalformedAddress, options = {} } = about;
  const server = {
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    exposeHeadRoutes: false,
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      reply.code(400);
      onMalformedAddress(request, reply);
    },
    ...(isTrustedProxy ? { trustProxy: (address: string) => isTrustedProxy(address) } : {}),
    ...options,
  };
  // Node checks every 30 s by default: a slow sender would stay that long.
  const connectionsCheckingInterval = Math.min(LONGEST_CHECK_MS, limits.requestTimeoutMs / 2);
  const app = (
    tls
      ? fastify({ ...server, https: { ...tls, minVersion: 'TLSv1.2', connectionsCheckingInterval } })
      : fastify({ ...server, http: { connectionsCheckingInterval } })
  ) as FastifyInstance;
  app.server.maxConnections = limits.connections ?? MAX_CONNECTIONS;
  if (metrics) app.addHook('onResponse', async (request, reply) => metrics.onResponse(request, reply));
  // Node takes the shorter of the two for the headers and the longer, by default a minute, for the body.
  app.server.headersTimeout = limits.requestTimeoutMs;
  // Node would answer 417 past all hooks. An unknown expectation may be passed over (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // A body is parsed as text: only the text shows its depth and its duplicate members.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  return app;
}

/** Adds security headers to every answer. */
export function protectAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // The path may be the secret.
      'referrer-policy': 'no-referrer',
    });
  });
}

/** Returns the address of a listening server: `url` without a slash at its end. */
export function readAddress(app: FastifyInstance, host: string, isSecure: boolean): { url: string; port: number } {
  const { port } = app.server.address() as AddressInfo;
  return { url: `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`, port };
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

export type ProxyCheck = (address: string | undefined) => boolean;

/** @throws TypeError for what is neither an address nor a CIDR block */
export function proxyCheck(proxies: readonly string[]): ProxyCheck {
  const list = new BlockList();
  for (const proxy of proxies) {
    if (!isProxyAddress(proxy)) throw new TypeError('a trusted proxy must be an address or a CIDR block');
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address = '') => {
    // A socket that listens on :: names IPv4 peers in this form.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

export function isProxyAddress(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}
