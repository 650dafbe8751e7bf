import { createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type OwnedChild, startOwnedChild } from '../child-process.ts';

interface WorkerProcessOptions {
  env: NodeJS.ProcessEnv;
  /** Everything the worker prints is appended to it. */
  logFile: string;
  /** Called with a sentence when it dies unasked. */
  onDeath: (message: string) => void;
}

/** A worker in a process of its own. */
export interface WorkerControl {
  /** Returns the id of the running process, or `undefined`. */
  pid(): number | undefined;
  /** Starts it where it does not run; resolves when it polls. */
  start(): Promise<void>;
  /** SIGKILL, as a power cut would; it stays down until `start`. Resolves when it is dead. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL after a few seconds; it stays down until `start`. */
  stop(): Promise<void>;
}

/** Attempts in flight at the sandbox are answered well within it. */
const STOP_GRACE_MS = 8_000;
/** Bundling the workflows takes a second or two; a loaded machine may need many times that. */
const START_TIMEOUT_MS = 90_000;

/** `.ts` from source, `.js` from `dist/`, as this module's own address says. */
const CLI = fileURLToPath(new URL(`../../cli${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

interface Running {
  child: OwnedChild;
  ready: Promise<void>;
}

/** Does not start anything yet. */
export function workerProcess(options: WorkerProcessOptions): WorkerControl {
  let running: Running | undefined;
  const watch = (started: Running): Running => {
    void started.child.ended.then((exitCode) => {
      // `kill` and `stop` have let go of it before it ends.
      if (running !== started) return;
      running = undefined;
      const how = exitCode === null ? 'was killed' : `ended with exit code ${exitCode}`;
      options.onDeath(`worker ${started.child.pid} ${how}; its log: ${options.logFile}`);
    });
    return started;
  };
  const letGo = (): OwnedChild | undefined => {
    const { child } = running ?? {};
    running = undefined;
    return child;
  };
  return {
    pid: () => running?.child.pid,
    start: async () => {
      running ??= watch(await startWorker(options));
      await running.ready;
    },
    kill: async () => {
      const child = letGo();
      child?.process.kill('SIGKILL');
      await child?.ended;
    },
    stop: async () => letGo()?.stop(STOP_GRACE_MS),
  };
}

async function startWorker({ env, logFile }: WorkerProcessOptions): Promise<Running> {
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const child = await startOwnedChild(process.execPath, [CLI, 'worker'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  void child.ended.then(() => log.end());
  const ready = untilReady(child, log);
  // Waiting callers get the error, but there may be none.
  ready.catch(() => {});
  return { child, ready };
}

async function untilReady(child: OwnedChild, log: WriteStream): Promise<void> {
  const { stdout, stderr } = child.process;
  if (!stdout || !stderr) throw new Error('the worker has no output');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let lastLines = '';
  const read = (stream: NodeJS.ReadableStream) =>
    createInterface({ input: stream }).on('line', (line) => {
      if (!log.writableEnded) log.write(`${line}\n`);
      lastLines = `${lastLines}\n${line}`.slice(-2_000);
      if (saysReady(line)) resolve();
    });
  read(stdout);
  read(stderr);
  const timer = setTimeout(() => {
    child.process.kill('SIGKILL');
    reject(new Error('the worker was not ready in time'));
  }, START_TIMEOUT_MS);
  void child.ended.then(() => reject(new Error(`the worker ended before it was ready:${lastLines}`)));
  return promise.finally(() => clearTimeout(timer));
}

/** The worker prints one JSON line with `"ready":true` once every queue is polled. */
function saysReady(line: string): boolean {
  if (!line.startsWith('{') || !line.includes('"ready"')) return false;
  try {
    return (JSON.parse(line) as { ready?: unknown }).ready === true;
  } catch {
    return false;
  }
}
