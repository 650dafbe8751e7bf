/** The environment of the programs that a development environment starts. */
import { join, resolve } from 'node:path';

interface DevAddresses {
  temporalAddress: string;
  namespace: string;
  taskQueue: string;
  sandboxUrl: string;
  dataDir: string;
}

/** What the sandbox accepts by default. */
const SANDBOX_CREDENTIALS = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' };

/** Variables that would lead to another Temporal, gateway or ledger than those of the development environment. */
const FOREIGN = [
  /^TEMPORAL_(?!CLI_PATH$|TEST_SERVER_PATH$)/,
  /^LEDGER_/,
  /^GATEWAY_(CLIENT_ID|CLIENT_SECRET|AUDIENCE|CA)(_FILE)?$/,
  // The worker and the API that `dev` starts go through no codec server, and the API has settings of its own.
  /^(CODEC|API)_/,
  /^(GATEWAY_REHEARSAL|DEPLOYMENT_NAME)$/,
  /^GATEWAY_(TIME_ZONE|CUSTOMER_ID|SOFTWARE_PROVIDER_ID|API_VERSION)$/,
];

/** Where a data directory has its ledger, its keys and its portfolio files. */
export function dataAddresses(dataDir: string): { ledgerUrl: string; keyRingFile: string; portfolioDir: string } {
  return {
    ledgerUrl: `file:${join(dataDir, 'ledger.db')}`,
    keyRingFile: join(dataDir, 'keys.json'),
    portfolioDir: join(dataDir, 'portfolios'),
  };
}

/** What differs from the process's own environment, for a person to copy. */
export function devVariables(addresses: DevAddresses): Record<string, string> {
  const { ledgerUrl, keyRingFile } = dataAddresses(addresses.dataDir);
  return {
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: addresses.namespace,
    TASK_QUEUE: addresses.taskQueue,
    GATEWAY_ENVIRONMENT: 'sandbox',
    GATEWAY_AUTH_URL: addresses.sandboxUrl,
    GATEWAY_BASE_URL: addresses.sandboxUrl,
    GATEWAY_CLIENT_ID: SANDBOX_CREDENTIALS.clientId,
    GATEWAY_CLIENT_SECRET: SANDBOX_CREDENTIALS.clientSecret,
    LEDGER_URL: ledgerUrl,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'on',
  };
}

/** The addresses of what programs call, beside those of the environment's own parts. */
export interface ProgramAddresses {
  codecEndpoint: string;
  apiUrl: string;
  apiTokenFile: string;
}

/** What a command beside the environment needs, whatever profile file its user has. */
export function commandVariables(addresses: DevAddresses): Record<string, string> {
  return {
    ...devVariables(addresses),
    // The user's own may hold TLS or an API key, which loopback has no use for.
    TEMPORAL_CONFIG_FILE: join(addresses.dataDir, 'temporal.toml'),
  };
}

/** The same, and the profiles that its worker has: commands judge decisions and addresses by them. */
export function readyVariables(
  addresses: DevAddresses,
  { GATEWAY_PROFILES_FILE: file }: NodeJS.ProcessEnv,
): Record<string, string> {
  return { ...commandVariables(addresses), ...(file ? { GATEWAY_PROFILES_FILE: resolve(file) } : {}) };
}

/**
 * Every variable that a program of any language needs: a client's, those of the examples, and those of a program beside the
 * ledger.
 */
export function programVariables(
  ready: Record<string, string>,
  { codecEndpoint, apiUrl, apiTokenFile }: ProgramAddresses,
): Record<string, string> {
  return {
    ...ready,
    CODEC_SERVER_URL: codecEndpoint,
    API_URL: apiUrl,
    API_TOKEN_FILE: apiTokenFile,
  };
}

/**
 * The names of variables that are set, and that neither `dev` nor its worker uses; sorted. `dev` has its own value for
 * each, or nothing that reads it.
 */
export function unusedVariables(own: Record<string, string>, inherited: NodeJS.ProcessEnv): string[] {
  return Object.entries(inherited)
    .filter(([name, value]) => {
      if (value === undefined || value === '') return false;
      return Object.hasOwn(own, name) ? own[name] !== value : isForeign(name);
    })
    .map(([name]) => name)
    .sort();
}

function isForeign(name: string): boolean {
  return FOREIGN.some((pattern) => pattern.test(name));
}

/** The whole environment of a child: ours without what leads elsewhere, and `devVariables`. */
export function childEnvironment(addresses: DevAddresses, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !isForeign(name));
  return {
    PORTFOLIO_DIR: dataAddresses(addresses.dataDir).portfolioDir,
    ...Object.fromEntries(kept),
    ...commandVariables(addresses),
  };
}
