/** `ready.json` in the data directory of a running `dev`: with it, commands in that folder need no address. */
import { readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const DEFAULT_DATA_DIR = '.credit-journey';

/** What says where to go, or that another environment is meant. */
const ADDRESSES =
  /^(TEMPORAL_(?!CLI_PATH$|TEST_SERVER_PATH$)|LEDGER_|GATEWAY_(?!PROFILES_FILE$)|CODEC_SERVER_|KEY_RING_FILE$|TASK_QUEUE$)/;

interface ReadyFile {
  /** Of `dev`. */
  pid: number;
  /** For the environment of a command. */
  variables: Record<string, string>;
}

/** Returns what removes it. It holds paths and loopback addresses, no key. */
export async function writeReadyFile(dataDir: string, variables: Record<string, string>): Promise<() => Promise<void>> {
  const path = readyFile(dataDir);
  const content: ReadyFile = { pid: process.pid, variables };
  await writeFile(path, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  return () => rm(path, { force: true });
}

/**
 * The variables of the `dev` that runs in this folder or in one above it; none where the environment names an address by
 * itself. Another user's file does not count, nor one whose process is gone.
 */
export function variablesOfRunningDev(env: NodeJS.ProcessEnv, folder: string): Record<string, string> {
  if (Object.keys(env).some((name) => ADDRESSES.test(name) && env[name])) return {};
  const { GATEWAY_PROFILES_FILE: profiles } = env;
  for (let at = folder; ; at = dirname(at)) {
    const found = readReadyFile(readyFile(join(at, DEFAULT_DATA_DIR)));
    // A file of profiles is no address: the command's own stands.
    if (found) return { ...found.variables, ...(profiles ? { GATEWAY_PROFILES_FILE: profiles } : {}) };
    if (at === dirname(at)) return {};
  }
}

function readReadyFile(path: string): ReadyFile | null {
  try {
    if (process.getuid && statSync(path).uid !== process.getuid()) return null;
    const { pid, variables } = JSON.parse(readFileSync(path, 'utf8')) as ReadyFile;
    return isRunning(pid) && typeof variables === 'object' ? { pid, variables } : null;
  } catch {
    return null;
  }
}

/** Throws where there is no such process. */
function isRunning(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
}

function readyFile(dataDir: string): string {
  return join(dataDir, 'ready.json');
}
