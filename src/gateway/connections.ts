import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent } from 'undici';
import type { GatewayProfile } from './profile.ts';
import { resettingConnector } from './resetting-connector.ts';

/** Enough for headers with a bearer token. undici counts names and values in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * A connection pool of one profile for one origin, with every limit set. HTTP/2 is off, since undici 8 replays refused
 * streams, and so is pipelining. Retries and redirects would need interceptors, and none is used.
 *
 * @param maxResponseBytes as received, before decompression
 */
export function createConnections(profile: GatewayProfile, maxResponseBytes: number): Agent {
  const { limits, caCertificate } = profile;
  // One context for all connections: parsing the system's certificates again for each takes milliseconds.
  const trusted = caCertificate === undefined ? undefined : [...getCACertificates('default'), caCertificate];
  return new Agent({
    maxOrigins: 1,
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    // An abandoned request has its connection reset: none of it arrives later.
    connect: resettingConnector({
      timeout: limits.connectTimeoutMs,
      allowH2: false,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(trusted && { secureContext: createSecureContext({ ca: trusted, minVersion: 'TLSv1.2' }) }),
    }),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // A server's hint may shorten, but never lengthen, the time that an idle connection is kept.
    keepAliveMaxTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: maxResponseBytes,
    strictContentLength: true,
  });
}
