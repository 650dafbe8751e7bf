/** Runs the command line: one command in a process that has already loaded it, or the real program. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CliCall } from '../support/cli-server.ts';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const RUNNER = fileURLToPath(new URL('../support/cli-server.ts', import.meta.url));

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

/** Returns the environment without the developer's own settings. */
export function bareEnvironment(): Record<string, string | undefined> {
  const ours = /^(TEMPORAL_|GATEWAY_|LEDGER_|KEY_RING|TASK_QUEUE|WORKER_|NODE_TEST|npm_command|npm_lifecycle)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

export function spawnCli(args: string[], { env = {}, cwd }: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], {
    stdio: 'pipe',
    env: { ...bareEnvironment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/**
 * Runs one command in a process that stays and has already loaded the command line, so that no time goes into loading.
 * Concurrent commands each have their own process. `spawnCli` runs the real program.
 */
export async function runCli(
  args: string[],
  { env = {}, cwd = process.cwd(), stdin = '' }: RunOptions = {},
): Promise<Ran> {
  const runner = idle.pop() ?? startRunner();
  try {
    return await callOf(runner, { args, env: definedOf({ ...bareEnvironment(), ...env }), cwd, stdin });
  } finally {
    if (runner.connected) idle.push(runner);
  }
}

const idle: ChildProcess[] = [];

function startRunner(): ChildProcess {
  // Neither its output nor its channel keeps the test process alive.
  const runner = fork(RUNNER, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: definedOf(bareEnvironment()) });
  runner.unref();
  runner.channel?.unref();
  return runner;
}

async function callOf(runner: ChildProcess, call: CliCall): Promise<Ran> {
  runner.channel?.ref();
  const ended = new AbortController();
  try {
    const answered = once(runner, 'message', ended).then(([answer]) => answer as Ran);
    // If a command ends its process, its output is lost and its exit code is kept.
    const exited = once(runner, 'exit', ended).then(
      ([code]): Ran => ({ code, stdout: '', stderr: 'the process ended' }),
    );
    runner.send(call);
    return await Promise.race([answered, exited]);
  } finally {
    ended.abort();
    runner.channel?.unref();
  }
}

function definedOf(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
