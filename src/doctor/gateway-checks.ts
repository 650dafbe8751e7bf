/** The gateway of each profile and its token service, the endpoints for events, and what undici reports. */

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, isIP } from 'node:net';
import { connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { parseHttpDateMs } from '../base/instants.ts';
import { createConnections } from '../gateway/connections.ts';
import { GatewayError } from '../gateway/errors.ts';
import { exchange } from '../gateway/exchange.ts';
import { type GatewayProfile, requestUrl } from '../gateway/profile.ts';
import { MAX_TOKEN_RESPONSE_BYTES, requestToken } from '../gateway/token-request.ts';
import type { WebhookEndpoint } from '../messages/webhooks/delivery.ts';
import { isPublicAddress } from '../webhooks/sender.ts';
import { secretProblem } from '../webhooks/signature.ts';
import {
  type Check,
  type DoctorContext,
  type Finding,
  fail,
  NotCheckedError,
  type ProfileCheck,
  pass,
  warn,
} from './check.ts';

/** A connection and its TLS handshake, and not one byte of HTTP, since any request may post an inquiry. */
export const gatewayCheck: ProfileCheck = {
  name: 'gateway',
  needs: ['GATEWAY_'],
  run: (profile, _, signal) => knock(profile, signal),
};

async function knock(profile: GatewayProfile, signal: AbortSignal): Promise<Finding> {
  const { protocol, hostname, port } = requestUrl(profile);
  // Node wants IPv6 without brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = protocol === 'https:';
  const socket = isTls
    ? tlsSocket(profile, { host, port: Number(port || 443) })
    : connect({ host, port: Number(port || 80) });
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
    return pass(isTls ? 'reachable, its certificate is trusted; nothing was sent' : 'reachable; nothing was sent');
  } catch (error) {
    if (signal.aborted) throw error;
    return networkRefusal(error);
  } finally {
    socket.destroy();
  }
}

function tlsSocket({ caCertificate }: GatewayProfile, to: { host: string; port: number }): TLSSocket {
  return connectTls({
    ...to,
    // Server names are never addresses (RFC 6066, 3).
    ...(/^[\d.]+$|:/.test(to.host) ? {} : { servername: to.host }),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...(caCertificate === undefined ? {} : { ca: [...getCACertificates('default'), caCertificate] }),
  });
}

const OF_THE_NETWORK = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

/** Codes of OpenSSL's verification, of Node's TLS and of its protocol errors. */
const OF_TLS =
  /^(CERT_|CRL_|UNABLE_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|DEPTH_|SELF_|INVALID_|HOSTNAME_|PATH_|ERROR_IN_)/;

function networkRefusal(error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (OF_THE_NETWORK.includes(code)) {
    return fail(
      `cannot be reached (${code})`,
      'check GATEWAY_BASE_URL, the network, and whether this address is allow-listed',
    );
  }
  // This machine's own, such as too many open files.
  if (!OF_TLS.test(code)) throw error;
  return fail(
    `its TLS is not trusted (${code})`,
    'check GATEWAY_BASE_URL and GATEWAY_CA_FILE: nothing is sent to it as it is',
  );
}

/** Below this every inquiry or so would fetch one. */
const SHORT_LIFE_S = 60;

/** Fetches a token, and throws it away. */
export const tokenCheck: ProfileCheck = { name: 'token-service', needs: ['GATEWAY_'], run: fetchToken };

async function fetchToken(profile: GatewayProfile, context: DoctorContext, signal: AbortSignal): Promise<Finding> {
  const credentials = await profile.credentials.read().catch(() => null);
  if (!credentials) return fail('the credentials cannot be read', 'check the files that hold them');
  const agent = createConnections(profile, MAX_TOKEN_RESPONSE_BYTES);
  signal.addEventListener('abort', () => void agent.destroy(), { once: true });
  const heard: Heard = {};
  const askedAtMs = Date.now();
  try {
    const token = await requestToken(agent.compose(notingDate(heard)), profile, credentials);
    return lifeFinding(token.expiresInS);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return tokenRefusal(error);
  } finally {
    noteClock(context, profile, heard.date, (askedAtMs + Date.now()) / 2);
    await agent.destroy();
  }
}

function lifeFinding(expiresInS: number): Finding {
  const life = expiresInS >= 7_200 ? `${Math.round(expiresInS / 3_600)} h` : `${Math.round(expiresInS / 60)} min`;
  return expiresInS < SHORT_LIFE_S
    ? warn(`gives tokens that are good for ${expiresInS} s`, 'ask the provider: each inquiry may need one of its own')
    : pass(`gives a token that is good for ${life}`);
}

function tokenRefusal({ code, httpStatus }: GatewayError): Finding {
  const status = httpStatus === undefined ? '' : ` (${httpStatus})`;
  return code === 'CredentialsRefused'
    ? fail(
        `refuses the credentials${status}`,
        'check client id, secret and audience; ask whether this address is allow-listed',
      )
    : fail(`does not answer${status}`, 'check GATEWAY_AUTH_URL, the network and the certificate');
}

/** To a second, as `Date` is written: half of one is what it lacks on average. */
function noteClock(context: DoctorContext, { name }: GatewayProfile, date: string | undefined, oursMs: number): void {
  const theirsMs = date === undefined ? undefined : parseHttpDateMs(date);
  if (theirsMs !== undefined) context.clocks.push({ whose: `token-service/${name}`, aheadMs: theirsMs + 500 - oursMs });
}

interface Heard {
  date?: string;
}

/** Passes everything on, and looks at one header of the answer. */
function notingDate(heard: Heard): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (...start) => handler.onRequestStart?.(...start),
      onResponseStart: (...head) => {
        const { date } = head[2];
        if (typeof date === 'string') heard.date = date;
        handler.onResponseStart?.(...head);
      },
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...error) => handler.onResponseError?.(...error),
    });
}

/** More than any loopback takes. */
const WITHIN_MS = 5_000;
const MAX_ANSWER_BYTES = 4_096;

/**
 * Whether the installed undici announces when it begins to write a request. Every conclusion that nothing was sent
 * depends on it (docs/protocol.md, fence 3). Tried on a server of our own, never on the gateway.
 */
export function markerCheck(profile: GatewayProfile): Check {
  return {
    name: 'markers',
    needs: ['GATEWAY_'],
    async run() {
      const [answered, refused] = [await answerOfOurs(profile), await refusalOfOurs(profile)];
      if (answered.kind === 'notBegun') {
        throw new NotCheckedError(
          'its own server on loopback was not reached',
          'see what doctor may do on this machine',
        );
      }
      if (answered.kind === 'answered' && answered.marked && refused.kind === 'notBegun') {
        return pass('undici says what it has begun to send');
      }
      return fail(
        'undici does not say what it has begun to send: every outcome would be unknown',
        'install the exact version of undici that package-lock.json names (`npm ci`)',
      );
    },
  };
}

async function answerOfOurs(profile: GatewayProfile) {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await tryExchange(profile, readPort(server.address()));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A port that was just closed: no program listens there. */
async function refusalOfOurs(profile: GatewayProfile) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = readPort(server.address());
  server.close();
  await once(server, 'close');
  return tryExchange(profile, port);
}

async function tryExchange(profile: GatewayProfile, port: number) {
  const dispatcher = createConnections(profile, MAX_ANSWER_BYTES);
  try {
    return await exchange({
      dispatcher,
      url: new URL(`http://127.0.0.1:${port}/`),
      headers: {},
      body: '{}',
      sendBy: performance.now() + WITHIN_MS,
      answerWithinMs: WITHIN_MS,
    });
  } finally {
    await dispatcher.destroy();
  }
}

function readPort(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Shows the endpoints' names and hosts, resolves them, and checks that the secrets can be read. Sends nothing. */
export const webhooksCheck: ProfileCheck = {
  name: 'webhooks',
  needs: ['WEBHOOK_', 'GATEWAY_PROFILES_FILE'],
  isFor: ({ webhooks = [] }) => webhooks.length > 0,
  run: ({ webhooks = [] }) => lookAtEndpoints(webhooks),
};

async function lookAtEndpoints(endpoints: readonly WebhookEndpoint[]): Promise<Finding> {
  const all = endpoints.map((endpoint) => `${endpoint.name} (${new URL(endpoint.url).host})`).join(', ');
  for (const endpoint of endpoints) {
    const finding = await troubleWith(endpoint);
    if (finding) return { ...finding, detail: `${all}: ${finding.detail}` };
  }
  return pass(all);
}

async function troubleWith(endpoint: WebhookEndpoint): Promise<Finding | null> {
  const { name, url, allowPrivateAddresses } = endpoint;
  const secrets = await endpoint.readSecrets().catch(() => []);
  if (secrets.length === 0 || secrets.some(secretProblem)) {
    return fail(`a secret of ${name} cannot be used`, 'its file must hold whsec_ and 24 to 64 random bytes in base 64');
  }
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  if (addresses.length === 0) {
    return warn(
      `the name of ${name} leads nowhere from here`,
      'check its address, and the name servers of the workers',
    );
  }
  if (allowPrivateAddresses || addresses.every(({ address }) => isPublicAddress(address))) return null;
  return fail(
    `${name} leads to an address that is not public: nothing is sent there`,
    'correct its address, or allowPrivateAddresses where it is meant to be inside',
  );
}
