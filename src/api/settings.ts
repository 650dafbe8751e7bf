/** From environment variables to the API's options; docs/configuration.md has the table. */
import { isRecord } from '../base/is-record.ts';
import { checkProcess, readClientSettings } from '../config/client.ts';
import { loadDecisionTrust } from '../config/config.ts';
import { type EnvironmentReader, readPart } from '../config/environment.ts';
import { parseProfilesFile } from '../config/gateway-profiles.ts';
import { readLedgerAccess } from '../config/ledger.ts';
import { readService, readTokenSettings } from '../http/settings.ts';
import { listSignInProblems } from '../operations/caller.ts';
import { type ApiOptions, DEFAULT_LIMITS } from '../operations/services.ts';

/** @throws ConfigError with every problem at once; those of the trust in decisions where there is no other */
export function loadApiSettings(env: NodeJS.ProcessEnv) {
  const settings = readPart(env, readSettings);
  // A decision about a lost run is judged here, perhaps long after the start.
  loadDecisionTrust(env);
  return settings;
}

function readSettings(reader: EnvironmentReader) {
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
  const tokenHeader = reader.get('API_TOKEN_HEADER')?.toLowerCase();
  const signIn = reader.get('API_SIGN_IN') === 'token' ? 'token' : undefined;
  for (const { variable, rule } of listSignInProblems({ ...service, tokenHeader, signIn })) {
    reader.report(variable, rule);
  }
  // The workers check the rest of the file, whose secrets the API need not have.
  const profiles = Object.entries(parseProfilesFile(reader)?.profiles ?? {});
  const own = profiles.filter(([, profile]) => isRecord(profile) && profile.environment === environment);
  const options: Omit<ApiOptions, 'journeys' | 'signer'> = {
    environment,
    tokens: readTokenSettings(reader, 'API'),
    byClaim: reader.get('API_BY_CLAIM'),
    ...service,
    tokenHeader,
    signIn,
    signInPath: reader.get('API_SIGN_IN_PATH'),
    signOutPath: reader.get('API_SIGN_OUT_PATH'),
    port: reader.get('API_PORT'),
    portfolioDirectory: reader.get('PORTFOLIO_DIR'),
    temporalUi: reader.get('API_TEMPORAL_UI'),
    runbookUrl: reader.get('RUNBOOK_URL'),
    profiles: ['default', ...own.map(([name]) => name)],
  };
  return {
    options,
    ledgerAccess: readLedgerAccess(reader),
    logLevel: reader.get('LOG_LEVEL'),
    decisionKeyFile: reader.get('API_DECISION_KEY_FILE'),
    metricsAddress: reader.get('METRICS_ADDRESS'),
  };
}
