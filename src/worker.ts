/**
 * Runs a worker: the workflow queue, and one gateway queue for each profile. See ARCHITECTURE.md and docs/protocol.md.
 */
import type { DataConverter } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDependencies } from './activities/dependencies.ts';
import { createGatewayActivities, createRunActivities } from './activities/index.ts';
import { allotSlots, countInquirySlots } from './activities/inquiry-slots.ts';
import { inquiryLogContext } from './activities/log-context.ts';
import { createWebhookActivities } from './activities/webhook-activities.ts';
import { omitUndefined } from './base/defined.ts';
import { diagnoseUnreachable } from './client/connection/connect.ts';
import type { Config } from './config/config.ts';
import { GatewayClient } from './gateway/gateway-client.ts';
import { TokenSource } from './gateway/token-source.ts';
import { Readiness, readinessChecks, startHealthServer, watchWriter } from './health/readiness.ts';
import { WriterTooOldError } from './ledger/errors.ts';
import type { Ledger } from './ledger/ledger.ts';
import { openLedger } from './ledger/open-ledger.ts';
import { listMissingSearchAttributes } from './model/search-attributes.ts';
import { toGatewayQueue, toWebhookQueue } from './model/work-class.ts';
import { computeKeyAges, type KeyWrapper, makeMissingKeyRing, WatchedKeyRing } from './protection/keys/key-ring.ts';
import { createDataConverter } from './protection/payloads/data-converter.ts';
import { createConsentProofVerifier, createDecisionProofVerifier } from './protection/proofs.ts';
import { makeRuntime } from './telemetry/logging.ts';
import { listRegisteredSearchAttributes } from './temporal/registered-search-attributes.ts';
import {
  type DeploymentVersion,
  isFleetPolling,
  type WatchedDeployment,
  watchDeployment,
} from './temporal/worker-deployment.ts';
import { WebhookSender } from './webhooks/sender.ts';
import { losesCommits, requireDurableLedger, requireFreshKeys, watchOwnLedger } from './worker/start-up.ts';
import { startWorkerTelemetry, type WorkerTelemetry } from './worker/worker-telemetry.ts';
import { resolveWorkflowSource } from './worker/workflow-source.ts';

/**
 * How long the tasks of a run wait for the worker that has it cached before any other may take them. With the default
 * of 10 s each run of a killed worker would pause that long.
 */
const STICKY_TIMEOUT_MS = 3_000;

/** Each slot only waits on a platform's endpoint. This is several times the slots that one endpoint may take. */
const WEBHOOK_SLOTS = 50;

/** Limits the search for the reason when Temporal cannot be reached. */
const WHY_UNREACHABLE_MS = 5_000;

type WorkerLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

interface RunWorkerOptions {
  /** Called once every queue is polled. */
  onReady?: () => void;
  /** Aborted to shut down gracefully. */
  signal?: AbortSignal;
  /** For alerts that are not the SDK's. */
  logger?: WorkerLogger;
}

const SILENT: WorkerLogger = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Polls until `signal` is aborted, then lets attempts in flight finish: the grace period outlives the HTTP time-out.
 *
 * @throws what keeps it from starting: the ledger is missing or another one, keys are missing or too old, no server;
 *   WriterTooOldError where it has stopped by itself since the ledger asks for newer workers
 */
export async function runWorker(config: Config, options: RunWorkerOptions = {}): Promise<void> {
  const { logger = SILENT } = options;
  await using resources = new AsyncDisposableStack();
  const readiness = new Readiness();
  const parts = await openParts(config, resources, { readiness, logger });
  const { keys, connection, workflows } = parts;
  const telemetry = resources.adopt(await startWorkerTelemetry(config), close);
  const { metrics } = telemetry;
  const ledger = telemetry.observeLedger(parts.ledger);
  const mayLoseClaims = async () => {
    const loses = await losesCommits(parts.ledger, config);
    metrics.put('ledgerLosesCommits', loses, {});
    return loses && config.environment === 'production';
  };
  const { namespace } = config.temporal;
  const registered = listRegisteredSearchAttributes(connection, namespace);
  warnOfMissing(await registered(), logger);
  const tokens = resources.adopt(new TokenSource({ observer: telemetry.observeExchange }), close);
  const gateways = new Map(
    [...config.profiles.values()].map((profile) => [
      profile.name,
      resources.adopt(new GatewayClient(profile, undefined, telemetry.observeExchange), close),
    ]),
  );
  const dataConverter = createDataConverter({
    keys,
    namespace,
    mode: 'worker',
    encrypts: config.payloadsAreEncrypted,
    onUnknownKey: createUnknownKeyAlert(logger, telemetry),
    onUndecodable: (reason) => metrics.put('undecodable', 1, { reason }),
  });
  const { taskQueue, worker: settings } = config;
  const watched = { connection, namespace, taskQueue, dataConverter, ledger, everyMs: settings.ledgerWatchMs, logger };
  // Before workers are made: those that never run are not closed.
  await watchOwnLedger(watched);
  const dependencies: ActivityDependencies = {
    config,
    ledger,
    tokens,
    gateways,
    slots: allotSlots(config),
    checkConsentProof: createConsentProofVerifier(config.consentKeysFile),
    checkDecisionProof: createDecisionProofVerifier(config.decisionKeysFile),
    registeredSearchAttributes: registered,
  };
  const webhooks = resources.adopt(new WebhookSender(), close);
  const foundations = { connection, workflows, telemetry, webhooks };
  const workers = await createWorkers(config, foundations, dependencies, dataConverter);
  const { deployment: version } = settings;
  const onAnswer: WatchedDeployment['onAnswer'] = (answer) => metrics.version(version?.buildId, answer);
  const service = connection.workflowService;
  resources.adopt(watchDeployment({ service, namespace, taskQueue, version, logger, onAnswer }), close);
  telemetry.watch({ ledger, connection, keys, registeredSearchAttributes: registered });
  const { tooOld } = resources.adopt(watchWriter(parts.ledger), close);
  tooOld.addEventListener('abort', () => {
    logger.error({}, 'the ledger asks for newer workers: this one finishes its attempts in flight, and ends');
  });
  await runAll(workers, {
    ...options,
    signal: AbortSignal.any([tooOld, ...(options.signal ? [options.signal] : [])]),
    onReady: () => {
      readiness.set(
        readinessChecks({ workers, connection, ledger: parts.ledger, keys, gateways, tooOld, mayLoseClaims }),
      );
      options.onReady?.();
    },
  });
  if (tooOld.aborted) throw new WriterTooOldError();
}

/** Opens the parts that a start may fail on. The first that fails ends it; `doctor` names everything that is wrong. */
async function openParts(
  config: Config,
  resources: AsyncDisposableStack,
  { readiness, logger }: { readiness: Readiness; logger: WorkerLogger },
) {
  const { healthAddress } = config.telemetry;
  if (healthAddress) resources.adopt(await startHealthServer(healthAddress, readiness), close);
  const workflows = resolveWorkflowSource({
    bundlePath: config.worker.workflowBundlePath,
    isEncrypting: config.payloadsAreEncrypted,
  });
  const keys = resources.adopt(await watchKeyRing(config, logger), close);
  const ledger = resources.adopt(await openWorkerLedger(config, keys), close);
  await requireDurableLedger(config, logger);
  // It ends with its last connection, and keeps a process from its end until then.
  makeRuntime();
  const connection = resources.adopt(await connectTo(config), close);
  const { environment, temporal, taskQueue, worker } = config;
  const fleet = { namespace: temporal.namespace, taskQueue, version: worker.deployment };
  await requireFreshKeys(computeKeyAges(keys), environment, {
    warn: ({ id, use, ageDays }) =>
      logger.warn({ keyId: id, keyUse: use, ageDays }, 'this key is due for rotation: `credit-journey keys rotate`'),
    isFleetRunning: () => isFleetPolling(connection.workflowService, fleet),
  });
  return { keys, ledger, connection, workflows };
}

/** Closes a part of the worker, whether or not its start succeeded. */
async function close(part: { close(): unknown }): Promise<void> {
  await part.close();
}

async function connectTo({ temporal, payloadsAreEncrypted }: Config): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect({
      ...temporal.connectionOptions,
      // Payloads are compressed before encryption, and do not get shorter.
      ...(payloadsAreEncrypted ? { grpcCompression: { codec: 'none' } } : {}),
    });
  } catch {
    // The cause may hold metadata, and so an API key. It says nothing of TLS either.
    throw await diagnoseUnreachable(temporal.connectionOptions, WHY_UNREACHABLE_MS);
  }
}

/** Follows the key ring's file, so that keys are rotated under a running worker. */
async function watchKeyRing(config: Config, logger: WorkerLogger): Promise<WatchedKeyRing> {
  await makeMissingKeyRing(config);
  return WatchedKeyRing.open(config.keyRingFile, {
    onReloadFailed: (error) =>
      logger.error({ error }, 'the key ring cannot be read again: the worker keeps the previous keys'),
  });
}

function warnOfMissing(registered: readonly string[], logger: WorkerLogger): void {
  const missing = listMissingSearchAttributes(registered);
  if (missing.length === 0) return;
  logger.warn({ missing: missing.join(', ') }, 'search attributes are not registered: `credit-journey setup`');
}

/** Warns of a payload that waits for a missing key. Once a minute for each key, since every retry calls it. */
function createUnknownKeyAlert(logger: WorkerLogger, { metrics }: WorkerTelemetry): (keyId: string) => void {
  const saidAtMs = new Map<string, number>();
  return (keyId) => {
    metrics.put('unknownKey', 1, {});
    if (performance.now() - (saidAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    saidAtMs.set(keyId, performance.now());
    logger.error({ keyId }, 'payloads wait for a key that the key ring lacks: add it, or `credit-journey keys refuse`');
  };
}

async function openWorkerLedger({ environment, ledger }: Config, keyRing: KeyWrapper): Promise<Ledger> {
  return openLedger({
    ...ledger,
    environment,
    keyRing,
    // Outside the sandbox only `setup` makes a ledger: a ledger that a worker made would not know which inquiries were
    // sent. Only `setup` changes tables, also in the sandbox: workers of another version may be using them.
    create: environment === 'sandbox',
  });
}

interface WorkerFoundations {
  connection: NativeConnection;
  workflows: Partial<WorkerOptions>;
  telemetry: WorkerTelemetry;
  webhooks: WebhookSender;
}

async function createWorkers(
  config: Config,
  { connection, workflows, telemetry, webhooks }: WorkerFoundations,
  dependencies: ActivityDependencies,
  dataConverter: DataConverter,
): Promise<Worker[]> {
  const { worker: settings, temporal, taskQueue } = config;
  const interceptors = { activity: [...telemetry.activityInterceptors, inquiryLogContext] };
  const profiles = [...config.profiles.values()];
  const common: WorkerOptions = {
    connection,
    namespace: temporal.namespace,
    taskQueue,
    shutdownGraceTime: settings.shutdownGraceMs,
    interceptors,
    ...(settings.deployment && { workerDeploymentOptions: toVersionOptions(settings.deployment) }),
    dataConverter,
  };
  const workflowQueue = await Worker.create({
    ...common,
    ...workflows,
    interceptors: { ...interceptors, ...workflows.interceptors },
    ...omitUndefined({ maxCachedWorkflows: settings.maxCachedWorkflows }),
    activities: { ...createRunActivities(dependencies), ...createGatewayActivities(dependencies) },
    maxConcurrentWorkflowTaskExecutions: settings.maxConcurrentWorkflowTasks,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    maxConcurrentActivityTaskExecutions: settings.maxConcurrentActivities,
  });
  const gatewayQueues = profiles.map((profile) =>
    Worker.create({
      ...common,
      taskQueue: toGatewayQueue(taskQueue, profile.name),
      activities: { ...createGatewayActivities(dependencies) },
      maxConcurrentActivityTaskExecutions: countInquirySlots(config, profile),
      ...omitUndefined({ maxTaskQueueActivitiesPerSecond: settings.maxInquiriesPerSecond }),
    }),
  );
  const hasEndpoints = profiles.some((profile) => profile.webhooks?.length);
  const webhookQueues = [toWebhookQueue(taskQueue)].slice(hasEndpoints ? 0 : 1).map((queue) =>
    Worker.create({
      ...common,
      taskQueue: queue,
      activities: { ...createWebhookActivities(dependencies, webhooks) },
      maxConcurrentActivityTaskExecutions: WEBHOOK_SLOTS,
    }),
  );
  return [workflowQueue, ...(await Promise.all([...gatewayQueues, ...webhookQueues]))];
}

/** All queues alike, so that an activity runs on the version that scheduled it. docs/versioning.md */
function toVersionOptions(version: DeploymentVersion): NonNullable<WorkerOptions['workerDeploymentOptions']> {
  // Journeys last for weeks and continue across deploys; pinned workflows say so in their definition.
  return { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}

/** Stops all queues if one fails, since half a worker would look healthy. */
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
