/**
 * Whether each gateway can be reached: a connection and its TLS handshake, and not one byte of HTTP, since any request
 * may post an inquiry.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';
import { requestUrl } from '../../gateway/addresses.ts';
import type { GatewayProfile } from '../../gateway/profile.ts';
import type { Check } from './check.ts';
import { type Finding, fail, pass } from './finding.ts';

export function gatewayChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].map((profile) => ({
    name: `gateway/${profile.name}`,
    needs: ['GATEWAY_'],
    run: (_, signal) => knock(profile, signal),
  }));
}

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
    return refusal(error);
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

function refusal(error: unknown): Finding {
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
