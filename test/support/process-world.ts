/**
 * The world of a hazard whose worker is a process of its own: the sandbox, a ledger on either engine that the test can
 * read, a task queue and short time-outs. The test starts the workers.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { startSandbox } from '../../sandbox/server.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { HoldStatus, JourneyResult } from '../../src/messages/journey/shapes.ts';
import { deriveTraceNumber } from '../../src/model/trace-number.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { applicant, type JourneyHandle, journeyInput, newSsn, untilStatus, update } from './journey-harness.ts';
import type { PostgresServer } from './postgres.ts';
import { SHORT_TIMEOUTS } from './short-timeouts.ts';
import { runsSlowParts } from './slow-parts.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { testServer } from './temporal.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export type Engine = 'SQLite' | 'PostgreSQL';

export const ENGINES: readonly Engine[] = runsSlowParts ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

/** An inquiry that the sandbox posted, with the reference of its answer. */
export interface Posted {
  customerTraceNumber: string;
  reportReferenceNumber: string;
  consumerIds: string[];
}

/** The connection between the worker and its ledger, which a test can cut. */
export interface LedgerDoor {
  /** Cuts the workers off from the ledger. On PostgreSQL the test can still reach it. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** PostgreSQL: lets the next commit through, drops its answer and closes the door. */
  closeAfterCommit(): Promise<void>;
}

export interface ProcessWorld {
  client: Client;
  sandboxUrl: string;
  ledger: Ledger;
  ledgerFile: string;
  door: LedgerDoor;
  /** The environment of a worker's process. */
  workerEnv: Record<string, string>;
  /** @param cli of another build */
  startWorker(env?: Record<string, string>, cli?: string): Promise<WorkerProcess>;
  start(input: LendingJourneyInput): Promise<JourneyHandle>;
  received(journeyId: string): Promise<{ fault: string | null; posted: boolean }[]>;
  posted(journeyId: string): Promise<Posted[]>;
}

export interface WorldOptions {
  engine?: Engine;
  /** Needed for PostgreSQL; one server serves a file. */
  postgres?: PostgresServer;
}

/** Everything ends with the test. */
export async function startWorld(t: TestContext, options: WorldOptions = {}): Promise<ProcessWorld> {
  const server = await testServer();
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-hazard-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const sandbox = await startSandbox();
  t.after(() => sandbox.close());
  const ledgerFile = join(dataDir, 'ledger', 'ledger.db');
  const ownUrl = options.postgres
    ? await options.postgres.url(`hazard_${randomUUID().replaceAll('-', '')}`)
    : `file:${ledgerFile}`;
  const { door, url } = options.postgres ? await postgresDoor(t, ownUrl) : sqliteDoor(dataDir, ownUrl);
  const keyRingFile = join(dataDir, 'keys.json');
  const keyRing = await createKeyRing(keyRingFile);
  const ledger = await openLedger({ url: ownUrl, environment: 'sandbox', keyRing, create: true });
  t.after(() => ledger.close());
  const connection = await Connection.connect({ address: server.address });
  t.after(() => connection.close());
  const client = new Client({ connection, namespace: server.namespace });
  const taskQueue = `test-${randomUUID()}`;
  const bundle = process.env.TEST_WORKFLOW_BUNDLE;
  const workerEnv = {
    ...SHORT_TIMEOUTS,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    TASK_QUEUE: taskQueue,
    GATEWAY_AUTH_URL: sandbox.url,
    GATEWAY_BASE_URL: sandbox.url,
    LEDGER_URL: url,
    KEY_RING_FILE: keyRingFile,
    ...(bundle === undefined ? {} : { WORKFLOW_BUNDLE_FILE: bundle }),
  };
  const rows = async <T>(route: string, journeyId: string): Promise<T[]> => {
    const all = (await (await fetch(`${sandbox.url}/_sandbox/${route}`)).json()) as {
      customerTraceNumber: string | null;
    }[];
    const stem = traceStem(journeyId);
    return all.filter(({ customerTraceNumber }) => customerTraceNumber?.startsWith(stem)) as T[];
  };
  return {
    client,
    sandboxUrl: sandbox.url,
    ledger,
    ledgerFile,
    door,
    workerEnv,
    async startWorker(env = {}, cli) {
      const worker = await startWorkerProcess({ ...workerEnv, ...env }, cli);
      // SIGKILL also ends a frozen process.
      t.after(() => worker.kill());
      return worker;
    },
    start: (input) =>
      client.workflow.start('lendingJourney', {
        workflowId: `journey-${input.journeyId}`,
        taskQueue,
        args: [input],
      }) as Promise<JourneyHandle>,
    received: (journeyId) => rows('requests', journeyId),
    posted: (journeyId) => rows('inquiries', journeyId),
  };
}

/** Computes PREQUAL's trace number without its ordinal, before the run starts. */
function traceStem(runKey: string): string {
  const run = { environment: 'sandbox', customerId: 'SANDBOX0001', workflowType: 'lendingJourney' } as const;
  return deriveTraceNumber({ ...run, runKey, productCode: 'PREQUAL', ordinal: 0 }).slice(0, -2);
}

/** Moves the directory away and back, so that the file keeps its identity. */
function sqliteDoor(dataDir: string, url: string): { door: LedgerDoor; url: string } {
  const [here, away] = [join(dataDir, 'ledger'), join(dataDir, 'ledger-is-away')];
  const door = {
    close: () => rename(here, away),
    open: () => rename(away, here),
    closeAfterCommit: () => Promise.reject(new Error('a commit to a file has no answer to lose')),
  };
  return { door, url };
}

async function postgresDoor(t: TestContext, ownUrl: string): Promise<{ door: LedgerDoor; url: string }> {
  const url = new URL(ownUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  t.after(() => proxy.close());
  url.port = String(proxy.port);
  const door = {
    close: async () => proxy.cut(),
    open: async () => proxy.heal(),
    // Matches COMMIT as a simple query, and not BEGIN's READ COMMITTED.
    closeAfterCommit: () => proxy.cutAfterSending('COMMIT\0'),
  };
  return { door, url: url.href };
}

/** Makes a journey of PREQUAL alone, for one applicant whose SSN has these last four digits. */
export function prequalOnly(lastFour = '0001'): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

export async function until(what: string, isSo: () => Promise<boolean>, limitMs = 120_000): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export async function untilHeld(handle: JourneyHandle, failureType = 'OutcomeUnknown'): Promise<HoldStatus> {
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  assert.equal(holds[0]?.failureType, failureType);
  return holds[0] as HoldStatus;
}

/** Decides to resend. By default the provider says that it did not post the inquiry. */
export async function resend(handle: JourneyHandle, hold: HoldStatus, providerSaid = 'notPosted'): Promise<void> {
  await update(handle, 'resolveInquiry', {
    journeyId: handle.workflowId.replace('journey-', ''),
    decisionId: 'D1',
    customerTraceNumber: hold.customerTraceNumber,
    attempt: hold.attempts,
    action: 'resend',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid,
  });
}

/** Asserts that the journey ends with a record, and with the reference of the gateway's last posting. */
export async function assertOwnRecord(world: ProcessWorld, handle: JourneyHandle): Promise<JourneyResult> {
  const result = await handle.result();
  const posted = await world.posted(result.journeyId);
  const stage = result.stages[0];
  assert.equal(stage?.state, 'record');
  assert.equal(stage?.reference?.reportReferenceNumber, posted.at(-1)?.reportReferenceNumber);
  assert.deepEqual(
    stage?.reference?.applicants.map(({ consumerId }) => consumerId),
    posted.at(-1)?.consumerIds,
  );
  return result;
}

export async function assertSent(
  world: ProcessWorld,
  journeyId: string,
  expected: { received: number; posted: number },
): Promise<void> {
  assert.deepEqual(
    { received: (await world.received(journeyId)).length, posted: (await world.posted(journeyId)).length },
    expected,
  );
}

/** Counts how often the activity was scheduled. A history does not have Temporal's retries. */
export async function scheduled(handle: JourneyHandle, activity: string): Promise<number> {
  const { events } = await handle.fetchHistory();
  const types = events?.map(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes);
  return types?.filter((attributes) => attributes?.activityType?.name === activity).length ?? 0;
}
