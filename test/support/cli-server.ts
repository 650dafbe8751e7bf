/**
 * The command line as a process that stays: it loads once and runs one command after the other, each by its own entry,
 * for its parent or for callers on a socket. Most of what a command costs is loading.
 */
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface CliCall {
  args: string[];
  env: Record<string, string>;
  cwd: string;
  stdin: string;
}

export interface CliAnswer {
  code: number;
  stdout: string;
  stderr: string;
}

const CLI = new URL('../../src/cli.ts', import.meta.url);

let calls = 0;
let turn: Promise<unknown> = Promise.resolve();

async function run({ args, env, cwd, stdin }: CliCall): Promise<CliAnswer> {
  const answer: CliAnswer = { code: 0, stdout: '', stderr: '' };
  const own = { argv: process.argv, env: process.env, cwd: process.cwd() };
  const listeners = new Set(process.listeners('uncaughtException'));
  const restore = [
    capture('stdout', (chunk) => {
      answer.stdout += chunk;
    }),
    capture('stderr', (chunk) => {
      answer.stderr += chunk;
    }),
  ];
  Object.defineProperty(process, 'stdin', { value: Readable.from([stdin]), configurable: true });
  // As where it is installed for every folder.
  process.argv = [process.execPath, new URL('credit-journey', CLI).pathname, ...args];
  process.env = env;
  process.chdir(cwd);
  try {
    // Another module each time, of modules that are the same: its code is run again.
    await import(`${CLI.href}?call=${++calls}`);
    answer.code = Number(process.exitCode ?? 0);
  } finally {
    process.exitCode = 0;
    for (const undo of restore) undo();
    Object.assign(process, { argv: own.argv, env: own.env });
    // Each command adds its own; Node warns of the eleventh on stderr, which may be read as JSON.
    for (const one of process.listeners('uncaughtException')) {
      if (!listeners.has(one)) process.off('uncaughtException', one);
    }
    process.chdir(own.cwd);
  }
  return answer;
}

type Done = (error?: Error | null) => void;

/** Captures what the program writes, and reports each write as done. Returns a function that undoes this. */
function capture(name: 'stdout' | 'stderr', take: (chunk: string) => void): () => void {
  const stream = process[name];
  const { write } = stream;
  stream.write = ((chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const tell = typeof encoding === 'function' ? encoding : done;
    if (tell) process.nextTick(tell);
    return true;
  }) as typeof write;
  return () => {
    stream.write = write;
  };
}

function answerTo(call: CliCall): Promise<CliAnswer> {
  const mine = turn.then(() => run(call));
  turn = mine.catch(() => {});
  return mine.catch((error: unknown): CliAnswer => ({ code: 70, stdout: '', stderr: String(error) }));
}

async function serve(socket: Socket): Promise<void> {
  const call = JSON.parse(await text(socket)) as CliCall;
  socket.end(JSON.stringify(await answerTo(call)));
}

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.on('message', async (call: CliCall) => process.send?.(await answerTo(call)));
} else {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    void serve(socket);
  });
  server.listen(path, () => process.send?.('listening'));
}
// It ends with its parent.
process.once('disconnect', () => process.exit(0));
