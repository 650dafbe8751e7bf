/** The gateway of each profile and its token service. */

import type { Socket } from 'node:net';
import { getErrorCode, isTlsRefusal } from '../base/error-code.ts';
import { createConnections, createConnector } from '../gateway/connections.ts';
import { GatewayError } from '../gateway/errors.ts';
import { type GatewayProfile, toRequestUrl } from '../gateway/profile.ts';
import { MAX_TOKEN_RESPONSE_BYTES, requestToken } from '../gateway/token-source.ts';
import { type Check, defineCheck, type Finding, fail, pass } from './check.ts';

/** A connection and its TLS handshake, and not one byte of HTTP, since any request may post an inquiry. */
export function checkGateway(profile: GatewayProfile): Check {
  return defineCheck(`gateway/${profile.name}`, ['GATEWAY_'], async () => {
    const { protocol, host, hostname, port } = toRequestUrl(profile);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    // Node takes an IPv6 address without its brackets.
    const target = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port };
    createConnector(profile)(target, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
    try {
      (await promise).destroy();
      const trusted = protocol === 'https:' ? ', its certificate is trusted' : '';
      return pass(`reachable${trusted}; nothing was sent`);
    } catch (error) {
      return toNetworkFinding(error);
    }
  });
}

const OF_THE_NETWORK = [
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
  if (code === 'ECONNREFUSED') {
    const toDo = 'correct GATEWAY_BASE_URL, or have it started: `credit-journey dev` runs one in the sandbox';
    return fail('nothing answers at its address (ECONNREFUSED)', toDo);
  }
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

/** Fetches a token and discards it. */
export function checkTokens(profile: GatewayProfile): Check {
  return defineCheck(`token-service/${profile.name}`, ['GATEWAY_'], async (_, signal) => {
    const credentials = await profile.credentials.read().catch(() => null);
    if (!credentials) return fail('the credentials cannot be read', 'check the files that hold them');
    const agent = createConnections(profile, MAX_TOKEN_RESPONSE_BYTES);
    signal.addEventListener('abort', () => void agent.destroy(), { once: true });
    try {
      const { expiresInS } = await requestToken(agent, profile, credentials);
      return pass(`issues a token that is valid for ${Math.round(expiresInS / 60)} min`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const status = error.httpStatus === undefined ? '' : ` (${error.httpStatus})`;
      if (error.code !== 'CredentialsRefused') {
        return fail(`does not answer${status}`, 'check GATEWAY_AUTH_URL, the network and the certificate');
      }
      const toDo = 'check client id, secret and audience; ask whether this address is allow-listed';
      return fail(`refuses the credentials${status}`, toDo);
    } finally {
      await agent.destroy();
    }
  });
}
