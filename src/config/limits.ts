/** Every limit of one gateway profile's connection pool: default, range and reason. */
import type { GatewayLimits } from '../gateway/profile.ts';
import type { EnvironmentReader, IntegerRange } from './environment-reader.ts';

interface Limit extends IntegerRange {
  variable: string;
}

const MEGABYTE = 1024 * 1024;

/** No time-out of a request is longer than this: the activity's own would have to be longer still. */
const LONGEST_TIMEOUT_MS = 600_000;

export const GATEWAY_LIMITS: Readonly<Record<keyof GatewayLimits, Limit>> = {
  // The provider's limits are not shown (interface 8). Eight at once are some 16 inquiries a second at half a
  // second each: more than a lending platform starts, and little enough for a provider to bear unasked.
  connections: { variable: 'GATEWAY_CONNECTIONS', default: 8, min: 1, max: 256 },
  // Before the first byte a failure is harmless and is retried; ten seconds outlast a lost SYN or two.
  connectTimeoutMs: { variable: 'GATEWAY_CONNECT_TIMEOUT_MS', default: 10_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // Time-outs of 30 to 60 s are advised (docs/decisions/gateway.md), and giving up early costs a hold: the longer one.
  headersTimeoutMs: { variable: 'GATEWAY_HEADERS_TIMEOUT_MS', default: 60_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // A report is some hundred kilobytes: silence of half a minute within it is a broken connection.
  bodyTimeoutMs: { variable: 'GATEWAY_BODY_TIMEOUT_MS', default: 30_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // Below what proxies and balancers allow: a connection that the other side is closing turns a request into an
  // unknown outcome, while a new one costs a round trip.
  keepAliveTimeoutMs: { variable: 'GATEWAY_KEEP_ALIVE_TIMEOUT_MS', default: 4_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // Payload limits are not shown (interface 8). The longest joint files are about one megabyte: ten times that.
  maxResponseBytes: { variable: 'GATEWAY_MAX_RESPONSE_BYTES', default: 10 * MEGABYTE, min: 1_024, max: 256 * MEGABYTE },
  // JSON compresses ten to one, a compression bomb a thousand to one.
  maxDecodedBytes: { variable: 'GATEWAY_MAX_DECODED_BYTES', default: 40 * MEGABYTE, min: 1_024, max: 512 * MEGABYTE },
  // "Typically 1 to 2" (interface 8) is no maximum; two digits of applicantId are.
  maxApplicants: { variable: 'GATEWAY_MAX_APPLICANTS', default: 2, min: 1, max: 99 },
};

export function readLimits(reader: EnvironmentReader): GatewayLimits {
  const entries = Object.entries(GATEWAY_LIMITS).map(([name, limit]) => [name, reader.integer(limit.variable, limit)]);
  const limits = Object.fromEntries(entries) as GatewayLimits;
  if (limits.maxDecodedBytes < limits.maxResponseBytes) {
    reader.report('GATEWAY_MAX_DECODED_BYTES', 'must be at least GATEWAY_MAX_RESPONSE_BYTES');
  }
  return limits;
}
