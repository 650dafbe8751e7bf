/** `--seeds 100..130`: one storm after the other, each in a process of its own, with a line each and one exit code. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OwnedChild, startOwnedChild } from '../../src/local/child-process.ts';

/** A thousand storms take two days. */
const MOST_SEEDS = 1_000;
/** How long a stopped storm may take to put its world away. */
const STOP_GRACE_MS = 30_000;

/** Seeds and ranges, with commas between them; `undefined` where the text is neither. */
export function parseSeeds(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(part.trim()));
  const seeds: number[] = [];
  for (const part of parts) {
    if (!part) return undefined;
    const first = Number(part[1]);
    const last = Number(part[2] ?? part[1]);
    if (last < first || seeds.length + last - first >= MOST_SEEDS) return undefined;
    for (let seed = first; seed <= last; seed++) seeds.push(seed);
  }
  return [...new Set(seeds)];
}

/** What one storm has printed, and how it ended. */
export interface StormOutput {
  /** `null` after a signal. */
  exitCode: number | null;
  text: string;
}

export interface ManySeedsOptions {
  run(seed: number): Promise<StormOutput>;
  print(line: string): void;
  signal: AbortSignal;
}

/** Resolves with the exit code: 0 where every storm has passed. */
export async function runSeeds(seeds: readonly number[], { run, print, signal }: ManySeedsOptions): Promise<number> {
  const failed: number[] = [];
  for (const [nth, seed] of seeds.entries()) {
    if (signal.aborted) {
      print(`stopped: ${seeds.length - nth} seeds were not run`);
      return 1;
    }
    const startedAt = performance.now();
    const { exitCode, text } = await run(seed);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (exitCode !== 0) failed.push(seed);
    print(`${lineOf(seed, { exitCode, text })}, ${seconds} s`);
  }
  print(
    `${seeds.length - failed.length} of ${seeds.length} seeds passed${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`,
  );
  return failed.length > 0 ? 1 : 0;
}

/** The storm's own last line; of one that failed with what failed first. */
function lineOf(seed: number, { exitCode, text }: StormOutput): string {
  const lines = text.split('\n');
  const last =
    lines.findLast((line) => line.startsWith(`chaos seed ${seed}: `)) ??
    `chaos seed ${seed}: it ended without a result`;
  if (exitCode === 0) return last;
  const at = lines.findIndex((line) => /^\s+FAILED /.test(line));
  const first = lines
    .slice(at, at + 2)
    .map((line) => line.trim())
    .join(': ');
  return `${last} (exit code ${exitCode ?? 'none'})${at < 0 ? '' : ` ${first}`}`;
}

/** Runs a storm as a program. It is ended where it outlasts `limitMs`, or the signal comes. */
export async function runStormProgram(
  args: readonly string[],
  { limitMs, signal, keepIn }: { limitMs: number; signal: AbortSignal; keepIn?: string },
): Promise<StormOutput> {
  const child = await startOwnedChild(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.process.stdout, child.process.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  const exitCode = await untilEnded(child, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]));
  const text = Buffer.concat(chunks).toString('utf8');
  if (keepIn !== undefined) {
    await mkdir(keepIn, { recursive: true });
    await writeFile(join(keepIn, 'output.txt'), text);
  }
  return { exitCode, text };
}

async function untilEnded(child: OwnedChild, signal: AbortSignal): Promise<number | null> {
  const stop = () => void child.stop(STOP_GRACE_MS);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await child.ended;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
