/**
 * From environment variables to a validated configuration: the only reader of the environment. Each loader lists
 * every problem at once, by variable name and never by value (docs/configuration.md has the table).
 */

import { readDefaultProfile } from './config/default-profile.ts';
import { ConfigError, EnvironmentReader } from './config/environment-reader.ts';
import { readLedgerAccess, SANDBOX_KEY_RING_FILE } from './config/ledger-settings.ts';
import { GATEWAY_LIMITS } from './config/limits.ts';
import { readProfiles } from './config/profiles-file.ts';
import { readProtocol } from './config/protocol.ts';
import { readWorkerSettings } from './config/worker-settings.ts';
import type { ClientSettings, Config, LedgerAccess } from './config-shape.ts';
import { ENVIRONMENTS, type Environment } from './model/products.ts';
import { type TemporalOptions, temporalOptions } from './temporal-connection.ts';

export { ConfigError, type ConfigProblem } from './config/environment-reader.ts';

/**
 * All of it, as a worker needs it.
 *
 * @throws ConfigError
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const reader = new EnvironmentReader(env);
  const environment = readEnvironment(reader);
  checkProcess(reader, environment);
  const temporal = readTemporal(reader);
  const profiles = readProfiles(reader, readDefaultProfile(reader, environment));
  const protocol = readProtocol(reader, profiles.values());
  const config: Config = {
    ...readLedgerAccess(reader, environment, { needsId: true }),
    temporal,
    payloadsAreEncrypted: readEncryption(reader, environment),
    taskQueue: readTaskQueue(reader, environment),
    profiles,
    protocol,
    worker: readWorkerSettings(reader, profiles.values(), protocol),
  };
  reader.throwIfWrong();
  return config;
}

/**
 * What a program needs that only talks to Temporal: no secret of the gateway and no ledger.
 *
 * @throws ConfigError
 */
export function loadClientSettings(env: NodeJS.ProcessEnv): ClientSettings {
  const reader = new EnvironmentReader(env);
  const environment = readEnvironment(reader);
  const settings: ClientSettings = {
    environment,
    payloadsAreEncrypted: readEncryption(reader, environment),
    keyRingFile: reader.optional('KEY_RING_FILE') ?? (environment === 'sandbox' ? SANDBOX_KEY_RING_FILE : undefined),
    temporal: readTemporal(reader),
    taskQueue: readTaskQueue(reader, environment),
    maxApplicants: reader.integer(GATEWAY_LIMITS.maxApplicants.variable, GATEWAY_LIMITS.maxApplicants),
  };
  reader.throwIfWrong();
  return settings;
}

/**
 * What it takes to open the ledger. `setup`, which makes it, needs no `LEDGER_ID` yet.
 *
 * @throws ConfigError
 */
export function loadLedgerAccess(env: NodeJS.ProcessEnv, options = { needsId: true }): LedgerAccess {
  const reader = new EnvironmentReader(env);
  const access = readLedgerAccess(reader, readEnvironment(reader), options);
  reader.throwIfWrong();
  return access;
}

function readEnvironment(reader: EnvironmentReader): Environment {
  return reader.oneOf('GATEWAY_ENVIRONMENT', ENVIRONMENTS, 'sandbox');
}

/** In the clear is for the sandbox alone, such as to try a caller in a language that has no codec yet. */
function readEncryption(reader: EnvironmentReader, environment: Environment): boolean {
  const isOn = reader.oneOf('PAYLOAD_ENCRYPTION', ['on', 'off'], 'on') === 'on';
  if (!isOn && environment !== 'sandbox') reader.report('PAYLOAD_ENCRYPTION', 'may be off in the sandbox alone');
  return isOn;
}

/** The default carries the environment, so that workers of two never take each other's work (docs/protection.md). */
function readTaskQueue(reader: EnvironmentReader, environment: Environment): string {
  return reader.text('TASK_QUEUE', `credit-journeys-${environment}`, (name) =>
    /^[A-Za-z0-9._/-]{1,200}$/.test(name)
      ? null
      : 'must be 1 to 200 letters, digits, dots, dashes, underscores or slashes',
  );
}

function readTemporal(reader: EnvironmentReader): TemporalOptions {
  try {
    return temporalOptions(reader.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { variable, rule } of error.problems) reader.report(variable, rule);
    return { address: '', namespace: '', connectionOptions: { address: '' } };
  }
}

/** What would undo the other rules without appearing among them. */
function checkProcess(reader: EnvironmentReader, environment: Environment): void {
  if (environment !== 'sandbox' && reader.optional('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    reader.report('NODE_TLS_REJECT_UNAUTHORIZED', 'must not be 0 outside the sandbox: it accepts any certificate');
  }
  if (environment !== 'production') return;
  for (const variable of ['TEMPORAL_API_KEY', 'TEMPORAL_TLS_CLIENT_KEY_DATA']) {
    if (reader.optional(variable) === undefined) continue;
    reader.report(variable, 'must come from a file in production: see TEMPORAL_CONFIG_FILE');
  }
}
