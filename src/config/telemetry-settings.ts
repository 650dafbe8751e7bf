/**
 * The addresses of a worker's metrics and health, and of its trace collector. Each is off unless its variable is set.
 */
import { isIP } from 'node:net';
import { isLoopback } from '../base/loopback.ts';
import type { Environment } from '../model/products.ts';
import type { TelemetrySettings } from './config-shape.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** Once a minute is exact enough for an alert. Each time costs a few statements and at most 50 calls to Temporal. */
const REFRESH_SECONDS = { default: 60, min: 1, max: 3_600 };

export function readTelemetry(reader: EnvironmentReader, environment: Environment): TelemetrySettings {
  const metricsAddress = readListenAddress(reader, 'METRICS_ADDRESS');
  const healthAddress = readListenAddress(reader, 'HEALTH_ADDRESS');
  const traceEndpoint = readTraceEndpoint(reader, environment);
  if (metricsAddress && healthAddress && metricsAddress.port === healthAddress.port) {
    reader.report('HEALTH_ADDRESS', 'must have another port than METRICS_ADDRESS');
  }
  return {
    ...(metricsAddress ? { metricsAddress } : {}),
    metricsRefreshMs: reader.integer('METRICS_REFRESH_SECONDS', REFRESH_SECONDS) * 1_000,
    ...(healthAddress ? { healthAddress } : {}),
    ...(traceEndpoint === undefined ? {} : { traceEndpoint }),
  };
}

/**
 * Spans hold journey ids, and the hosts and times of calls. Outside the sandbox they never cross a network in the
 * clear.
 */
export function readTraceEndpoint(reader: EnvironmentReader, environment: Environment): string | undefined {
  const variable = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const endpoint = reader.optional(variable);
  if (environment === 'production') {
    for (const secret of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']) {
      if (reader.optional(secret) === undefined) continue;
      reader.report(secret, 'must not be set in production: a collector on this machine holds the credentials');
    }
  }
  if (endpoint === undefined) return undefined;
  const rule = endpointProblem(endpoint, environment);
  if (rule) reader.report(variable, rule);
  return endpoint;
}

function endpointProblem(endpoint: string, environment: Environment): string | null {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an http or https address';
  if (url.username || url.password || url.search || url.hash) return 'must hold no credentials, query or fragment';
  if (environment === 'sandbox' || url.protocol === 'https:' || isLoopback(url.hostname)) return null;
  return 'must be https outside the sandbox, or this machine';
}

/** `9464`, `0.0.0.0:9464` or `[::]:9464`; without an address, this machine alone. */
export function readListenAddress(reader: EnvironmentReader, variable: string): TelemetrySettings['metricsAddress'] {
  const value = reader.optional(variable);
  if (value === undefined) return undefined;
  const [, given = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(value) ?? [];
  const host = given === 'localhost' ? '127.0.0.1' : given.replace(/^\[(.*)\]$/, '$1');
  const port = Number(digits);
  const version = isIP(host);
  if (port >= 1 && port <= 65_535 && version !== 0 && (version === 6) === given.startsWith('[')) return { host, port };
  reader.report(variable, 'must be a port, or an IP address and a port such as 0.0.0.0:9464');
  return undefined;
}
