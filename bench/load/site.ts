/**
 * A whole site like one in production, on one machine: server, sandbox, codec server, PostgreSQL or SQLite, worker
 * processes.
 */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { CreditJourneys } from '../../src/client.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter, FAILURE_CONVERTER_PATH } from '../../src/protection/payloads/data-converter.ts';
import { BUNDLE_OPTIONS } from '../../src/worker/workflow-source.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { type Program, startProgram } from '../processes.ts';

export type LedgerEngine = 'postgres' | 'sqlite';

export interface SiteOptions {
  ledger: LedgerEngine;
  /** For the workers. */
  env?: Record<string, string>;
  /** For the sandbox. */
  sandboxArgs?: string[];
  codecServer?: boolean;
}

export interface ReceivedRequest {
  customerTraceNumber: string | null;
  receivedAt: string;
  posted: boolean;
  fault: string | null;
}

export interface PostedInquiry {
  customerTraceNumber: string;
  endUserCode: string | null;
  postedAt: string;
  reportReferenceNumber: string;
  consumerIds: string[];
}

export interface SiteWorker {
  name: string;
  program: Program;
  metricsUrl: string;
  readyUrl: string;
}

export interface Site {
  journeys: CreditJourneys;
  taskQueue: string;
  /** Removed at the end. */
  dataDir: string;
  /** Of its workers: a program that is given it is one of the site's. */
  env: Readonly<Record<string, string>>;
  /** The workers' directory; empty at first. */
  portfolioDir: string;
  workers: Map<string, SiteWorker>;
  /** The name and process id of each of its processes, workers included. */
  processes(): Map<string, number>;
  /** Resolves when every queue is polled. */
  startWorker(name: string, nodeFlags?: readonly string[]): Promise<SiteWorker>;
  /** Sends SIGTERM, and waits for the end. */
  stopWorker(name: string): Promise<void>;
  received(): Promise<ReceivedRequest[]>;
  posted(): Promise<PostedInquiry[]>;
  /** Clears the received requests and the faults of the sandbox. */
  forget(): Promise<void>;
  setFaults(rules: object[]): Promise<void>;
  codecServerUrl?: string;
  /** Bytes on disk. */
  temporalBytes(): Promise<number>;
  ledgerBytes(): Promise<number>;
  close(): Promise<void>;
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export const WORKFLOWS = path('../../src/workflows/index.ts');

export async function startSite(options: SiteOptions): Promise<Site> {
  const parts = new AsyncDisposableStack();
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= parts.disposeAsync();
    return closing;
  };
  const stop = () => {
    // Calls in progress fail while everything closes, and no caller waits for them any more.
    process.on('unhandledRejection', () => {});
    void close().finally(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, stop);
    parts.defer(() => void process.off(signal, stop));
  }
  try {
    return { ...(await startParts(options, parts)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startParts(options: SiteOptions, parts: AsyncDisposableStack): Promise<Omit<Site, 'close'>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-site-'));
  // Also where other code ends the process, as the PostgreSQL package does on a signal.
  const remove = () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  parts.defer(async () => {
    await rm(dataDir, { recursive: true, force: true });
    process.off('exit', remove);
  });
  const temporalDir = join(dataDir, 'temporal');
  const server = await startTemporalServer({ dataDir: temporalDir, headless: true });
  parts.defer(() => server.stop());
  const sandbox = await startProgram([path('../../sandbox/main.ts'), '--json', ...(options.sandboxArgs ?? [])], {});
  parts.defer(() => sandbox.stop(1_000));
  const sandboxUrl = String(sandbox.ready.url);
  const ledger = await startLedger(options.ledger, dataDir, parts);
  const keyRingFile = join(dataDir, 'keys.json');
  const keys = await createKeyRing(keyRingFile);
  const bundleFile = await bundle(WORKFLOWS, join(dataDir, 'workflows.js'), {
    failureConverterPath: FAILURE_CONVERTER_PATH,
    ...BUNDLE_OPTIONS,
  });
  const { address, namespace } = server;
  const taskQueue = 'site';
  const portfolioDir = join(dataDir, 'portfolios');
  await mkdir(portfolioDir);
  const env = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TASK_QUEUE: taskQueue,
    GATEWAY_ENVIRONMENT: 'sandbox',
    GATEWAY_AUTH_URL: sandboxUrl,
    GATEWAY_BASE_URL: sandboxUrl,
    LEDGER_URL: ledger.url,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'on',
    LOG_LEVEL: 'ERROR',
    WORKFLOW_BUNDLE_FILE: bundleFile,
    PORTFOLIO_DIR: portfolioDir,
    // The same as in the image and the manifests.
    MALLOC_ARENA_MAX: '2',
    NODE_OPTIONS: '--max-old-space-size=768',
    WORKER_MAX_CACHED_WORKFLOWS: '1000',
    ...options.env,
  };
  const others = new Map([
    ['temporal', server.pid],
    ['sandbox', sandbox.pid],
  ]);
  let codecServerUrl: string | undefined;
  if (options.codecServer) {
    const codec = await startProgram([path('../../src/cli.ts'), 'codec-server', '--port', '0', '--json'], {
      ...env,
      CODEC_NAMESPACES: namespace,
      CODEC_PATH_ROLES: 'encode,decode',
      CODEC_AUDIT_FILE: join(dataDir, 'codec-audit.log'),
    });
    parts.defer(() => codec.stop(1_000));
    codecServerUrl = String(codec.ready.endpoint ?? codec.ready.url);
    others.set('codec server', codec.pid);
  }
  const workers = new Map<string, SiteWorker>();
  parts.defer(async () => {
    await Promise.all([...workers.values()].map(({ program }) => program.stop(20_000)));
  });
  const dataConverter = createDataConverter({ keys, namespace, mode: 'client' });
  const journeys = await CreditJourneys.connect({
    address,
    namespace,
    taskQueue,
    dataConverter,
    // Latency is what is measured: a long query must not be given up.
    queryTimeoutMs: 60_000,
  });
  parts.defer(() => journeys.close());
  const ask = async <T>(route: string, init?: RequestInit) => {
    const answer = await fetch(`${sandboxUrl}/_sandbox/${route}`, init);
    if (!answer.ok) throw new Error(`the sandbox refused ${route}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  return {
    journeys,
    taskQueue,
    dataDir,
    env,
    portfolioDir,
    workers,
    processes: () => new Map([...others, ...[...workers.values()].map((one) => [one.name, one.program.pid] as const)]),
    async startWorker(name, nodeFlags = []) {
      const [metrics = 0, health = 0] = await freePorts(2);
      const program = await startProgram([...nodeFlags, path('../../src/cli.ts'), 'worker'], {
        ...env,
        METRICS_ADDRESS: `127.0.0.1:${metrics}`,
        HEALTH_ADDRESS: `127.0.0.1:${health}`,
      });
      const urls = { metricsUrl: `http://127.0.0.1:${metrics}/metrics`, readyUrl: `http://127.0.0.1:${health}/readyz` };
      const worker = { name, program, ...urls };
      workers.set(name, worker);
      return worker;
    },
    async stopWorker(name) {
      const worker = workers.get(name);
      workers.delete(name);
      await worker?.program.stop(60_000);
    },
    received: () => ask<ReceivedRequest[]>('requests'),
    posted: () => ask<PostedInquiry[]>('inquiries'),
    async forget() {
      await ask('reset', { method: 'POST' });
    },
    async setFaults(rules) {
      const headers = { 'content-type': 'application/json' };
      await ask('faults', { method: 'PUT', headers, body: JSON.stringify({ rules }) });
    },
    ...(codecServerUrl === undefined ? {} : { codecServerUrl }),
    temporalBytes: () => directoryBytes(temporalDir, (name) => name.startsWith('temporal.db')),
    ledgerBytes: ledger.bytes,
  };
}

export async function startLedger(engine: LedgerEngine, dataDir: string, parts: AsyncDisposableStack) {
  if (engine === 'sqlite') {
    const bytes = () => directoryBytes(dataDir, (name) => name.startsWith('ledger.db'));
    return { url: `file:${join(dataDir, 'ledger.db')}`, bytes };
  }
  const postgres = await startPostgres();
  parts.defer(() => postgres.stop());
  const url = await postgres.url('ledger');
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  parts.defer(() => pool.end());
  const bytes = async () => {
    const { rows } = await pool.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
    return Number(rows[0]?.bytes);
  };
  return { url, bytes };
}

async function directoryBytes(directory: string, isOfIt: (name: string) => boolean): Promise<number> {
  const names = (await readdir(directory)).filter(isOfIt);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Bundles workflows into a file, and returns its path. */
export async function bundle(workflowsPath: string, file: string, options: Partial<BundleOptions>): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN'), ...options });
  await writeFile(file, code);
  return file;
}
