/** The gateway of each profile and its token service, and the endpoints for events. */

import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { getErrorCode } from '../base/error-code.ts';
import { createConnections, createConnector } from '../gateway/connections.ts';
import { GatewayError } from '../gateway/errors.ts';
import { isTlsRefusal } from '../gateway/exchange.ts';
import { type GatewayProfile, toRequestUrl } from '../gateway/profile.ts';
import { MAX_TOKEN_RESPONSE_BYTES, requestToken } from '../gateway/token-source.ts';
import type { WebhookEndpoint } from '../messages/webhooks/delivery.ts';
import { isPublicAddress } from '../webhooks/sender.ts';
import { checkWebhookSecret } from '../webhooks/signature.ts';
import { type Check, defineCheck, type Finding, fail, pass, warn } from './check.ts';

/** A connection and its TLS handshake, and not one byte of HTTP, since any request may post an inquiry. */
export function checkGateway(profile: GatewayProfile): Check {
  return defineCheck(`gateway/${profile.name}`, ['GATEWAY_'], () => connectOnce(profile));
}

async function connectOnce(profile: GatewayProfile): Promise<Finding> {
  const { protocol, host, hostname, port } = toRequestUrl(profile);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const connect = createConnector(profile);
  connect({ protocol, host, hostname: withoutBrackets(hostname), port }, (...[error, socket]) =>
    error === null ? resolve(socket) : reject(error),
  );
  try {
    (await promise).destroy();
    const trusted = protocol === 'https:' ? ', its certificate is trusted' : '';
    return pass(`reachable${trusted}; nothing was sent`);
  } catch (error) {
    return toNetworkFinding(error);
  }
}

/** Node wants IPv6 without brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

const OF_THE_NETWORK = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
];

function toNetworkFinding(error: unknown): Finding {
  const code = getErrorCode(error);
  if (OF_THE_NETWORK.includes(code)) {
    return fail(
      `cannot be reached (${code})`,
      'check GATEWAY_BASE_URL, the network, and whether this address is allow-listed',
    );
  }
  // A fault of this machine, such as too many open files.
  if (!isTlsRefusal(error)) throw error;
  return fail(
    `its TLS is not trusted (${code})`,
    'check GATEWAY_BASE_URL and GATEWAY_CA_FILE: nothing is sent to it as it is',
  );
}

/** Below this every inquiry or so would fetch one. */
const SHORT_LIFE_S = 60;

/** Fetches a token and discards it. */
export function checkTokens(profile: GatewayProfile): Check {
  return defineCheck(`token-service/${profile.name}`, ['GATEWAY_'], (_, signal) => fetchToken(profile, signal));
}

async function fetchToken(profile: GatewayProfile, signal: AbortSignal): Promise<Finding> {
  const credentials = await profile.credentials.read().catch(() => null);
  if (!credentials) return fail('the credentials cannot be read', 'check the files that hold them');
  const agent = createConnections(profile, MAX_TOKEN_RESPONSE_BYTES);
  signal.addEventListener('abort', () => void agent.destroy(), { once: true });
  try {
    const token = await requestToken(agent, profile, credentials);
    return judgeTokenLife(token.expiresInS);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return toTokenFinding(error);
  } finally {
    await agent.destroy();
  }
}

function judgeTokenLife(expiresInS: number): Finding {
  const life = expiresInS >= 7_200 ? `${Math.round(expiresInS / 3_600)} h` : `${Math.round(expiresInS / 60)} min`;
  return expiresInS < SHORT_LIFE_S
    ? warn(`gives tokens that are good for ${expiresInS} s`, 'ask the provider: each inquiry may need one of its own')
    : pass(`gives a token that is good for ${life}`);
}

function toTokenFinding({ code, httpStatus }: GatewayError): Finding {
  const status = httpStatus === undefined ? '' : ` (${httpStatus})`;
  return code === 'CredentialsRefused'
    ? fail(
        `refuses the credentials${status}`,
        'check client id, secret and audience; ask whether this address is allow-listed',
      )
    : fail(`does not answer${status}`, 'check GATEWAY_AUTH_URL, the network and the certificate');
}

/** Shows the endpoints' names and hosts, resolves them, and checks that the secrets can be read. Sends nothing. */
export function checkWebhooks({ name, webhooks = [] }: Pick<GatewayProfile, 'name' | 'webhooks'>): Check[] {
  if (webhooks.length === 0) return [];
  return [defineCheck(`webhooks/${name}`, ['GATEWAY_PROFILES_FILE'], () => lookAtEndpoints(webhooks))];
}

async function lookAtEndpoints(endpoints: readonly WebhookEndpoint[]): Promise<Finding> {
  const all = endpoints.map((endpoint) => `${endpoint.name} (${new URL(endpoint.url).host})`).join(', ');
  for (const endpoint of endpoints) {
    const finding = await checkEndpoint(endpoint);
    if (finding) return { ...finding, detail: `${all}: ${finding.detail}` };
  }
  return pass(all);
}

async function checkEndpoint(endpoint: WebhookEndpoint): Promise<Finding | null> {
  const { name, url, allowPrivateAddresses } = endpoint;
  const secrets = await endpoint.readSecrets().catch(() => []);
  if (secrets.length === 0 || secrets.some(checkWebhookSecret)) {
    return fail(`a secret of ${name} cannot be used`, 'its file must hold whsec_ and 24 to 64 random bytes in base 64');
  }
  const host = withoutBrackets(new URL(url).hostname);
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
