/**
 * Two regions on one machine. Each has a Temporal server on a database file and a worker; the ledger's primary is in the
 * first, its synchronous standby in the second. The second's Temporal begins as an older copy of the first's.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type RunningSandbox, startSandbox } from '../../sandbox/server.ts';
import { CreditJourneys } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { type Ran, runCli } from '../cli/run-cli.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/postgres-standby.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

export interface Region {
  journeys: CreditJourneys;
  client: ReturnType<CreditJourneys['getSdkClient']>;
  /** Runs a command of the command line in that region. */
  cli(...args: string[]): Promise<Ran>;
  startWorker(): Promise<WorkerProcess>;
}

export interface TwoRegions {
  first: Region;
  sandboxUrl: string;
  postgres: ReplicatedPostgres;
  /** Copies the first region's Temporal database as it is at this moment. */
  copyTemporal(): void;
  /** SIGKILL to all of the first region. */
  loseFirst(): Promise<void>;
  /** Temporal in the second region, from the copy. */
  startSecond(): Promise<Region>;
  /** The ledger on the former standby. */
  openLedger(): Promise<Ledger>;
  close(): Promise<void>;
}

const DATABASE = 'ledger';

export async function startTwoRegions(): Promise<TwoRegions> {
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-regions-'));
  const directories = { first: join(dataDir, 'first'), second: join(dataDir, 'second') };
  await mkdir(directories.second, { recursive: true });
  const closing: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const taskQueue = `test-${randomUUID()}`;
  const [sandbox, postgres, server]: [RunningSandbox, ReplicatedPostgres, TemporalServer] = await Promise.all([
    startSandbox(),
    startReplicatedPostgres(),
    startTemporalServer({ headless: true, dataDir: directories.first }),
  ]);
  closing.unshift(
    () => sandbox.close(),
    () => postgres.stop(),
    () => server.stop(),
  );
  await postgres.create(DATABASE);
  const keyRingFile = join(dataDir, 'keys.json');
  const keyRing = await createKeyRing(keyRingFile);
  const primary = postgres.url('primary', DATABASE);
  await (await openLedger({ url: primary, environment: 'sandbox', keyRing, create: true })).close();

  const regionOf = async ({ address, namespace }: TemporalServer, ledgerUrl: string): Promise<Region> => {
    const bundle = process.env.TEST_WORKFLOW_BUNDLE;
    const env = {
      ...SHORT_TIMEOUTS,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      TASK_QUEUE: taskQueue,
      GATEWAY_AUTH_URL: sandbox.url,
      GATEWAY_BASE_URL: sandbox.url,
      LEDGER_URL: ledgerUrl,
      LEDGER_WATCH_EVERY_MS: '1000',
      KEY_RING_FILE: keyRingFile,
      PAYLOAD_ENCRYPTION: 'off',
      ...(bundle === undefined ? {} : { WORKFLOW_BUNDLE_FILE: bundle }),
    };
    const journeys = await CreditJourneys.connect({ address, namespace, taskQueue, dataConverter: {} });
    closing.unshift(() => journeys.close());
    return {
      journeys,
      client: journeys.getSdkClient(),
      cli: (...args) => runCli(args, { env, cwd: dataDir }),
      async startWorker() {
        const worker = await startWorkerProcess(env);
        closing.unshift(() => worker.kill());
        return worker;
      },
    };
  };

  const first = await regionOf(server, primary);
  const worker = await first.startWorker();
  return {
    first,
    postgres,
    sandboxUrl: sandbox.url,
    copyTemporal() {
      const database = new DatabaseSync(join(directories.first, 'temporal.db'), {
        ...{ readOnly: true, timeout: 10_000 },
        // Temporal's own tables have such literals.
        enableDoubleQuotedStringLiterals: true,
      });
      // One transaction: the copy shows a single moment, also if the server writes meanwhile.
      database.exec(`VACUUM INTO '${join(directories.second, 'temporal.db')}'`);
      database.close();
    },
    async loseFirst() {
      process.kill(server.pid, 'SIGKILL');
      await Promise.all([worker.kill(), postgres.kill('primary'), server.ended]);
    },
    async startSecond() {
      const second = await startTemporalServer({ headless: true, dataDir: directories.second });
      closing.unshift(() => second.stop());
      return regionOf(second, postgres.url('standby', DATABASE));
    },
    async openLedger() {
      const ledger = await openLedger({ url: postgres.url('standby', DATABASE), environment: 'sandbox', keyRing });
      closing.unshift(() => ledger.close());
      return ledger;
    },
    async close() {
      for (const close of closing) await close().catch(() => {});
    },
  };
}
