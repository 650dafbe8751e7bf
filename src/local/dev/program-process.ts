import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../base/json-safety.ts';
import { type OwnedChild, startOwnedChild } from '../child-process.ts';

interface ProgramOptions {
  /** The command, which prints one line of JSON when it is ready. */
  name: 'worker' | 'api' | 'codec-server';
  env: NodeJS.ProcessEnv;
  /** Holds the log: everything else that the program prints. */
  dataDir: string;
  /** Called with a sentence when it dies unasked. */
  onDeath: (message: string) => void;
}

/** The members that some command's line has. */
export interface Ready {
  url: string;
  endpoint: string;
}

/** Attempts in flight at the sandbox are answered well within it. */
const STOP_GRACE_MS = 8_000;
/** Bundling the workflows takes a second or two; a loaded machine may need many times that. */
const START_TIMEOUT_MS = 90_000;

/** `.ts` from source, `.js` from `dist/`, as this module's own address says. */
const CLI = fileURLToPath(new URL(`../../cli${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** A command of this program in a process of its own. Does not start anything yet. */
export function createProgramProcess({ name, env, dataDir, onDeath }: ProgramOptions) {
  const logFile = join(dataDir, `${name}.log`);
  let running: { child: OwnedChild; ready: Promise<Ready> } | undefined;
  const start = async () => {
    const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
    const child = await startOwnedChild(process.execPath, [CLI, name], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const started = { child, ready: waitUntilReady(name, child, log) };
    void child.ended.then((exitCode) => {
      log.end();
      // `kill` and `stop` have let go of it before it ends.
      if (running !== started) return;
      running = undefined;
      const how = exitCode === null ? 'was killed' : `ended with exit code ${exitCode}`;
      onDeath(`${name} ${child.pid} ${how}; its log: ${logFile}`);
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
    /** Starts it where it does not run; resolves with its line when it is ready. */
    start: async () => {
      running ??= await start();
      return running.ready;
    },
    /** SIGKILL, as a power cut would; it stays down until `start`. */
    kill: async () => {
      const child = letGo();
      child?.process.kill('SIGKILL');
      await child?.ended;
    },
    /** SIGTERM, and SIGKILL after a few seconds. */
    stop: async () => letGo()?.stop(STOP_GRACE_MS),
  };
}

async function waitUntilReady(name: string, child: OwnedChild, log: WriteStream): Promise<Ready> {
  const { stdout, stderr } = child.process;
  if (!stdout || !stderr) throw new Error(`the ${name} has no output`);
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  let lastLines = '';
  const note = (line: string) => {
    if (!log.writableEnded) log.write(`${line}\n`);
    lastLines = `${lastLines}\n${line}`.slice(-2_000);
  };
  // The codec server's line holds its unguessable path: it is no part of the log.
  createInterface({ input: stdout }).on('line', (line) => {
    const [ready] = parseJson(line) ?? [];
    if (ready) resolve(ready as Ready);
    else note(line);
  });
  createInterface({ input: stderr }).on('line', note);
  const timer = setTimeout(() => {
    child.process.kill('SIGKILL');
    reject(new Error(`the ${name} was not ready in time`));
  }, START_TIMEOUT_MS);
  void child.ended.then(() => reject(new Error(`the ${name} ended before it was ready:${lastLines}`)));
  return promise.finally(() => clearTimeout(timer));
}
