/** Programs of this project as processes of their own, every word of which is kept. */
import { type ExecFileException, execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type OwnedChild, startOwnedChild } from '../../../src/local/child-process.ts';
import type { PlaceKind } from '../sentinels.ts';

/** A piece of stored data or output that the search reads. */
export interface Place {
  kind: PlaceKind;
  name: string;
  readonly bytes: Uint8Array;
}

export interface Processes {
  /** The output of each process so far, on both streams. */
  said: Place[];
  /** Resolves when it is ready, with what it says then. `load` is imported before it. */
  start(name: string, args: string[], options?: StartOptions): Promise<Started>;
  /** Runs a command to its end; resolves with its exit code. */
  run(args: string[], stdin?: string): Promise<number>;
  close(): Promise<void>;
}

export interface StartOptions {
  env?: Record<string, string>;
  load?: string;
}

export interface Started {
  child: OwnedChild;
  ready: Record<string, unknown>;
}

export interface Ran {
  code: number;
  stdout: Buffer;
  stderr: Buffer;
}

const CLI = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
/** For a loaded machine; a second or two is usual. */
const READY_WITHIN_MS = 60_000;

export function createProcesses(env: NodeJS.ProcessEnv): Processes {
  const said: Place[] = [];
  const children: OwnedChild[] = [];
  return {
    said,
    async start(name, args, { env: more = {}, load } = {}) {
      const given = [...(load === undefined ? [] : ['--import', load]), CLI, ...args];
      const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'];
      const child = await startOwnedChild(process.execPath, given, { env: { ...env, ...more }, stdio });
      children.push(child);
      const place = listenTo(name, child);
      said.push(place);
      return { child, ready: await waitUntilReady(place, child) };
    },
    async run(args, stdin) {
      const { code, stdout, stderr } = await runProgram(process.execPath, [CLI, ...args], env, stdin);
      const name = `credit-journey ${args.join(' ')}`;
      said.push({ kind: 'commandLine', name, bytes: Buffer.concat([stdout, stderr]) });
      return code;
    },
    async close() {
      await Promise.all(children.map((child) => child.stop(10_000)));
    },
  };
}

export function runProgram(program: string, args: string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const done = (error: ExecFileException | null, stdout: Buffer, stderr: Buffer) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    const child = execFile(program, args, { env, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 }, done);
    child.stdin?.end(stdin);
  });
}

/** Its bytes are those so far, each time that they are asked for. */
function listenTo(name: string, { process: { stdout, stderr } }: OwnedChild): Place {
  const chunks: Buffer[] = [];
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    kind: 'log',
    name,
    get bytes() {
      return Buffer.concat(chunks);
    },
  };
}

/** The first line on standard output is JSON: what every program of ours says when it is ready. */
async function waitUntilReady(
  place: Place,
  { process: { stdout }, ended }: OwnedChild,
): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  if (stdout) createInterface({ input: stdout }).once('line', (line) => resolve(JSON.parse(line)));
  const fail = (what: string) => reject(new Error(`${place.name} ${what}:\n${String(place.bytes).slice(-2_000)}`));
  const timer = setTimeout(() => fail('was not ready in time'), READY_WITHIN_MS);
  void ended.then(() => fail('ended before it was ready'));
  return promise.finally(() => clearTimeout(timer));
}
