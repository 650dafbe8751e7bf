/**
 * The configuration of a worker, and the parts of it that other programs read. Each loader lists every problem at once,
 * by variable name and never by value (docs/configuration.md has the tables).
 */

import type { GatewayProfile } from '../gateway/profile.ts';
import type { ProtocolSettings } from '../model/inquiry.ts';
import { ConfigError } from '../model/problems.ts';
import { readKeySet } from '../protection/proofs.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import { checkProcess, readCodecServer, readTemporal } from './client.ts';
import { EnvironmentReader, readPart } from './environment.ts';
import { readProfiles } from './gateway-profiles.ts';
import { readLedgerAccess } from './ledger.ts';

/** The configuration of a worker. Optional members are absent where their variable is not set. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Loads the whole configuration of a worker.
 *
 * @throws ConfigError
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  return readPart(env, readConfig);
}

/**
 * Loads the configuration with its problems, for `doctor`. A wrong variable is replaced by a default or an empty text,
 * which must not be used.
 */
export function inspectConfig(env: NodeJS.ProcessEnv) {
  const reader = new EnvironmentReader(env);
  return { config: readConfig(reader), problems: reader.problems };
}

/** Reads the codec server of a client in this environment, with the rules that it breaks, for `doctor`. */
export function inspectCodecServer(env: NodeJS.ProcessEnv) {
  const reader = new EnvironmentReader(env);
  const access = readCodecServer(reader);
  return access && { access, problems: reader.problems };
}

function readConfig(reader: EnvironmentReader) {
  checkProcess(reader);
  const profiles = readProfiles(reader);
  const protocol = readProtocol(reader, [...profiles.values()]);
  return {
    ...readLedgerAccess(reader),
    temporal: readTemporal(reader),
    /** Only the sandbox may run without encryption. */
    payloadsAreEncrypted: reader.get('PAYLOAD_ENCRYPTION') === 'on',
    taskQueue: reader.get('TASK_QUEUE'),
    /** By name; always contains `default`. */
    profiles: profiles as Profiles,
    protocol,
    /** For the delivery of events; the endpoints belong to their profiles. */
    webhooks: {
      giveUpAfterMs: reader.get('WEBHOOK_GIVE_UP_AFTER'),
      // Equals the wait of a gate, so that an operator who looks once a month still finds it.
      keepFailedForMs: 30 * 86_400_000,
    },
    worker: readWorkerSettings(reader, [...profiles.values()], protocol),
    logLevel: reader.get('LOG_LEVEL'),
    telemetry: readTelemetry(reader),
    // Without a key set no proof is accepted.
    consentKeysFile: readProofKeys(reader, profiles, 'CONSENT'),
    decisionKeysFile: readProofKeys(reader, profiles, 'DECISION'),
    portfolioDirectory: reader.get('PORTFOLIO_DIR'),
    runbookUrl: reader.get('RUNBOOK_URL'),
  };
}

/** Time to record the answer in a slow ledger, and to report it to Temporal. */
const RECORDING_MS = 20_000;

function readProtocol(reader: EnvironmentReader, profiles: readonly GatewayProfile[]): ProtocolSettings {
  const sendByMs = reader.get('SEND_BY_MS');
  const most = (ms: (limits: GatewayProfile['limits']) => number) =>
    Math.max(...profiles.map(({ limits }) => ms(limits)));
  const attemptMs = sendByMs + most((limits) => limits.headersTimeoutMs + limits.bodyTimeoutMs);
  const tokenMs = most((limits) => limits.connectTimeoutMs + limits.headersTimeoutMs + limits.bodyTimeoutMs);
  // The activity gets a token, claims, sends and records. The time-out is above the sum of these: an interrupted attempt
  // has an unknown outcome, which an operator must decide about.
  const submitTimeoutMs = reader.get('SUBMIT_TIMEOUT_MS') ?? tokenMs + attemptMs + RECORDING_MS;
  if (submitTimeoutMs <= attemptMs) {
    const parts = 'SEND_BY_MS, GATEWAY_HEADERS_TIMEOUT_MS and GATEWAY_BODY_TIMEOUT_MS';
    reader.report('SUBMIT_TIMEOUT_MS', `must be longer than ${parts} together, in every profile`);
  }
  const [backoffInitialMs, backoffMaxMs] = [reader.get('BACKOFF_INITIAL_MS'), reader.get('BACKOFF_MAX_MS')];
  if (backoffMaxMs < backoffInitialMs) reader.report('BACKOFF_MAX_MS', 'must be at least BACKOFF_INITIAL_MS');
  return {
    giveUpAfterMs: reader.get('GIVE_UP_AFTER'),
    backoffInitialMs,
    backoffMaxMs,
    retryAfterMaxMs: reader.get('RETRY_AFTER_MAX_MS'),
    sendByMs,
    resendAfterMs: reader.get('RESEND_AFTER'),
    submitTimeoutMs,
    heartbeatTimeoutMs: reader.get('HEARTBEAT_TIMEOUT_MS'),
    handOverAfterEvents: reader.get('HAND_OVER_AFTER_EVENTS'),
  };
}

/** Added to the activity's own time-out: time to record the answer and to report it to Temporal. */
const SHUTDOWN_MARGIN_MS = 5_000;

function readWorkerSettings(
  reader: EnvironmentReader,
  profiles: readonly GatewayProfile[],
  protocol: ProtocolSettings,
) {
  return {
    // A workflow task takes a few milliseconds of CPU. More tasks at once only wait for each other on a core.
    maxConcurrentWorkflowTasks: 40,
    // Ledger and token activities: mostly waiting, each holding at most one database connection.
    maxConcurrentActivities: 50,
    // A slot above the connections would claim an attempt and then queue for a connection, past its `sendBy`.
    maxConcurrentInquiries: Math.min(...profiles.map(({ limits }) => limits.connections)),
    ledgerWatchMs: reader.get('LEDGER_WATCH_EVERY_MS'),
    // SIGTERM never interrupts an attempt in flight. A limit and not a wait: an idle worker stops at once.
    shutdownGraceMs: protocol.submitTimeoutMs + SHUTDOWN_MARGIN_MS,
    // Absent: as the SDK derives it from the heap. Too few double the CPU by replays.
    maxCachedWorkflows: reader.get('WORKER_MAX_CACHED_WORKFLOWS'),
    // Counts across all workers of a gateway queue: the server enforces it.
    maxInquiriesPerSecond: reader.get('GATEWAY_MAX_INQUIRIES_PER_SECOND'),
    workflowBundlePath: reader.get('WORKFLOW_BUNDLE_FILE'),
    deployment: readDeployment(reader),
  };
}

/**
 * Returns a worker's version. `undefined` if no name is set, even if the image has a build id. Temporal's Worker
 * Controller gives its workers both names in variables of its own, which take precedence over ours: the controller
 * would wait in vain for a worker that polled under other names.
 */
function readDeployment(reader: EnvironmentReader): DeploymentVersion | undefined {
  const isControlled = reader.raw('TEMPORAL_DEPLOYMENT_NAME') !== undefined;
  const name = isControlled ? 'TEMPORAL_DEPLOYMENT_NAME' : 'DEPLOYMENT_NAME';
  const build = isControlled ? 'TEMPORAL_WORKER_BUILD_ID' : 'BUILD_ID';
  const [deploymentName, buildId] = [reader.get(name), reader.get(build)];
  if (deploymentName === undefined) return undefined;
  if (buildId === undefined) reader.report(build, `is required with ${name}`);
  return { deploymentName, buildId: buildId ?? '' };
}

export function readTelemetry(reader: EnvironmentReader) {
  const metricsAddress = reader.get('METRICS_ADDRESS');
  const healthAddress = reader.get('HEALTH_ADDRESS');
  if (metricsAddress && healthAddress && metricsAddress.port === healthAddress.port) {
    reader.report('HEALTH_ADDRESS', 'must use a different port from METRICS_ADDRESS');
  }
  return {
    metricsRefreshMs: reader.get('METRICS_REFRESH_SECONDS') * 1_000,
    metricsAddress,
    healthAddress,
    traceEndpoint: readTraceEndpoint(reader),
  };
}

function readTraceEndpoint(reader: EnvironmentReader): string | undefined {
  for (const secret of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']) {
    if (reader.environment !== 'production' || reader.raw(secret) === undefined) continue;
    reader.report(secret, 'must not be set in production: a collector on this machine holds the credentials');
  }
  return reader.get('OTEL_EXPORTER_OTLP_ENDPOINT');
}

type Profiles = ReadonlyMap<string, GatewayProfile>;

/** Two sets of keys: a consent system must not be able to sign a decision. */
const PROVED = { CONSENT: 'counts a grant', DECISION: 'accepts a decision' } as const;

/** Returns the checked path of a key set; absent if none is set and no profile needs one. */
function readProofKeys(reader: EnvironmentReader, profiles: Profiles, kind: keyof typeof PROVED): string | undefined {
  const variable = `${kind}_JWKS_FILE` as const;
  const path = reader.get(variable);
  if (path === undefined) {
    const trust = kind === 'CONSENT' ? 'consentTrust' : 'decisionTrust';
    const trusting = [...profiles.values()].find((profile) => profile[trust] === 'proof');
    const rule = `is required: profile ${trusting?.name} ${PROVED[kind]} only with a proof (${kind}_TRUST)`;
    if (trusting) reader.report(variable, rule);
    return undefined;
  }
  try {
    readKeySet(path);
  } catch {
    reader.report(variable, 'must name a file with only public keys, {"keys": [...]}');
  }
  return path;
}

/**
 * Loads the trust in decisions, by the profile's name, for a program that writes decisions beside the ledger. It may lack
 * settings that only workers need, such as the gateway's secrets.
 *
 * @throws ConfigError where a setting about decisions is wrong
 */
export function loadDecisionTrust(env: NodeJS.ProcessEnv) {
  const reader = new EnvironmentReader(env);
  const profiles = readProfiles(reader);
  const keysFile = readProofKeys(reader, profiles, 'DECISION');
  const problems = reader.problems.filter(({ variable }) => variable.startsWith('DECISION_'));
  if (problems.length > 0) throw new ConfigError(problems);
  const trust = new Map([...profiles.values()].map(({ name, decisionTrust }) => [name, decisionTrust]));
  return { trust, keysFile };
}

/**
 * Loads the endpoint for the command line's traces; `undefined` if it makes none.
 *
 * @throws ConfigError
 */
export function loadTraceEndpoint(env: NodeJS.ProcessEnv): string | undefined {
  return readPart(env, readTraceEndpoint);
}

/**
 * Loads the time zone in which days begin and end in audits: the default profile's, else UTC.
 *
 * @throws ConfigError
 */
export function loadTimeZone(env: NodeJS.ProcessEnv): string {
  return readPart(env, (reader) => (reader.raw('GATEWAY_TIME_ZONE') ? reader.get('GATEWAY_TIME_ZONE') : 'UTC'));
}
