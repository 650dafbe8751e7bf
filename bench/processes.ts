/** The programs that the bench starts, and the operating system's figures of them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type OwnedChild, startOwnedChild } from '../src/local/child-process.ts';

/** For a loaded machine; a second or two is usual. */
const READY_WITHIN_MS = 60_000;

export interface Program extends OwnedChild {
  /** The JSON line by which the program reported that it is ready. */
  ready: Record<string, unknown>;
}

/** Starts a program on this Node and waits for the first line of JSON that it prints. */
export async function startProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child = await startOwnedChild(process.execPath, args, {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child.process;
  if (!stdout || !stderr) throw new Error('a program without output');
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  let lastLines = '';
  for (const stream of [stdout, stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lastLines = `${lastLines}\n${line}`.slice(-2_000);
      if (stream === stdout && line.startsWith('{')) resolve(JSON.parse(line));
    });
  }
  const timer = setTimeout(() => reject(new Error(`${args[0]} was not ready in time:${lastLines}`)), READY_WITHIN_MS);
  void child.ended.then(() => reject(new Error(`${args[0]} ended before it was ready:${lastLines}`)));
  try {
    return { ...child, ready: await promise };
  } catch (error) {
    await child.stop(0);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The clock of `/proc/<pid>/stat`; fixed on Linux. */
const TICKS_PER_SECOND = 100;

/** CPU time that the process has used so far, all threads, in milliseconds. `NaN` where there is no `/proc`. */
export function cpuMs(pid: number): number {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}

/** Resident memory in bytes. `NaN` where there is no `/proc`. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1]) * 1_024;
}

/** Sockets that the process has open, of any kind. `NaN` where there is no `/proc`. */
export function openSockets(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;
  } catch {
    return Number.NaN;
  }
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    // Closed since it was listed.
    return false;
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
