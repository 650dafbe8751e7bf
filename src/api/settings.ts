/** From environment variables to the API's options; docs/configuration.md has the table. */
import { defined } from '../base/defined.ts';
import { loadClientSettings } from '../config/client-config.ts';
import { readPortfolioDirectory } from '../config/config.ts';
import type { LedgerAccess } from '../config/config-shape.ts';
import { EnvironmentReader } from '../config/environment-reader.ts';
import { readLedgerAccess } from '../config/ledger-settings.ts';
import { type LogLevel, readLogLevel } from '../config/log-level.ts';
import { checkProcess } from '../config/process-rules.ts';
import { apiDecisionKey, type DecisionKey } from '../config/proof-keys.ts';
import { readLimits, readListening, readTokenSettings } from '../http/settings.ts';
import { ConfigError } from '../model/problems.ts';
import { ENVIRONMENTS } from '../model/products.ts';
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
  const settings: ApiSettings = {
    options: {
      environment,
      tokens: readTokenSettings(reader, environment, 'API'),
      byClaim: reader.text('API_BY_CLAIM', 'sub', (name) => (CLAIM.test(name) ? null : 'must be the name of a claim')),
      maxApplicants: maxApplicantsIn(reader),
      ...(auditFile === undefined ? {} : { audit: { file: auditFile } }),
      ...listening,
      port: reader.integer('API_PORT', { default: DEFAULT_PORT, min: 0, max: 65_535 }),
      limits: readLimits(reader, 'API', DEFAULT_LIMITS),
      ...defined({ portfolioDirectory: readPortfolioDirectory(reader) }),
    },
    ...defined({ decisionKey: apiDecisionKey(env) }),
    ledgerAccess: readLedgerAccess(reader, environment, { needsId: true }),
    logLevel: readLogLevel(reader, environment),
  };
  reader.throwIfWrong();
  return settings;
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
