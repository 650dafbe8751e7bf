/** From environment variables to the API's options; docs/configuration.md has the table. */
import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { checkProcess, readClientSettings } from '../config/client.ts';
import { type EnvironmentReader, readPart } from '../config/environment.ts';
import { type LedgerAccess, readLedgerAccess } from '../config/ledger.ts';
import type { ListenAddress, LogLevel } from '../config/variables.ts';
import { readService, readTokenSettings } from '../http/settings.ts';
import { listSignInProblems } from './caller.ts';
import { type ApiOptions, DEFAULT_LIMITS } from './services.ts';

export interface ApiSettings {
  options: Omit<ApiOptions, 'journeys' | 'signer'>;
  /** The private key that decisions are signed with. */
  decisionKeyFile?: string;
  ledgerAccess: LedgerAccess;
  logLevel: LogLevel;
  /** The address that Prometheus scrapes. */
  metricsAddress?: ListenAddress;
}

/**
 * @param overrides what a command line says, above the variables
 * @throws ConfigError with every problem at once
 */
export function loadApiSettings(env: NodeJS.ProcessEnv, overrides: { host?: string; port?: string } = {}): ApiSettings {
  return readPart({ ...env, ...omitUndefined({ API_HOST: overrides.host, API_PORT: overrides.port }) }, readSettings);
}

function readSettings(reader: EnvironmentReader): ApiSettings {
  checkProcess(reader);
  const { environment } = reader;
  const service = readService(reader, 'API', reader.get('API_HOST'), DEFAULT_LIMITS);
  if (reader.raw('API_JWKS_URL') === undefined && reader.raw('API_JWKS_FILE') === undefined) {
    reader.report('API_JWKS_URL', 'is required unless API_JWKS_FILE is given: every caller of the API needs a token');
  }
  if (reader.raw('CODEC_SERVER_URL') !== undefined) {
    reader.report('CODEC_SERVER_URL', 'must not be set for the API, which has its own keys');
  }
  // The settings of the connection to Temporal are checked here as well: one error lists all problems.
  readClientSettings(reader, { besideLedger: true });
  return {
    options: {
      environment,
      tokens: readTokenSettings(reader, 'API'),
      byClaim: reader.get('API_BY_CLAIM'),
      ...service,
      ...readSignIn(reader, service),
      port: reader.get('API_PORT'),
      portfolioDirectory: reader.get('PORTFOLIO_DIR'),
      temporalUi: reader.get('API_TEMPORAL_UI'),
      runbookUrl: reader.get('RUNBOOK_URL'),
      profiles: readProfileNames(reader),
    },
    ledgerAccess: readLedgerAccess(reader),
    logLevel: reader.get('LOG_LEVEL'),
    decisionKeyFile: reader.get('API_DECISION_KEY_FILE'),
    metricsAddress: reader.get('METRICS_ADDRESS'),
  };
}

/** How people sign in to the page: by a proxy that knows them, or on this machine with a token. */
function readSignIn(
  reader: EnvironmentReader,
  { host, trustedProxies }: { host: string; trustedProxies: readonly string[] },
): Pick<ApiOptions, 'tokenHeader' | 'signIn' | 'signInPath' | 'signOutPath'> {
  const tokenHeader = reader.get('API_TOKEN_HEADER')?.toLowerCase();
  const signIn = reader.get('API_SIGN_IN') === 'token' ? ('token' as const) : undefined;
  for (const { variable, rule } of listSignInProblems({ host, tokenHeader, trustedProxies, signIn })) {
    reader.report(variable, rule);
  }
  return {
    tokenHeader,
    signIn,
    signInPath: reader.get('API_SIGN_IN_PATH'),
    signOutPath: reader.get('API_SIGN_OUT_PATH'),
  };
}

const PROFILE_NAMES = z.looseObject({
  profiles: z.record(z.string(), z.looseObject({ environment: z.string().optional() })),
});

/** Names the environment's profiles. The workers check the rest of the file, whose secrets the API need not have. */
function readProfileNames(reader: EnvironmentReader): string[] | undefined {
  const variable = 'GATEWAY_PROFILES_FILE';
  const path = reader.get(variable);
  const content = path === undefined ? undefined : reader.file(variable, path);
  if (content === undefined) return undefined;
  try {
    const profiles = Object.entries(PROFILE_NAMES.parse(JSON.parse(content)).profiles);
    const own = profiles.flatMap(([name, profile]) => (profile.environment === reader.environment ? [name] : []));
    return ['default', ...own];
  } catch {
    // The parser's own message quotes the file.
    reader.report(variable, 'must name a file that holds JSON with profiles');
    return undefined;
  }
}
