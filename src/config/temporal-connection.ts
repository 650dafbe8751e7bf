/**
 * The connection to Temporal, as `@temporalio/envconfig` reads it: profile file, environment, TLS, API key. The same
 * options serve the client's `Connection` and the worker's `NativeConnection`.
 */
import { readFileSync } from 'node:fs';
import type { TLSConfig } from '@temporalio/client';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';
import { errorCode } from './environment-reader.ts';

/** Not `localhost`, which may mean `::1`, where the development server does not listen. */
const DEFAULT_ADDRESS = '127.0.0.1:7233';

/** The options that both kinds of connection take. They contain secrets: never logged. */
interface TemporalConnectionOptions {
  address: string;
  apiKey?: string;
  tls?: TLSConfig | boolean;
  metadata?: Record<string, string>;
}

export interface TemporalOptions {
  /** As in `connectionOptions`; may be shown. */
  address: string;
  namespace: string;
  connectionOptions: TemporalConnectionOptions;
}

/**
 * Options from `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE` and the other variables of envconfig. Defaults:
 * `127.0.0.1:7233` and `default`. An empty variable counts as absent.
 *
 * @throws ConfigError that names the wrong variables
 */
export function temporalOptions(env: NodeJS.ProcessEnv): TemporalOptions {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value)) as Record<string, string>;
  const problems = unreadableFiles(present);
  if (problems.length > 0) throw new ConfigError(problems);
  const { connectionOptions, namespace } = loaded(present);
  const address = connectionOptions.address ?? DEFAULT_ADDRESS;
  return {
    address,
    namespace: namespace ?? 'default',
    connectionOptions: {
      address,
      ...(typeof connectionOptions.apiKey === 'string' ? { apiKey: connectionOptions.apiKey } : {}),
      ...(connectionOptions.tls ? { tls: connectionOptions.tls } : {}),
      ...(connectionOptions.metadata ? { metadata: connectionOptions.metadata as Record<string, string> } : {}),
    },
  };
}

function loaded(env: Record<string, string>): ReturnType<typeof toClientOptions> {
  let profile: ReturnType<typeof loadClientConfigProfile>;
  try {
    profile = loadClientConfigProfile({ overrideEnvVars: env });
  } catch {
    // The parser's own message quotes the file, which may contain an API key.
    const variable = env.TEMPORAL_PROFILE === undefined ? 'TEMPORAL_CONFIG_FILE' : 'TEMPORAL_PROFILE';
    const rule = 'must lead to a readable Temporal configuration file that holds the profile';
    throw new ConfigError([{ variable, rule }]);
  }
  try {
    return toClientOptions(profile);
  } catch (error) {
    const rule = `must lead to a profile whose TLS files can be read (${errorCode(error)})`;
    throw new ConfigError([{ variable: 'TEMPORAL_CONFIG_FILE', rule }]);
  }
}

/** Checked here, because envconfig would not name the variable, and would report only the first file. */
function unreadableFiles(env: Record<string, string>): ConfigProblem[] {
  const variables = [
    'TEMPORAL_CONFIG_FILE',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  ];
  return variables.flatMap((variable) => {
    const path = env[variable];
    if (path === undefined) return [];
    try {
      readFileSync(path);
      return [];
    } catch (error) {
      return [{ variable, rule: `must name a file that can be read (${errorCode(error)})` }];
    }
  });
}
