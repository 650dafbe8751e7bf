/**
 * What a program that only talks to Temporal reads of the environment, and the parts of it that other programs read
 * too. Loads nothing of the gateway, the ledger or the workers: the client's package has this file, and not config.ts.
 */
import { defined } from '../base/defined.ts';
import { ConfigError } from '../model/problems.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';
import { type ClientUse, readCodecServer, readPayloadAccess, refuseKeys } from './client-settings.ts';
import type { ClientSettings } from './config-shape.ts';
import { EnvironmentReader } from './environment-reader.ts';
import { GATEWAY_LIMITS } from './limits.ts';
import { checkTemporal } from './process-rules.ts';
import { type TemporalOptions, temporalOptions } from './temporal-connection.ts';

/**
 * The settings of a program that only talks to Temporal: no secret of the gateway and no ledger.
 *
 * @throws ConfigError
 */
export function loadClientSettings(env: NodeJS.ProcessEnv, use: ClientUse = {}): ClientSettings {
  const reader = new EnvironmentReader(env);
  const environment = readEnvironment(reader);
  refuseKeys(reader, environment, use);
  const isEncrypted = readEncryption(reader, environment);
  const codecServer = readCodecServer(reader, environment);
  const temporal = readTemporal(reader);
  if (!use.ownConnection) checkTemporal(reader, environment, temporal);
  const settings: ClientSettings = {
    environment,
    payloads: readPayloadAccess(reader, { environment, isEncrypted, codecServer, use }),
    ...defined({ codecServer }),
    temporal,
    taskQueue: readTaskQueue(reader, environment),
    maxApplicants: readMaxApplicants(reader),
    traces: reader.optional('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined,
  };
  reader.throwIfWrong();
  return settings;
}

export function readMaxApplicants(reader: EnvironmentReader): number {
  return reader.integer(GATEWAY_LIMITS.maxApplicants.variable, GATEWAY_LIMITS.maxApplicants);
}

export function readEnvironment(reader: EnvironmentReader): Environment {
  return reader.oneOf('GATEWAY_ENVIRONMENT', ENVIRONMENTS, 'sandbox');
}

/** Only the sandbox may run in the clear, for example to try a caller in a language without a codec. */
export function readEncryption(reader: EnvironmentReader, environment: Environment): boolean {
  const isOn = reader.oneOf('PAYLOAD_ENCRYPTION', ['on', 'off'], 'on') === 'on';
  if (!isOn && environment !== 'sandbox') reader.report('PAYLOAD_ENCRYPTION', 'may be off in the sandbox alone');
  return isOn;
}

/**
 * The default contains the environment, so that workers of two environments never take each other's work
 * (docs/protection.md).
 */
export function readTaskQueue(reader: EnvironmentReader, environment: Environment): string {
  return reader.text('TASK_QUEUE', `credit-journeys-${environment}`, (name) => {
    if (!/^[A-Za-z0-9._/-]{1,200}$/.test(name)) {
      return 'must be 1 to 200 letters, digits, dots, dashes, underscores or slashes';
    }
    const other = otherEnvironmentIn(name, environment);
    return other ? `must not be called after the environment ${other}` : null;
  });
}

/** The environment in a task queue's name, where it is not this one. */
export function otherEnvironmentIn(taskQueue: string, environment: Environment): Environment | undefined {
  const words = taskQueue.split(/[._/-]/);
  return ENVIRONMENTS.find((one) => one !== environment && words.includes(one));
}

export function readTemporal(reader: EnvironmentReader): TemporalOptions {
  try {
    return temporalOptions(reader.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { variable, rule } of error.problems) reader.report(variable, rule);
    return { address: '', namespace: '', connectionOptions: { address: '' } };
  }
}
