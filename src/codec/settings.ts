/** From environment variables to the codec server's options; docs/codec-server.md has the table. */
import { defined } from '../base/defined.ts';
import type { ListenAddress } from '../config/config-shape.ts';
import { EnvironmentReader } from '../config/environment-reader.ts';
import { SANDBOX_KEY_RING_FILE } from '../config/ledger-settings.ts';
import { type LogLevel, readLogLevel } from '../config/log-level.ts';
import { checkProcess } from '../config/process-rules.ts';
import { readListenAddress } from '../config/telemetry-settings.ts';
import { isLoopbackHost } from '../http/server.ts';
import { readLimits, readList, readListening, readNamespaces, readTokenSettings } from '../http/settings.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Authentication, CodecServerOptions } from './options.ts';
import { ROLES, type Role } from './roles.ts';

/** Beside the sandbox's 7280. */
export const DEFAULT_PORT = 7281;

/** Where `credit-journey dev` has its UI. */
const DEV_UI_ORIGINS = 'http://127.0.0.1:8233,http://localhost:8233';

/** All of the options that the environment says, and where the keys are. */
export interface CodecServerSettings {
  options: Omit<CodecServerOptions, 'keys'>;
  keyRingFile: string;
  logLevel: LogLevel;
  /** Where Prometheus scrapes. */
  metricsAddress?: ListenAddress;
}

/**
 * @param overrides what a command line says, above the variables
 * @throws ConfigError with every problem at once
 */
export function loadCodecServerSettings(
  env: NodeJS.ProcessEnv,
  overrides: { host?: string; port?: string } = {},
): CodecServerSettings {
  const reader = new EnvironmentReader({
    ...env,
    ...defined({ CODEC_SERVER_HOST: overrides.host, CODEC_SERVER_PORT: overrides.port }),
  });
  const environment = reader.oneOf('GATEWAY_ENVIRONMENT', ENVIRONMENTS, 'sandbox');
  checkProcess(reader, environment);
  const listening = readListening(reader, environment, { prefix: 'CODEC', hostVariable: 'CODEC_SERVER_HOST' });
  const [first = 'default', ...others] = readNamespaces(
    reader,
    'CODEC_NAMESPACES',
    env.TEMPORAL_NAMESPACE || 'default',
  );
  const auditFile = reader.optional('CODEC_AUDIT_FILE');
  const settings: CodecServerSettings = {
    options: {
      environment,
      authentication: readAuthentication(reader, environment, listening.host),
      namespaces: [first, ...others],
      originNamespaces: readNamespaces(reader, 'CODEC_ORIGIN_NAMESPACES', ''),
      uiOrigins: readOrigins(reader, environment),
      ...(auditFile === undefined ? {} : { audit: { file: auditFile } }),
      ...listening,
      port: reader.integer('CODEC_SERVER_PORT', { default: DEFAULT_PORT, min: 0, max: 65_535 }),
      limits: readLimits(reader, 'CODEC', DEFAULT_LIMITS),
    },
    keyRingFile: reader.text('KEY_RING_FILE', environment === 'sandbox' ? SANDBOX_KEY_RING_FILE : undefined),
    logLevel: readLogLevel(reader, environment),
    ...defined({ metricsAddress: readListenAddress(reader, 'METRICS_ADDRESS') }),
  };
  reader.throwIfWrong();
  return settings;
}

function readAuthentication(reader: EnvironmentReader, environment: Environment, host: string): Authentication {
  const url = reader.optional('CODEC_JWKS_URL');
  const file = reader.optional('CODEC_JWKS_FILE');
  if (url === undefined && file === undefined) {
    if (environment === 'production') {
      reader.report(
        'CODEC_JWKS_URL',
        'is required in production, or CODEC_JWKS_FILE: an unguessable path is for one machine alone',
      );
    }
    if (!isLoopbackHost(host)) {
      reader.report('CODEC_SERVER_HOST', 'must be 127.0.0.1, ::1 or localhost where no key set for tokens is given');
    }
    return { kind: 'path', ...readPathRoles(reader) };
  }
  return {
    kind: 'jwt',
    ...readTokenSettings(reader, environment, 'CODEC'),
    permissionsClaim: reader.text('CODEC_JWT_PERMISSIONS_CLAIM', 'permissions'),
  };
}

function readPathRoles(reader: EnvironmentReader): { roles?: readonly Role[] } {
  if (reader.optional('CODEC_PATH_ROLES') === undefined) return {};
  const isRole = (word: string): word is Role => ROLES.some((role) => role === word);
  const words = readList(reader, 'CODEC_PATH_ROLES', '', (word) =>
    isRole(word) ? null : `must be among ${ROLES.join(', ')}, with commas between`,
  );
  return { roles: words.filter(isRole) };
}

function readOrigins(reader: EnvironmentReader, environment: Environment): string[] {
  const variable = 'CODEC_SERVER_UI_ORIGINS';
  return readList(reader, variable, environment === 'sandbox' ? DEV_UI_ORIGINS : '', (origin) => {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin || origin === 'null') {
      return 'must be origins such as https://temporal.example.com, with commas between';
    }
    const { protocol, hostname } = new URL(origin);
    const isPlain = protocol !== 'https:' && environment !== 'sandbox';
    return isPlain && (environment === 'production' || !isLoopbackHost(hostname))
      ? 'must be https outside the sandbox'
      : null;
  });
}
