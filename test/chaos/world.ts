/**
 * A world of real processes, as users run them, with a wire between any two that a storm may want to cut: a Temporal
 * server on a database file, workers, a ledger on either engine, and the sandbox with a journal.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection as TemporalConnection } from '@temporalio/client';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { toPortfolioFolder } from '../../src/messages/portfolio/output-files.ts';
import { createKeyRing, type KeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type ApiHouse, startApiHouse } from './api/house.ts';
import type { Connection } from './evidence.ts';
import { type LedgerHouse, startLedgerHouse } from './ledger-house.ts';
import { NewerVersion } from './newer-version.ts';
import { type Standstill, watchOwnPace } from './own-pace.ts';
import type { GatewayFault, Plan } from './plan.ts';
import { type ProfileFiles, profileFiles } from './profile-files.ts';
import { PORTFOLIO_FILE, portfolioText } from './runs.ts';
import { Supervised } from './supervised.ts';
import { hiredHouse, startTemporalHouse, type TemporalHouse } from './temporal-house.ts';
import { waitFor } from './wait-for.ts';
import { declareEndpoints, ENDPOINTS, startWebhookEndpoint, type WebhookEndpoint } from './webhook-endpoint.ts';
import type { WorkerFleet } from './worker-fleet.ts';
import { CLI, fleetOf, writeBundles } from './worker-programs.ts';

const SANDBOX = fileURLToPath(new URL('../../sandbox/main.ts', import.meta.url));
const CONDITIONS = new URL('./worker-conditions.ts', import.meta.url).href;
const CLIENT_SECRET = 'chaos-client-secret-7Qx2';
const LISTENING_LIMIT_MS = 30_000;

/** The figure of what `ledgerFull` came to. */
export const REFUSED_WRITES = 'writes refused by a full ledger';

export interface World {
  plan: Plan;
  client: Client;
  taskQueue: string;
  temporal: TemporalHouse;
  ledger: LedgerHouse;
  fleet: WorkerFleet;
  profiles: ProfileFiles;
  /** In worlds that are upgraded in their storm. */
  newer?: NewerVersion;
  /** The environment of `credit-journey setup`, which runs beside the workers. */
  setupEnv: NodeJS.ProcessEnv;
  /** The running workers of the fleet. */
  readonly workers: readonly Supervised[];
  /** Workflow ids of pinned runs that the deployer moved to another version. */
  moved: Set<string>;
  sandbox: Supervised;
  /** Copies of the HTTP API, in worlds that have them. */
  api?: ApiHouse;
  /** Straight to the sandbox. */
  sandboxUrl: string;
  journalFile: string;
  /** Between the workers and the gateway, and between them and the token service. */
  gatewayWire: TcpProxy;
  tokenWire: TcpProxy;
  /** That the gateway's wire accepted. */
  connections: readonly Connection[];
  /** Times when this process, which has the proxies, did not run. */
  standstills: readonly Standstill[];
  /** The receiver of webhook events, in worlds that have endpoints. */
  endpoint?: WebhookEndpoint;
  /** The workers' portfolio directory, with the file of the only review. */
  portfolioDir: string;
  keyRing: KeyRing;
  keyRingFile: string;
  /** The workers' data converter, for replays. */
  dataConverter: ReturnType<typeof createDataConverter>;
  workflowBundle: { code: string };
  clientSecret: string;
  logFiles: readonly string[];
  /** Counts taken during the storm, by name, for its report. */
  figures: ReadonlyMap<string, number>;
  count(figure: string, more: number): void;
  /** The faults that strike by themselves, and these; `[]` is a gateway without faults at all. */
  setFaults(faults: readonly GatewayFault[]): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** A server that serves others too: it is never killed. Default: one of its own. */
  temporal?: { address: string; namespace: string };
  /** The bundled workflows. Bundled again if absent. */
  workflowBundle?: { code: string };
}

/** Everything ends with `close`, and where this fails. */
export async function startWorld(plan: Plan, options: WorldOptions = {}): Promise<World> {
  const resources = new AsyncDisposableStack();
  try {
    return await build(plan, options, resources);
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
}

async function build(plan: Plan, options: WorldOptions, resources: AsyncDisposableStack): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-chaos-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const [logDir, keyRingFile] = [join(directory, 'logs'), join(directory, 'keys.json')];
  await mkdir(logDir);
  const keyRing = await createKeyRing(keyRingFile);
  const taskQueue = `chaos-${randomUUID().slice(0, 8)}`;
  const [bundles, temporal, ledger, [sandboxPort = 0]] = await Promise.all([
    writeBundles(directory, plan.world, options.workflowBundle?.code),
    options.temporal ? hiredHouse(options.temporal) : startTemporalHouse(join(directory, 'temporal')),
    startLedgerHouse(plan.world.engine, directory),
    freePorts(1),
  ]);
  resources.defer(() => temporal.stop());
  resources.defer(() => ledger.stop());
  const made = await openLedger({ url: ledger.ownUrl, environment: 'sandbox', keyRing, create: true });
  await made.close();
  await ledger.furnish();

  const target = { host: '127.0.0.1', port: sandboxPort };
  const connections: Connection[] = [];
  const pace = watchOwnPace();
  resources.defer(() => pace.stop());
  const { standstills } = pace;
  const gatewayWire = await startTcpProxy(target, {
    onConnection() {
      const accepted: Connection = { openedMs: Date.now() };
      connections.push(accepted);
      return () => {
        accepted.closedMs = Date.now();
      };
    },
  });
  resources.defer(() => gatewayWire.close());
  const tokenWire = await startTcpProxy(target);
  resources.defer(() => tokenWire.close());
  const journalFile = join(directory, 'journal.jsonl');
  const sandbox = sandboxProgram(plan, {
    port: sandboxPort,
    directory,
    journalFile,
    logFile: join(logDir, 'sandbox.log'),
  });
  resources.defer(() => sandbox.stop());
  sandbox.start();

  const endpoint = plan.world.hasEndpoints ? await startWebhookEndpoint(ENDPOINTS.platform.name) : undefined;
  if (endpoint) resources.defer(() => endpoint.close());
  const portfolioDir = join(directory, 'portfolios');
  await mkdir(portfolioDir, { mode: 0o700 });
  for (const review of plan.others?.reviews ?? []) {
    const folder = join(portfolioDir, toPortfolioFolder(review));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, PORTFOLIO_FILE), portfolioText(review), { mode: 0o600 });
  }
  const profiles = profileFiles(directory, endpoint ? await declareEndpoints(endpoint, directory) : []);
  const ofApi = plan.world.workersAheadMs.length;
  for (let owner = 0; owner <= ofApi; owner++) await profiles.write(owner, { hasJourneys: true });
  const workerEnv = {
    PORTFOLIO_DIR: portfolioDir,
    // Two attempts, with 5 s between them.
    WEBHOOK_GIVE_UP_AFTER: 'PT18S',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    GATEWAY_AUTH_URL: `http://127.0.0.1:${tokenWire.port}`,
    GATEWAY_BASE_URL: `http://127.0.0.1:${gatewayWire.port}`,
    GATEWAY_CLIENT_SECRET: CLIENT_SECRET,
    GATEWAY_NOT_PROCESSED_STATUSES: plan.world.notProcessedStatuses.join(','),
    LEDGER_URL: ledger.workersUrl,
    // A worker that starts while the file is away for a moment must not create another ledger.
    LEDGER_ID: made.identity.ledgerId,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'on',
  };
  const newer = plan.world.isUpgraded ? await NewerVersion.build() : undefined;
  resources.defer(() => newer?.remove());
  const figures = new Map<string, number>();
  const count = (figure: string, more: number) => void figures.set(figure, (figures.get(figure) ?? 0) + more);
  const logFiles = [join(logDir, 'sandbox.log')];
  const fleet = fleetOf(plan.world, {
    ...{ taskQueue, logDir, bundles, profiles, env: workerEnv },
    cliOf: (worker) => newer?.cliOf(worker) ?? CLI,
    onLog: (file) => logFiles.push(file),
    onWriteRefused: () => count(REFUSED_WRITES, 1),
  });
  resources.defer(() => fleet.stop());
  fleet.begin();
  const { apiCopies } = plan.world;
  const api =
    apiCopies === undefined
      ? undefined
      : await startApiHouse({
          ...{ copies: apiCopies, directory, logDir, conditions: CONDITIONS },
          env: {
            ...workerEnv,
            LEDGER_URL: ledger.apiUrl,
            TASK_QUEUE: taskQueue,
            GATEWAY_PROFILES_FILE: profiles.fileOf(ofApi),
          },
          cli: () => newer?.cli() ?? CLI,
          onLog: (file) => logFiles.push(file),
          onWriteRefused: () => count(REFUSED_WRITES, 1),
        });
  resources.defer(() => api?.stop());
  const { namespace } = temporal;
  const dataConverter = createDataConverter({ keys: keyRing, namespace, mode: 'client' });
  const connection = await TemporalConnection.connect({
    address: temporal.address,
    // A server that was away for a moment is found again in one.
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 },
  });
  resources.defer(() => connection.close());
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  await waitFor('the sandbox', () => answers(sandboxUrl), LISTENING_LIMIT_MS);
  await api?.untilServing();
  const world: World = {
    plan,
    client: new Client({ connection, namespace, dataConverter }),
    taskQueue,
    ...{ fleet, profiles, moved: new Set<string>(), ...(endpoint ? { endpoint } : {}) },
    ...(newer ? { newer } : {}),
    ...(api ? { api } : {}),
    setupEnv: { ...workerEnv, GATEWAY_PROFILES_FILE: profiles.fileOf(0) },
    get workers() {
      return fleet.running;
    },
    ...{
      portfolioDir,
      temporal,
      ledger,
      sandbox,
      sandboxUrl,
      journalFile,
      gatewayWire,
      tokenWire,
      connections,
      standstills,
    },
    dataConverter: createDataConverter({ keys: keyRing, namespace, mode: 'worker' }),
    ...{
      keyRing,
      keyRingFile,
      workflowBundle: { code: bundles.code },
      clientSecret: CLIENT_SECRET,
      logFiles,
      figures,
      count,
    },
    setFaults: (faults) => putFaults(sandboxUrl, plan.seed, faults),
    close: () => resources.disposeAsync(),
  };
  await world.setFaults(plan.world.gatewayFaults);
  return world;
}

interface SandboxPlace {
  port: number;
  directory: string;
  journalFile: string;
  logFile: string;
}

function sandboxProgram(plan: Plan, { port, directory, journalFile, logFile }: SandboxPlace): Supervised {
  const { sandboxAheadMs, latencyMs, variants } = plan.world;
  return new Supervised({
    name: 'sandbox',
    args: [
      ...['--import', CONDITIONS, SANDBOX, '--json', '--port', String(port), '--client-secret', CLIENT_SECRET],
      ...['--seed', String(plan.seed), '--latency-ms', String(latencyMs)],
      ...variants.flatMap((variant) => ['--with', variant]),
      ...['--state-file', join(directory, 'sandbox.jsonl'), '--journal-file', journalFile],
    ],
    env: { CHAOS_CLOCK_AHEAD_MS: String(sandboxAheadMs) },
    logFile,
  });
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/_sandbox/faults`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
  return answer?.ok ?? false;
}

/** Tries for as long as a restart takes: a sandbox that was killed has forgotten its faults. */
async function putFaults(url: string, seed: number, rules: readonly GatewayFault[]): Promise<void> {
  let refusal = '';
  await waitFor(
    'the sandbox to take its faults',
    async () => {
      const answer = await fetch(`${url}/_sandbox/faults`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ seed, rules }),
        signal: AbortSignal.timeout(2_000),
      }).catch(() => null);
      if (answer?.status === 400) refusal = await answer.text();
      return answer !== null && (answer.ok || refusal !== '');
    },
    LISTENING_LIMIT_MS,
  );
  if (refusal) throw new Error(`the sandbox refuses the plan's faults: ${refusal}`);
}
