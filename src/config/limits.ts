/** Every limit of one gateway profile's connection pool: default, range and reason. */
import type { GatewayLimits } from '../gateway/profile.ts';
import type { EnvironmentReader, IntegerRange } from './environment-reader.ts';

interface Limit extends IntegerRange {
  variable: string;
}

const MEGABYTE = 1024 * 1024;

/** JSON compresses ten to one, a compression bomb a thousand to one. */
const DECODED_TO_RESPONSE = 4;

/** The limits that an operator may set; the others follow from them. */
export type ConfiguredLimits = Omit<GatewayLimits, 'maxDecodedBytes'>;

/** The longest time-out of a request. The activity's own time-out must be longer still. */
const LONGEST_TIMEOUT_MS = 600_000;

export const GATEWAY_LIMITS: Readonly<Record<keyof ConfiguredLimits, Limit>> = {
  // The interface does not show the provider's limits (8). Eight connections carry some 16 inquiries a second at half a
  // second each. That is more than a lending platform starts, and little enough for any provider.
  connections: { variable: 'GATEWAY_CONNECTIONS', default: 8, min: 1, max: 256 },
  // Before the first byte a failure is harmless and is retried. Ten seconds cover one or two lost SYN packets.
  connectTimeoutMs: { variable: 'GATEWAY_CONNECT_TIMEOUT_MS', default: 10_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // Advised are time-outs of 30 to 60 s (docs/decisions/gateway.md). Giving up early costs a hold, hence the longer
  // one.
  headersTimeoutMs: { variable: 'GATEWAY_HEADERS_TIMEOUT_MS', default: 60_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // A report is some hundred kilobytes: half a minute of silence within it means a broken connection.
  bodyTimeoutMs: { variable: 'GATEWAY_BODY_TIMEOUT_MS', default: 30_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // Below what proxies and balancers allow. A request on a connection that the other side is closing ends with an
  // unknown outcome, while a new connection costs one round trip.
  keepAliveTimeoutMs: { variable: 'GATEWAY_KEEP_ALIVE_TIMEOUT_MS', default: 4_000, min: 1, max: LONGEST_TIMEOUT_MS },
  // The interface does not show payload limits (8). The longest joint files have about one megabyte: ten times that.
  maxResponseBytes: { variable: 'GATEWAY_MAX_RESPONSE_BYTES', default: 10 * MEGABYTE, min: 1_024, max: 128 * MEGABYTE },
  // "Typically 1 to 2" (interface 8) is no maximum; two digits of applicantId are.
  maxApplicants: { variable: 'GATEWAY_MAX_APPLICANTS', default: 2, min: 1, max: 99 },
};

export function readLimits(reader: EnvironmentReader): GatewayLimits {
  const entries = Object.entries(GATEWAY_LIMITS).map(([name, limit]) => [name, reader.integer(limit.variable, limit)]);
  return completeLimits(Object.fromEntries(entries) as ConfiguredLimits);
}

export function completeLimits(limits: ConfiguredLimits): GatewayLimits {
  return { ...limits, maxDecodedBytes: DECODED_TO_RESPONSE * limits.maxResponseBytes };
}
