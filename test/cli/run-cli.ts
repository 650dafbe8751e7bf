/** Runs the command line as a process of its own, as people and scripts do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
}

/** Without the settings of whoever runs the tests. */
export function bareEnvironment(): Record<string, string | undefined> {
  const ours = /^(TEMPORAL_|GATEWAY_|LEDGER_|KEY_RING|TASK_QUEUE|WORKER_|NODE_TEST)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

export function spawnCli(args: string[], { env = {}, cwd }: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], {
    stdio: 'pipe',
    env: { ...bareEnvironment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

export async function runCli(args: string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawnCli(args, options);
  child.stdin?.end(options.stdin ?? '');
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')),
  );
  return { code: await exit, stdout: stdout ?? '', stderr: stderr ?? '' };
}
