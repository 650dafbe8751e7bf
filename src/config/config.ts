/**
 * Turns environment variables into a validated configuration: the only reader of the environment. Each loader lists
 * every problem at once, by variable name and never by value (docs/configuration.md has the table).
 */

import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { defined } from '../base/defined.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import { addressProblem } from './addresses.ts';
import { readEncryption, readEnvironment, readMaxApplicants, readTaskQueue, readTemporal } from './client-config.ts';
import { type ClientUse, readCodecServer } from './client-settings.ts';
import type { ClientSettings, CodecServerAccess, Config, LedgerAccess } from './config-shape.ts';
import { readDefaultProfile, rehearsalProblem, timeZoneProblem } from './default-profile.ts';
import { readDeploymentNames } from './deployment.ts';
import { EnvironmentReader } from './environment-reader.ts';
import { readLedgerAccess } from './ledger-settings.ts';
import { readLogLevel } from './log-level.ts';
import { checkProcess, checkTemporal } from './process-rules.ts';
import { readProfiles } from './profiles-file.ts';
import { readProofKeys } from './proof-keys.ts';
import { readProtocol } from './protocol.ts';
import { readTelemetry, readTraceEndpoint } from './telemetry-settings.ts';
import { readWebhookSettings } from './webhook-settings.ts';
import { readWorkerSettings } from './worker-settings.ts';

export { loadClientSettings, otherEnvironmentIn } from './client-config.ts';
export type { ClientUse } from './client-settings.ts';

/**
 * The whole configuration, for a worker.
 *
 * @throws ConfigError
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const reader = new EnvironmentReader(env);
  const config = readConfig(reader);
  reader.throwIfWrong();
  return config;
}

/**
 * The same together with its problems, for `doctor`. A wrong variable is replaced by a default or an empty text, which
 * must not be used.
 */
export function inspectConfig(env: NodeJS.ProcessEnv): { config: Config; problems: readonly ConfigProblem[] } {
  const reader = new EnvironmentReader(env);
  return { config: readConfig(reader), problems: reader.problems };
}

/** The codec server of a client in this environment, with the rules that it breaks, for `doctor`. */
export function inspectCodecServer(
  env: NodeJS.ProcessEnv,
): { access: CodecServerAccess; problems: readonly ConfigProblem[] } | undefined {
  const reader = new EnvironmentReader(env);
  const access = readCodecServer(reader, readEnvironment(reader));
  return access === undefined ? undefined : { access, problems: reader.problems };
}

function readConfig(reader: EnvironmentReader): Config {
  const environment = readEnvironment(reader);
  checkProcess(reader, environment);
  const temporal = readTemporal(reader);
  checkTemporal(reader, environment, temporal);
  const profiles = readProfiles(reader, readDefaultProfile(reader, environment));
  const protocol = readProtocol(reader, environment, profiles.values());
  const proofKeys = readProofKeys(reader, profiles.values());
  const portfolioDirectory = readPortfolioDirectory(reader);
  return {
    ...readLedgerAccess(reader, environment, { needsId: true }),
    temporal,
    payloadsAreEncrypted: readEncryption(reader, environment),
    taskQueue: readTaskQueue(reader, environment),
    profiles,
    protocol,
    webhooks: readWebhookSettings(reader),
    worker: readWorkerSettings(reader, profiles.values(), protocol),
    ...proofKeys,
    ...defined({ portfolioDirectory, runbookUrl: readRunbookUrl(reader) }),
    logLevel: readLogLevel(reader, environment),
    telemetry: readTelemetry(reader, environment),
  };
}

/** It stands in the details of each hold, whose text the Temporal UI makes an address of. */
const MAX_RUNBOOK_URL = 200;

function readRunbookUrl(reader: EnvironmentReader): string | undefined {
  const url = reader.optional('RUNBOOK_URL')?.replace(/\/+$/, '');
  if (url === undefined) return undefined;
  const isLong = url.length > MAX_RUNBOOK_URL;
  const rule = isLong ? `must have at most ${MAX_RUNBOOK_URL} characters` : addressProblem(url, 'sandbox');
  if (rule) reader.report('RUNBOOK_URL', rule);
  return url;
}

/** Whose decisions are trusted, profile by profile. */
interface DecisionTrust {
  /** By the profile's name. */
  trust: ReadonlyMap<string, GatewayProfile['decisionTrust']>;
  keysFile?: string;
}

/**
 * For a program beside the ledger that writes decisions there. It may lack what only workers need, such as the
 * gateway's secrets.
 *
 * @throws ConfigError where a setting about decisions is wrong
 */
export function loadDecisionTrust(env: NodeJS.ProcessEnv): DecisionTrust {
  const reader = new EnvironmentReader(env);
  const profiles = readProfiles(reader, readDefaultProfile(reader, readEnvironment(reader)));
  const { decisionKeysFile } = readProofKeys(reader, profiles.values());
  const problems = reader.problems.filter(({ variable }) => variable.startsWith('DECISION_'));
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    trust: trustByName(profiles),
    ...defined({ keysFile: decisionKeysFile }),
  };
}

/** For a client that warns before it sends. The workers' configuration decides, so problems here are not reported. */
export function knownDecisionTrust(env: NodeJS.ProcessEnv): DecisionTrust['trust'] {
  const reader = new EnvironmentReader(env);
  return trustByName(readProfiles(reader, readDefaultProfile(reader, readEnvironment(reader))));
}

function trustByName(profiles: ReadonlyMap<string, GatewayProfile>): DecisionTrust['trust'] {
  return new Map([...profiles.values()].map(({ name, decisionTrust }) => [name, decisionTrust]));
}

/**
 * The version of the workers that the environment names.
 *
 * @throws ConfigError
 */
export function loadDeploymentNames(env: NodeJS.ProcessEnv): Partial<DeploymentVersion> {
  const reader = new EnvironmentReader(env);
  const names = readDeploymentNames(reader);
  reader.throwIfWrong();
  return names;
}

/**
 * The endpoint for the command line's traces; `undefined` where it makes none.
 *
 * @throws ConfigError
 */
export function loadTraceEndpoint(env: NodeJS.ProcessEnv): string | undefined {
  const reader = new EnvironmentReader(env);
  const endpoint = readTraceEndpoint(reader, readEnvironment(reader));
  reader.throwIfWrong();
  return endpoint;
}

/**
 * The limits by which a message is checked before any call to a server.
 *
 * @throws ConfigError
 */
export function loadMessageLimits(env: NodeJS.ProcessEnv): Pick<ClientSettings, 'maxApplicants'> {
  const reader = new EnvironmentReader(env);
  const maxApplicants = readMaxApplicants(reader);
  reader.throwIfWrong();
  return { maxApplicants };
}

/**
 * The environment alone, for a program that needs nothing else of the configuration.
 *
 * @throws ConfigError
 */
export function loadEnvironment(env: NodeJS.ProcessEnv): Environment {
  const reader = new EnvironmentReader(env);
  const environment = readEnvironment(reader);
  reader.throwIfWrong();
  return environment;
}

/**
 * Whether the default profile is a rehearsal against a sandbox of the deployer's own.
 *
 * @throws ConfigError
 */
export function loadRehearsal(env: NodeJS.ProcessEnv): boolean {
  const reader = new EnvironmentReader(env);
  const isOn = reader.oneOf('GATEWAY_REHEARSAL', ['off', 'on'], 'off') === 'on';
  const rule = rehearsalProblem(isOn, readEnvironment(reader));
  if (rule) reader.report('GATEWAY_REHEARSAL', rule);
  reader.throwIfWrong();
  return isOn;
}

/**
 * The time zone in which days begin and end in audits: the default profile's, else UTC.
 *
 * @throws ConfigError
 */
export function loadTimeZone(env: NodeJS.ProcessEnv): string {
  const reader = new EnvironmentReader(env);
  const zone = reader.text('GATEWAY_TIME_ZONE', 'UTC', timeZoneProblem);
  reader.throwIfWrong();
  return zone;
}

/**
 * Access to the ledger for a client. In production only programs that run beside the ledger get it.
 *
 * @throws ConfigError
 */
export function loadClientLedgerAccess(env: NodeJS.ProcessEnv, use: ClientUse = {}): LedgerAccess {
  const reader = new EnvironmentReader(env);
  if (readEnvironment(reader) === 'production' && !use.besideLedger) {
    reader.report('LEDGER_URL', 'is not for a client in production: what opens the ledger runs beside it');
    reader.throwIfWrong();
  }
  return loadLedgerAccess(env);
}

/**
 * Access to the ledger. `setup`, which makes the ledger, needs no `LEDGER_ID` yet.
 *
 * @throws ConfigError
 */
export function loadLedgerAccess(env: NodeJS.ProcessEnv, options = { needsId: true }): LedgerAccess {
  const reader = new EnvironmentReader(env);
  const access = readLedgerAccess(reader, readEnvironment(reader), options);
  reader.throwIfWrong();
  return access;
}

/** The directory of portfolio files, an absolute path; `undefined` where this worker reads no portfolios. */
export function readPortfolioDirectory(reader: EnvironmentReader): string | undefined {
  const path = reader.optional('PORTFOLIO_DIR');
  if (path === undefined) return undefined;
  if (!isAbsolute(path) || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    reader.report('PORTFOLIO_DIR', 'must be the absolute path of a directory');
  }
  return path;
}
