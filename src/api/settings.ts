/** From environment variables to the API's options; docs/configuration.md has the table. */
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { addressProblem } from '../config/addresses.ts';
import { loadClientSettings } from '../config/client-config.ts';
import { readPortfolioDirectory } from '../config/config.ts';
import type { LedgerAccess, ListenAddress } from '../config/config-shape.ts';
import { EnvironmentReader } from '../config/environment-reader.ts';
import { readLedgerAccess } from '../config/ledger-settings.ts';
import { type LogLevel, readLogLevel } from '../config/log-level.ts';
import { checkProcess } from '../config/process-rules.ts';
import { apiDecisionKey, type DecisionKey } from '../config/proof-keys.ts';
import { readListenAddress } from '../config/telemetry-settings.ts';
import { isLoopbackHost } from '../http/server.ts';
import { readLimits, readListening, readTokenSettings } from '../http/settings.ts';
import { ConfigError } from '../model/problems.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { ApiOptions } from './options.ts';

/** Beside the codec server's 7281. */
export const DEFAULT_PORT = 7282;

/** A claim's name. */
const CLAIM = /^[\w:./-]{1,100}$/;

export interface ApiSettings {
  options: Omit<ApiOptions, 'journeys' | 'signer'>;
  /** The private key that decisions are signed with. */
  decisionKey?: DecisionKey;
  ledgerAccess: LedgerAccess;
  logLevel: LogLevel;
  /** Where Prometheus scrapes. */
  metricsAddress?: ListenAddress;
}

/**
 * @param overrides what a command line says, above the variables
 * @throws ConfigError with every problem at once
 */
export function loadApiSettings(env: NodeJS.ProcessEnv, overrides: { host?: string; port?: string } = {}): ApiSettings {
  const reader = new EnvironmentReader({ ...env, ...defined({ API_HOST: overrides.host, API_PORT: overrides.port }) });
  const environment = reader.oneOf('GATEWAY_ENVIRONMENT', ENVIRONMENTS, 'sandbox');
  checkProcess(reader, environment);
  const listening = readListening(reader, environment, { prefix: 'API', hostVariable: 'API_HOST' });
  if (reader.optional('API_JWKS_URL') === undefined && reader.optional('API_JWKS_FILE') === undefined) {
    reader.report('API_JWKS_URL', 'is required, or API_JWKS_FILE: the API takes tokens alone');
  }
  if (reader.optional('CODEC_SERVER_URL') !== undefined) {
    reader.report('CODEC_SERVER_URL', 'must not be given to the API: it holds keys of its own');
  }
  const auditFile = reader.optional('API_AUDIT_FILE');
  const signIn = readSignIn(reader, environment, listening);
  const settings: ApiSettings = {
    options: {
      environment,
      tokens: readTokenSettings(reader, environment, 'API'),
      byClaim: reader.text('API_BY_CLAIM', 'sub', (name) => (CLAIM.test(name) ? null : 'must be the name of a claim')),
      maxApplicants: maxApplicantsIn(reader),
      ...(auditFile === undefined ? {} : { audit: { file: auditFile } }),
      ...listening,
      ...signIn,
      port: reader.integer('API_PORT', { default: DEFAULT_PORT, min: 0, max: 65_535 }),
      limits: readLimits(reader, 'API', DEFAULT_LIMITS),
      ...defined({
        portfolioDirectory: readPortfolioDirectory(reader),
        temporalUi: linkedAddress(reader, 'API_TEMPORAL_UI', environment),
        runbookUrl: linkedAddress(reader, 'RUNBOOK_URL', 'sandbox'),
        profiles: readProfileNames(reader, environment),
      }),
    },
    ...defined({ decisionKey: apiDecisionKey(env) }),
    ledgerAccess: readLedgerAccess(reader, environment, { needsId: true }),
    logLevel: readLogLevel(reader, environment),
    ...defined({ metricsAddress: readListenAddress(reader, 'METRICS_ADDRESS') }),
  };
  reader.throwIfWrong();
  return settings;
}

/** Words of the protocol have a meaning of their own. */
const TOKEN_HEADER =
  /^(?!(?:authorization|cookie|host|origin|forwarded|sec-|x-forwarded-(?:for|host|proto)$))[a-z][a-z\d-]{0,63}$/i;

/** Two slashes would begin another host's address. */
const OWN_PATH = /^\/(?![/\\])[\w./?=&%~:{}-]{1,500}$/;

function ownPath(reader: EnvironmentReader, name: 'API_SIGN_IN_PATH' | 'API_SIGN_OUT_PATH'): string | undefined {
  const path = reader.optional(name);
  if (path !== undefined && !OWN_PATH.test(path)) {
    reader.report(name, 'must be a path of the page’s own host, such as /oauth2/start');
  }
  return path;
}

/** How people sign in to the page: by a proxy that knows them, or on this machine with a token. */
function readSignIn(
  reader: EnvironmentReader,
  environment: Environment,
  { host, trustedProxies }: { host: string; trustedProxies: readonly string[] },
): Pick<ApiOptions, 'tokenHeader' | 'signIn' | 'signInPath' | 'signOutPath'> {
  const header = reader.optional('API_TOKEN_HEADER');
  if (header !== undefined && !TOKEN_HEADER.test(header)) {
    reader.report('API_TOKEN_HEADER', 'must be the name of a header that means nothing else');
  }
  if (header !== undefined && trustedProxies.length === 0) {
    reader.report('API_TRUSTED_PROXIES', 'is required beside API_TOKEN_HEADER: only a proxy may say who somebody is');
  }
  const isByToken = reader.oneOf('API_SIGN_IN', ['proxy', 'token'] as const, 'proxy') === 'token';
  if (isByToken && environment === 'production') {
    reader.report('API_SIGN_IN', 'must not be token in production: a proxy signs people in');
  }
  if (isByToken && !isLoopbackHost(host)) {
    reader.report('API_HOST', 'must be 127.0.0.1, ::1 or localhost where API_SIGN_IN is token');
  }
  return defined({
    tokenHeader: header?.toLowerCase(),
    signIn: isByToken ? ('token' as const) : undefined,
    signInPath: ownPath(reader, 'API_SIGN_IN_PATH'),
    signOutPath: ownPath(reader, 'API_SIGN_OUT_PATH'),
  });
}

/** The beginning of the page's links to another server. */
function linkedAddress(
  reader: EnvironmentReader,
  name: 'API_TEMPORAL_UI' | 'RUNBOOK_URL',
  environment: Environment,
): string | undefined {
  const address = reader.optional(name);
  const rule = address === undefined ? null : addressProblem(address, environment);
  if (rule) reader.report(name, rule);
  return address?.replace(/\/+$/, '');
}

const PROFILE_NAMES = z.looseObject({
  profiles: z.record(z.string(), z.looseObject({ environment: z.string().exactOptional() })),
});

/** Names the environment's profiles. The workers check the rest of the file, whose secrets the API need not have. */
function readProfileNames(reader: EnvironmentReader, environment: Environment): string[] | undefined {
  const variable = 'GATEWAY_PROFILES_FILE';
  const path = reader.optional(variable);
  const content = path === undefined ? undefined : reader.file(variable, path);
  if (content === undefined) return undefined;
  try {
    const profiles = Object.entries(PROFILE_NAMES.parse(JSON.parse(content)).profiles);
    const own = profiles.flatMap(([name, profile]) => (profile.environment === environment ? [name] : []));
    return ['default', ...own];
  } catch {
    // The parser's own message quotes the file.
    reader.report(variable, 'must name a file that holds JSON with profiles');
    return undefined;
  }
}

/** What the connection to Temporal takes is wrong here as it is there: one error lists all. */
function maxApplicantsIn(reader: EnvironmentReader): number {
  try {
    return loadClientSettings(reader.env, { besideLedger: true }).maxApplicants;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isKnown = ({ variable }: { variable: string }) => reader.problems.some((one) => one.variable === variable);
    for (const problem of error.problems) if (!isKnown(problem)) reader.report(problem.variable, problem.rule);
    return 0;
  }
}
