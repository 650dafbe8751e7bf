/** From environment variables to the codec server's options; docs/codec-server.md has the table. */
import { defined } from '../base/defined.ts';
import { checkProcess } from '../config/client.ts';
import { type EnvironmentReader, readPart } from '../config/environment.ts';
import type { ListenAddress, LogLevel } from '../config/variables.ts';
import { isLoopbackHost } from '../http/server.ts';
import { readLimits, readListening, readTokenSettings } from '../http/settings.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Authentication, CodecServerOptions } from './options.ts';
import { ROLES, type Role } from './roles.ts';

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
  const given = defined({ CODEC_SERVER_HOST: overrides.host, CODEC_SERVER_PORT: overrides.port });
  return readPart({ ...env, ...given }, readSettings);
}

function readSettings(reader: EnvironmentReader): CodecServerSettings {
  checkProcess(reader);
  const { environment } = reader;
  const listening = readListening(reader, 'CODEC', reader.get('CODEC_SERVER_HOST'));
  const [first = reader.raw('TEMPORAL_NAMESPACE') ?? 'default', ...others] = reader.get('CODEC_NAMESPACES');
  const auditFile = reader.get('CODEC_AUDIT_FILE');
  return {
    options: {
      environment,
      authentication: readAuthentication(reader, listening.host),
      namespaces: [first, ...others],
      originNamespaces: reader.get('CODEC_ORIGIN_NAMESPACES'),
      uiOrigins: reader.get('CODEC_SERVER_UI_ORIGINS'),
      ...defined({ audit: auditFile === undefined ? undefined : { file: auditFile } }),
      ...listening,
      port: reader.get('CODEC_SERVER_PORT'),
      limits: readLimits(reader, 'CODEC', DEFAULT_LIMITS),
    },
    keyRingFile: reader.get('KEY_RING_FILE'),
    logLevel: reader.get('LOG_LEVEL'),
    ...defined({ metricsAddress: reader.get('METRICS_ADDRESS') }),
  };
}

function readAuthentication(reader: EnvironmentReader, host: string): Authentication {
  if (reader.raw('CODEC_JWKS_URL') === undefined && reader.raw('CODEC_JWKS_FILE') === undefined) {
    if (reader.environment === 'production') {
      const rule = 'is required in production, or CODEC_JWKS_FILE: an unguessable path is for one machine alone';
      reader.report('CODEC_JWKS_URL', rule);
    }
    if (!isLoopbackHost(host)) {
      reader.report('CODEC_SERVER_HOST', 'must be 127.0.0.1, ::1 or localhost where no key set for tokens is given');
    }
    return { kind: 'path', ...defined({ roles: readPathRoles(reader) }) };
  }
  const permissionsClaim = reader.get('CODEC_JWT_PERMISSIONS_CLAIM');
  return { kind: 'jwt', ...readTokenSettings(reader, 'CODEC'), permissionsClaim };
}

function readPathRoles(reader: EnvironmentReader): readonly Role[] | undefined {
  const words = reader.get('CODEC_PATH_ROLES');
  const roles = words?.filter((word): word is Role => ROLES.some((role) => role === word));
  if (roles?.length !== words?.length) {
    reader.report('CODEC_PATH_ROLES', `must be among ${ROLES.join(', ')}, with commas between`);
  }
  return roles;
}
