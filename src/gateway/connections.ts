import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent } from 'undici';
import type { GatewayProfile } from './profile.ts';
import { resettingConnector } from './resetting-connector.ts';

/** Room for a bearer token's worth of headers, and no more: undici counts names and values in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * A connection pool of one profile for one origin, with every limit set. HTTP/2 is off (undici 8 replays refused
 * streams), pipelining too, and nothing retries or follows redirects: those are interceptors, and none is composed.
 *
 * @param maxResponseBytes as received, before decompression
 */
export function createConnections(profile: GatewayProfile, maxResponseBytes: number): Agent {
  const { limits, caCertificate } = profile;
  // One context for all connections: parsing the system's certificates anew for each takes milliseconds.
  const trusted = caCertificate === undefined ? undefined : [...getCACertificates('default'), caCertificate];
  return new Agent({
    maxOrigins: 1,
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    // What is given up is reset: nothing of it arrives later.
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
    // A server's hint may shorten the time that an idle connection is kept, and never lengthen it.
    keepAliveMaxTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: maxResponseBytes,
    strictContentLength: true,
  });
}
