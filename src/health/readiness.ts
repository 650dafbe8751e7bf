/** Whether a worker is ready: a list of checks, each of which passes or says in constant words why it does not. */

import { setInterval } from 'node:timers/promises';
import type { NativeConnection, Worker } from '@temporalio/worker';
import fastify, { type FastifyInstance } from 'fastify';
import { finishWithin } from '../base/within.ts';
import type { ListenAddress } from '../config/variables.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { LedgerChangedError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WatchedKeyRing } from '../protection/keys/key-ring.ts';

/** Resolves with the reason of a failure, or `null`. An error that it throws is not shown. */
export type ReadinessCheck = () => Promise<string | null> | string | null;

interface ReadinessReport {
  ready: boolean;
  checks: Record<string, { ok: true } | { ok: false; reason: string }>;
}

/** A probe waits a second or two: a check that hangs is a failure by name. */
const CHECK_TIMEOUT_MS = 1_500;
/** Probes of many watchers ask the ledger once. */
const BELIEVED_FOR_MS = 1_000;

const WORKER = { polling: () => 'is starting' };

export class Readiness {
  readonly #checks: Map<string, ReadinessCheck>;
  readonly #timeoutMs: number;
  #last: { report: Promise<ReadinessReport>; askedAtMs: number } | undefined;

  /** Not ready before a worker polls, unless its program says what counts. */
  constructor(timeoutMs = CHECK_TIMEOUT_MS, checks: Readonly<Record<string, ReadinessCheck>> = WORKER) {
    this.#checks = new Map(Object.entries(checks));
    this.#timeoutMs = timeoutMs;
  }

  /** Adds checks, or puts others in their place. */
  set(checks: Readonly<Record<string, ReadinessCheck>>): void {
    for (const [name, check] of Object.entries(checks)) this.#checks.set(name, check);
    this.#last = undefined;
  }

  report(): Promise<ReadinessReport> {
    if (this.#last && performance.now() - this.#last.askedAtMs < BELIEVED_FOR_MS) return this.#last.report;
    this.#last = { report: this.#ask(), askedAtMs: performance.now() };
    return this.#last.report;
  }

  async #ask(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const answer = (async () => check())().catch(() => 'does not answer');
        const reason = await finishWithin(answer, this.#timeoutMs, 'does not answer in time');
        return [name, reason === null ? { ok: true as const } : { ok: false as const, reason }] as const;
      }),
    );
    return { ready: results.every(([, { ok }]) => ok), checks: Object.fromEntries(results) };
  }
}

/** Some load balancers probe by HEAD. */
export const WITH_HEAD = { exposeHeadRoute: true };

/** Adds `/healthz` and `/readyz`, for the programs that start, restart and watch this one. Nothing secret is in either. */
export function addProbes(app: FastifyInstance, readiness: Readiness): void {
  // Shows only that the event loop runs: a failure that a restart cannot mend must not restart the process.
  app.get('/healthz', { config: { route: 'GET /healthz' }, ...WITH_HEAD }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { route: 'GET /readyz' }, ...WITH_HEAD }, async (_request, reply) => {
    const report = await readiness.report();
    return reply.code(report.ready ? 200 : 503).send(report);
  });
}

/** A probe has no body, and gives up long before this. */
const REQUEST_TIMEOUT_MS = 5_000;

/** @throws Error naming the variable, and not the address, where nothing can listen there */
export async function startHealthServer(
  { host, port }: ListenAddress,
  readiness: Readiness,
): Promise<{ close(): Promise<void> }> {
  const app = fastify({ requestTimeout: REQUEST_TIMEOUT_MS, bodyLimit: 1_024, forceCloseConnections: true });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'NotFound' }));
  app.setErrorHandler((_error, _request, reply) => reply.code(400).send({ error: 'BadRequest' }));
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  addProbes(app, readiness);
  try {
    await app.listen({ host, port });
  } catch {
    await app.close();
    throw new Error('nothing can listen at HEALTH_ADDRESS: it is not this machine’s, or its port is taken');
  }
  return { close: () => app.close() };
}

// A worker is ready if it polls, on the ledger that it was started with, with keys, and with markers that hold. Its
// version does not count. A worker that waits for promotion is promoted because it is ready. One that drains serves the
// runs that are pinned to it.

export interface WorkerParts {
  workers: readonly Pick<Worker, 'getState'>[];
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>;
  ledger: Pick<Ledger, 'identity' | 'lookUp' | 'restoreState'>;
  keys: Pick<WatchedKeyRing, 'lastReloadFailed'>;
  gateways: ReadonlyMap<string, Pick<GatewayClient, 'startsAreUnreported'>>;
  /** Aborted once the ledger requires a newer program. */
  tooOld: { readonly aborted: boolean };
  /** Whether the ledger can lose what it confirms, where production does not permit that. */
  mayLoseClaims(): Promise<boolean>;
}

const SERVER_TIMEOUT_MS = 1_000;
/** No inquiry has it: trace numbers have 28 characters. */
const NO_TRACE_NUMBER = 'READINESS';

export function readinessChecks(parts: WorkerParts): Record<string, ReadinessCheck> {
  const { workers, connection, ledger, keys, gateways, tooOld, mayLoseClaims } = parts;
  return {
    polling: () => (workers.every((worker) => worker.getState() === 'RUNNING') ? null : 'is stopping'),
    temporal: async () => {
      await connection.withDeadline(Date.now() + SERVER_TIMEOUT_MS, () => connection.workflowService.getSystemInfo({}));
      return null;
    },
    // The identity is read from the database each time: another one may answer at the same address by now.
    ledger: async () => {
      if (tooOld.aborted) return 'asks for newer workers';
      try {
        if (await mayLoseClaims()) return 'can lose what it confirms: see `doctor`';
        await ledger.lookUp(ledger.identity.ledgerId, NO_TRACE_NUMBER);
        const { lost } = await ledger.restoreState();
        return lost ? 'is an older copy, and nothing is sent until `ledger accept-restore`' : null;
      } catch (error) {
        return error instanceof LedgerChangedError
          ? 'is not the one that the worker was started with'
          : 'does not answer';
      }
    },
    keys: () => (keys.lastReloadFailed ? 'the key ring was changed into something that cannot be used' : null),
    markers: () => {
      const broken = [...gateways].filter(([, { startsAreUnreported }]) => startsAreUnreported).map(([name]) => name);
      return broken.length === 0 ? null : `are broken, and nothing is sent: ${broken.join(', ')}`;
    },
  };
}

/** The ledger refuses claims in any case: this only decides how soon newer workers get the work. */
const ASKED_EVERY_MS = 2_000;

/**
 * Notices that the ledger takes no more writes from this program version, so that its worker stops. `tooOld` is then
 * aborted, for good.
 */
export function watchWriter(
  ledger: Pick<Ledger, 'mayWrite'>,
  askedEveryMs = ASKED_EVERY_MS,
): { tooOld: AbortSignal; close(): void } {
  const [tooOld, closing] = [new AbortController(), new AbortController()];
  const watch = async () => {
    for await (const _ of setInterval(askedEveryMs, undefined, { signal: closing.signal })) {
      // An unreachable ledger gives no information about versions.
      if (!(await ledger.mayWrite().catch(() => true))) return tooOld.abort();
    }
  };
  watch().catch(() => {});
  return { tooOld: tooOld.signal, close: () => closing.abort() };
}
