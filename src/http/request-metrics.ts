/**
 * Counts the answers of an HTTP service for Prometheus, at an address of its own: the service's port is for callers
 * with a token. Labels are of closed lists: operations as the route table names them, and status codes.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ListenAddress } from '../config/variables.ts';
import { serveProbes } from './probe-server.ts';

export type HttpService = 'api' | 'codec-server';

export const HTTP_METRICS = {
  requests: 'credit_journey_http_requests_total',
  seconds: 'credit_journey_http_request_seconds',
} as const;

/** Workers use this name, too: one alert watches all. */
const STARTED = 'credit_journey_started_timestamp_seconds';

/** Seconds. Most are milliseconds; an update waits for a worker for up to 15 s; a feed of statuses stays open. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

interface Answered {
  /** By status code. */
  counts: Map<number, number>;
  /** One count for each bucket, of the answers that took no longer than its bound. */
  within: number[];
  all: number;
  sumSeconds: number;
}

export class RequestMetrics {
  readonly #service: HttpService;
  readonly #answered = new Map<string, Answered>();

  constructor(service: HttpService) {
    this.#service = service;
  }

  /** @param durationMs from the first byte that was read to the last that was written */
  count(operation: string, status: number, durationMs: number): void {
    const found = this.#answered.get(operation);
    const about = found ?? { counts: new Map(), within: BUCKETS.map(() => 0), all: 0, sumSeconds: 0 };
    if (!found) this.#answered.set(operation, about);
    const seconds = durationMs / 1_000;
    about.counts.set(status, (about.counts.get(status) ?? 0) + 1);
    for (const [index, bound] of BUCKETS.entries())
      if (seconds <= bound) about.within[index] = (about.within[index] ?? 0) + 1;
    about.all += 1;
    about.sumSeconds += seconds;
  }

  /** For Fastify's `onResponse`. What leads nowhere has no name of ours, and the caller's is not shown. */
  onResponse(request: FastifyRequest, reply: FastifyReply): void {
    this.count(request.routeOptions.config.route ?? 'other', reply.statusCode, reply.elapsedTime);
  }

  /** Prometheus' text format. */
  text(): string {
    const { requests, seconds } = HTTP_METRICS;
    const service = `service="${this.#service}"`;
    const all = [...this.#answered];
    return [
      `# HELP ${requests} Requests that were answered, by operation and status`,
      `# TYPE ${requests} counter`,
      ...all.flatMap(([operation, { counts }]) =>
        [...counts].map(
          ([status, count]) => `${requests}{${service},operation="${operation}",status="${status}"} ${count}`,
        ),
      ),
      `# HELP ${seconds} From the beginning of a request to the end of its answer`,
      `# TYPE ${seconds} histogram`,
      ...all.flatMap(([operation, { within, all: count, sumSeconds }]) => {
        const labels = `${service},operation="${operation}"`;
        return [
          ...BUCKETS.map((bound, index) => `${seconds}_bucket{${labels},le="${bound}"} ${within[index]}`),
          `${seconds}_bucket{${labels},le="+Inf"} ${count}`,
          `${seconds}_sum{${labels}} ${sumSeconds}`,
          `${seconds}_count{${labels}} ${count}`,
        ];
      }),
      `# HELP ${STARTED} When this process began, in seconds since the epoch`,
      `# TYPE ${STARTED} gauge`,
      `${STARTED}{${service}} ${performance.timeOrigin / 1_000}`,
      '',
    ].join('\n');
  }
}

/**
 * Counts for the service, and shows them at the address; `undefined` where there is none.
 *
 * @throws Error naming the variable, and not the address, where nothing can listen there
 */
export async function serveMetrics(
  address: ListenAddress | undefined,
  service: HttpService,
): Promise<{ metrics: RequestMetrics; close(): Promise<void> } | undefined> {
  if (!address) return undefined;
  const metrics = new RequestMetrics(service);
  const { close } = await serveProbes('METRICS_ADDRESS', address, (app) => {
    app.get('/metrics', (_request, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.text()),
    );
  });
  return { metrics, close };
}
