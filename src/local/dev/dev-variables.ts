/**
 * The variables of a development environment: those of the programs that it starts, and two files in its data directory
 * while it runs. A shell sources `env`. With `ready.json`, commands in that folder need no address.
 */
import { readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

interface DevAddresses {
  temporalAddress: string;
  namespace: string;
  taskQueue: string;
  sandboxUrl: string;
  dataDir: string;
}

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

/** Returns the places of ledger, keys and portfolio files in a data directory. */
export function resolveDataAddresses(dataDir: string) {
  return {
    ledgerUrl: `file:${join(dataDir, 'ledger.db')}`,
    keyRingFile: join(dataDir, 'keys.json'),
    portfolioDir: join(dataDir, 'portfolios'),
  };
}

/**
 * Returns the variables for a command beside the environment, independent of its user's profile file. Among them are the
 * profiles of the environment's worker: commands judge decisions and addresses by them.
 */
export function createReadyVariables(
  addresses: DevAddresses,
  { GATEWAY_PROFILES_FILE: file }: NodeJS.ProcessEnv,
): Record<string, string> {
  const { ledgerUrl, keyRingFile } = resolveDataAddresses(addresses.dataDir);
  return {
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: addresses.namespace,
    TASK_QUEUE: addresses.taskQueue,
    GATEWAY_ENVIRONMENT: 'sandbox',
    GATEWAY_AUTH_URL: addresses.sandboxUrl,
    GATEWAY_BASE_URL: addresses.sandboxUrl,
    // The sandbox accepts these by default.
    GATEWAY_CLIENT_ID: 'sandbox-client',
    GATEWAY_CLIENT_SECRET: 'sandbox-secret',
    LEDGER_URL: ledgerUrl,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'on',
    // The user's own may hold TLS or an API key, which loopback has no use for.
    TEMPORAL_CONFIG_FILE: join(addresses.dataDir, 'temporal.toml'),
    ...(file ? { GATEWAY_PROFILES_FILE: resolve(file) } : {}),
  };
}

/** Returns the environment of a child: ours without variables that lead elsewhere, and `createReadyVariables`. */
export function createChildEnvironment(addresses: DevAddresses, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isForeign = (name: string) => FOREIGN.some((pattern) => pattern.test(name));
  const kept = Object.entries(inherited).filter(([name]) => !isForeign(name));
  return {
    PORTFOLIO_DIR: resolveDataAddresses(addresses.dataDir).portfolioDir,
    ...Object.fromEntries(kept),
    ...createReadyVariables(addresses, inherited),
  };
}

export function toEnvFile(dataDir: string): string {
  return join(dataDir, 'env');
}

/**
 * Writes both files for their owner alone, and returns their removal.
 *
 * @param programs variables for programs alone, such as the codec server's address, whose path is a secret
 */
export async function writeFiles(
  dataDir: string,
  variables: Record<string, string>,
  programs: Record<string, string>,
): Promise<() => Promise<void>> {
  const exports = Object.entries({ ...variables, ...programs }).map(
    ([name, value]) => `export ${name}=${quoteForShell(value)}\n`,
  );
  const ready: ReadyFile = { pid: process.pid, variables };
  const files = [
    [
      toEnvFile(dataDir),
      `# Made by each start of \`credit-journey dev\`, and removed when it stops.\n${exports.join('')}`,
    ],
    [toReadyFile(dataDir), `${JSON.stringify(ready)}\n`],
  ] as const;
  const remove = async () => {
    for (const [path] of files) await rm(path, { force: true });
  };
  // An existing file would keep its mode.
  await remove();
  for (const [path, content] of files) await writeFile(path, content, { mode: 0o600 });
  return remove;
}

function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

export const DEFAULT_DATA_DIR = '.credit-journey';

/** Variables that name an address, or show that another environment is meant. */
const ADDRESSES =
  /^(TEMPORAL_(?!CLI_PATH$|TEST_SERVER_PATH$)|LEDGER_|GATEWAY_(?!PROFILES_FILE$)|CODEC_SERVER_|KEY_RING_FILE$|TASK_QUEUE$)/;

interface ReadyFile {
  /** Process id of `dev`. */
  pid: number;
  /** For the environment of a command. */
  variables: Record<string, string>;
}

/**
 * Returns the variables of the `dev` that runs in this folder or in one above it. Empty if the environment itself names
 * an address.
 */
export function readRunningDevVariables(env: NodeJS.ProcessEnv, folder: string): Record<string, string> {
  if (Object.keys(env).some((name) => ADDRESSES.test(name) && env[name])) return {};
  const { GATEWAY_PROFILES_FILE: profiles } = env;
  for (let at = folder; ; at = dirname(at)) {
    const found = readReadyFile(join(at, DEFAULT_DATA_DIR));
    // A file of profiles is no address, so the command's own takes precedence.
    if (found) return { ...found.variables, ...(profiles ? { GATEWAY_PROFILES_FILE: profiles } : {}) };
    if (at === dirname(at)) return {};
  }
}

/** Ignores another user's file, and one whose process is gone. */
export function readReadyFile(dataDir: string): ReadyFile | null {
  const path = toReadyFile(dataDir);
  try {
    if (process.getuid && statSync(path).uid !== process.getuid()) return null;
    const { pid, variables } = JSON.parse(readFileSync(path, 'utf8')) as ReadyFile;
    // `kill` throws where there is no such process.
    const isRunning = Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
    return isRunning && typeof variables === 'object' ? { pid, variables } : null;
  } catch {
    return null;
  }
}

function toReadyFile(dataDir: string): string {
  return join(dataDir, 'ready.json');
}
