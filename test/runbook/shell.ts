/** A shell in which `credit-journey` and `temporal` are commands, as on an operator's machine. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { findTemporalBinary } from '../../src/local/temporal/temporal-binaries.ts';
import { bareEnvironment, type Ran } from '../cli/run-cli.ts';

export interface Shell {
  /** A fresh directory, and the working directory of every script. */
  directory: string;
  /** Runs a script until its first command that fails. */
  run(script: string, env: Record<string, string>): Promise<Ran>;
  /** Runs one command alone, without a shell and without a process: what it costs is what the command does. */
  cli(args: string[], env: Record<string, string>): Promise<Ran>;
  close(): Promise<void>;
}

/** Passes its arguments, environment and standard input on, and ends as the command did. */
const PROGRAM = (node: string, socket: string) => `#!${node}
const socket = require('node:net').connect(${JSON.stringify(socket)});
let stdin = '', answer = '';
process.stdin.setEncoding('utf8').on('data', (text) => { stdin += text; }).on('end', () => {
  const { env, argv } = process;
  socket.end(JSON.stringify({ args: argv.slice(2), env, cwd: process.cwd(), stdin }));
});
socket.setEncoding('utf8').on('data', (text) => { answer += text; }).on('end', () => {
  const { code, stdout, stderr } = JSON.parse(answer);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
`;

export async function openShell(): Promise<Shell> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-runbook-'));
  const socket = join(directory, 'cli.sock');
  const [server, temporal] = await Promise.all([startServer(socket), findTemporalBinary()]);
  await writeFile(join(directory, 'credit-journey'), PROGRAM(process.execPath, socket), { mode: 0o755 });
  return {
    directory,
    async run(script, env) {
      const path = [directory, dirname(temporal), process.env.PATH].join(':');
      const child = spawn('sh', ['-eu', '-c', script], {
        cwd: directory,
        env: { ...bareEnvironment(), ...env, PATH: path, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const exit = once(child, 'close');
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = await exit;
      return { code: code as number | null, stdout, stderr };
    },
    async cli(args, env) {
      const connection = connect(socket);
      const own = { ...bareEnvironment(), ...env, NO_COLOR: '1' };
      connection.end(JSON.stringify({ args, env: own, cwd: directory, stdin: '' }));
      return JSON.parse(await text(connection)) as Ran;
    },
    async close() {
      const ended = once(server, 'exit');
      server.disconnect();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startServer(socket: string): Promise<ChildProcess> {
  const server = fork(fileURLToPath(new URL('../support/cli-server.ts', import.meta.url)), [socket], {
    stdio: 'inherit',
  });
  await once(server, 'message');
  return server;
}
