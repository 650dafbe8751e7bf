/** Runs a worker: the workflow queue, and one gateway queue for each profile. ARCHITECTURE.md and docs/protocol.md. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDependencies } from './activities/dependencies.ts';
import { createGatewayActivities, createJourneyActivities } from './activities/index.ts';
import type { Config } from './config-shape.ts';
import { GatewayClient } from './gateway/gateway-client.ts';
import { TokenSource } from './gateway/token-source.ts';
import { openLedger } from './ledger/open-ledger.ts';
import type { Ledger } from './ledger/port.ts';
import { bundleHasFailureConverter, createDataConverter } from './protection/data-converter.ts';
import type { KeyWrapper } from './protection/key-ring.ts';
import { openKeyRing } from './protection/open-key-ring.ts';
import { WatchedKeyRing } from './protection/watched-key-ring.ts';
import { registeredSearchAttributes } from './registered-search-attributes.ts';
import { startedEncrypted } from './started-encrypted.ts';
import { gatewayQueueOf } from './task-queues.ts';

/**
 * How long the tasks of a run wait for the worker that has it cached before any other may take them: with the default
 * of 10 s each run of a worker that was killed stands still that long.
 */
const STICKY_TIMEOUT_MS = 3_000;

type WorkerLogger = Pick<Logger, 'warn' | 'error'>;

export interface RunWorkerOptions {
  /** Called once every queue is polled. */
  onReady?: () => void;
  /** Aborted to shut down gracefully. */
  signal?: AbortSignal;
  /** For alerts that are not the SDK's. */
  logger?: WorkerLogger;
}

/**
 * Polls until `signal` is aborted, then lets attempts in flight finish: the grace period outlives the HTTP time-out.
 *
 * @throws whatever keeps it from starting: the ledger is missing or another one, keys are missing, no server
 */
export async function runWorker(config: Config, options: RunWorkerOptions = {}): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const keys = await watchKeyRing(config, options.logger);
  resources.defer(() => keys.close());
  const ledger = await openConfiguredLedger(config, keys);
  resources.defer(() => ledger.close());
  const connection = await NativeConnection.connect(config.temporal.connectionOptions);
  resources.defer(() => connection.close());
  const tokens = new TokenSource();
  resources.defer(() => tokens.close());
  const gateways = new Map([...config.profiles.values()].map((profile) => [profile.name, new GatewayClient(profile)]));
  resources.defer(async () => {
    await Promise.all([...gateways.values()].map((gateway) => gateway.close()));
  });
  const dataConverter = config.payloadsAreEncrypted
    ? createDataConverter({
        keys,
        namespace: config.temporal.namespace,
        mode: 'worker',
        onUnknownKey: unknownKeyAlert(options.logger),
      })
    : undefined;
  const dependencies: ActivityDependencies = {
    config,
    ledger,
    tokens,
    gateways,
    registeredSearchAttributes: registeredSearchAttributes(connection.operatorService, config.temporal.namespace),
    startedEncrypted: (execution) => startedEncrypted(connection, config.temporal.namespace, execution),
  };
  const workers = await createWorkers(config, connection, dependencies, dataConverter);
  await runAll(workers, options);
}

/** Follows the key ring's file, so that keys are rotated under a running worker. */
async function watchKeyRing(config: Config, logger: WorkerLogger | undefined): Promise<WatchedKeyRing> {
  // Makes the sandbox's, where there is none yet.
  await openKeyRing(config);
  return WatchedKeyRing.open(config.keyRingFile, {
    onReloadFailed: () => logger?.warn({}, 'the key ring was changed into something that cannot be used'),
  });
}

/** A payload waits for a key that is not here: said once a minute for each key, since every retry comes by. */
function unknownKeyAlert(logger: WorkerLogger | undefined): (keyId: string) => void {
  const saidAtMs = new Map<string, number>();
  return (keyId) => {
    if (performance.now() - (saidAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    saidAtMs.set(keyId, performance.now());
    logger?.error(
      { keyId },
      'payloads wait for a key that the key ring lacks: add it, or `credit-journey keys refuse`',
    );
  };
}

async function openConfiguredLedger(config: Config, keyRing: KeyWrapper): Promise<Ledger> {
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
  dataConverter: DataConverter | undefined,
): Promise<Worker[]> {
  const { worker: settings, temporal, taskQueue } = config;
  const common: WorkerOptions = {
    connection,
    namespace: temporal.namespace,
    taskQueue,
    shutdownGraceTime: settings.shutdownGraceMs,
    ...(dataConverter ? { dataConverter } : {}),
  };
  const workflowQueue = await Worker.create({
    ...common,
    ...workflowSource(settings.workflowBundlePath, dataConverter !== undefined),
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
function workflowSource(configuredPath: string | undefined, isEncrypting: boolean): Partial<WorkerOptions> {
  const isBuilt = import.meta.url.endsWith('.js');
  const builtPath = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  const bundlePath = configuredPath ?? (isBuilt && existsSync(builtPath) ? builtPath : undefined);
  if (bundlePath !== undefined) {
    // With a prebuilt bundle the SDK ignores the data converter's failure converter without a word.
    if (isEncrypting && !bundleHasFailureConverter(readFileSync(bundlePath, 'utf8'))) {
      throw new Error(`the workflow bundle ${bundlePath} does not encode failures: build it anew`);
    }
    return { workflowBundle: { codePath: bundlePath } };
  }
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
