/**
 * A command line process that stays alive, since a command spends most of its time loading. It loads once and runs one
 * command after the other for its parent or for callers on a socket.
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
  // Behaves as if it were installed globally.
  process.argv = [process.execPath, new URL('credit-journey', CLI).pathname, ...args];
  process.env = env;
  process.chdir(cwd);
  try {
    // A new query string makes a new module, so its code runs again. Its imports are the same.
    await import(`${CLI.href}?call=${++calls}`);
    answer.code = Number(process.exitCode ?? 0);
  } finally {
    process.exitCode = 0;
    for (const undo of restore) undo();
    Object.assign(process, { argv: own.argv, env: own.env });
    // Each command adds listeners. Node would warn of the eleventh on stderr, which a test may read as JSON.
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
// The process ends with its parent.
process.once('disconnect', () => process.exit(0));
