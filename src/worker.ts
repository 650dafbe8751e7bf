/** Runs a worker: the workflow queue, and one gateway queue for each profile. DESIGN sections 3, 4 and 9. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { ActivityDependencies } from './activities/dependencies.ts';
import { createGatewayActivities, createJourneyActivities } from './activities/index.ts';
import type { Config } from './config-shape.ts';
import { GatewayClient } from './gateway/gateway-client.ts';
import { TokenSource } from './gateway/token-source.ts';
import { openLedger } from './ledger/open-ledger.ts';
import type { Ledger } from './ledger/port.ts';
import { openKeyRing } from './protection/open-key-ring.ts';
import { registeredSearchAttributes } from './registered-search-attributes.ts';
import { gatewayQueueOf } from './task-queues.ts';

/**
 * How long the tasks of a run wait for the worker that has it cached before any other may take them: with the default
 * of 10 s each run of a worker that was killed stands still that long.
 */
const STICKY_TIMEOUT_MS = 3_000;

export interface RunWorkerOptions {
  /** Called once every queue is polled. */
  onReady?: () => void;
  /** Aborted to shut down gracefully. */
  signal?: AbortSignal;
}

/**
 * Polls until `signal` is aborted, then lets attempts in flight finish: the grace period outlives the HTTP time-out.
 *
 * @throws whatever keeps it from starting: the ledger is missing or another one, keys are missing, no server
 */
export async function runWorker(config: Config, options: RunWorkerOptions = {}): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const ledger = await openConfiguredLedger(config);
  resources.defer(() => ledger.close());
  const connection = await NativeConnection.connect(config.temporal.connectionOptions);
  resources.defer(() => connection.close());
  const tokens = new TokenSource();
  resources.defer(() => tokens.close());
  const gateways = new Map([...config.profiles.values()].map((profile) => [profile.name, new GatewayClient(profile)]));
  resources.defer(async () => {
    await Promise.all([...gateways.values()].map((gateway) => gateway.close()));
  });
  const workers = await createWorkers(config, connection, {
    config,
    ledger,
    tokens,
    gateways,
    registeredSearchAttributes: registeredSearchAttributes(connection.operatorService, config.temporal.namespace),
  });
  await runAll(workers, options);
}

async function openConfiguredLedger(config: Config): Promise<Ledger> {
  const keyRing = await openKeyRing(config);
  return openLedger({
    url: config.ledger.url,
    environment: config.environment,
    keyRing,
    // Outside the sandbox a ledger is made by `setup` alone: a worker that makes one has forgotten what was sent.
    create: config.environment === 'sandbox',
    ...(config.ledger.expectedId === undefined ? {} : { expectedId: config.ledger.expectedId }),
  });
}

async function createWorkers(
  config: Config,
  connection: NativeConnection,
  dependencies: ActivityDependencies,
): Promise<Worker[]> {
  const { worker: settings, temporal, taskQueue } = config;
  const common: WorkerOptions = {
    connection,
    namespace: temporal.namespace,
    taskQueue,
    shutdownGraceTime: settings.shutdownGraceMs,
  };
  const workflowQueue = await Worker.create({
    ...common,
    ...workflowSource(settings.workflowBundlePath),
    activities: { ...createJourneyActivities(dependencies) },
    maxConcurrentWorkflowTaskExecutions: settings.maxConcurrentWorkflowTasks,
    maxCachedWorkflows: settings.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    maxConcurrentActivityTaskExecutions: settings.maxConcurrentActivities,
  });
  const gatewayQueues = [...config.profiles.values()].map((profile) =>
    Worker.create({
      ...common,
      taskQueue: gatewayQueueOf(taskQueue, profile.name),
      activities: { ...createGatewayActivities(dependencies) },
      // A slot without a connection would hold a claimed attempt in the client's own queue past its `sendBy`.
      maxConcurrentActivityTaskExecutions: Math.min(settings.maxConcurrentInquiries, profile.limits.connections),
      ...(settings.maxInquiriesPerSecond === undefined
        ? {}
        : { maxTaskQueueActivitiesPerSecond: settings.maxInquiriesPerSecond }),
    }),
  );
  return [workflowQueue, ...(await Promise.all(gatewayQueues))];
}

/** The prebuilt bundle that was configured or built beside this file; in development the sources, bundled at start. */
function workflowSource(configuredPath: string | undefined): Partial<WorkerOptions> {
  const isBuilt = import.meta.url.endsWith('.js');
  const builtPath = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  const bundlePath = configuredPath ?? (isBuilt && existsSync(builtPath) ? builtPath : undefined);
  if (bundlePath !== undefined) return { workflowBundle: { codePath: bundlePath } };
  const source = `./workflows/index.${isBuilt ? 'js' : 'ts'}`;
  return { workflowsPath: fileURLToPath(new URL(source, import.meta.url)) };
}

/** One queue that fails takes the others down with it: half a worker would look alive. */
async function runAll(workers: readonly Worker[], { onReady, signal }: RunWorkerOptions): Promise<void> {
  const shutDown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run().finally(shutDown));
  signal?.addEventListener('abort', shutDown, { once: true });
  if (signal?.aborted) shutDown();
  else onReady?.();
  const ends = await Promise.allSettled(runs);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
