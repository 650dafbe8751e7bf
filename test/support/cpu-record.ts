/** Records the times of test files and their processes for `--times`. */
import { appendFileSync } from 'node:fs';
import { cpuSeconds } from './cpu-seconds.ts';

/** Set by `--times`. Without it nothing is written. */
const path = process.env.TEST_TIMES_FILE;

const ofFiles = { cpu: 0, seconds: 0 };
let start = { cpu: 0, seconds: 0 };

function now(): typeof start {
  return { cpu: cpuSeconds(), seconds: performance.now() / 1_000 };
}

function write(file: string, cpu: number, seconds: number): void {
  if (path) appendFileSync(path, `${JSON.stringify({ file, cpu, seconds })}\n`);
}

/** Called before the tests of a file that shares its process. */
export function recordStart(): void {
  start = now();
}

export function recordEnd(file: string): void {
  const end = now();
  const [cpu, seconds] = [end.cpu - start.cpu, end.seconds - start.seconds];
  ofFiles.cpu += cpu;
  ofFiles.seconds += seconds;
  write(file, cpu, seconds);
}

// A process of one file counts for that file. A shared process counts only what its files have not.
process.once('exit', () => {
  const { cpu, seconds } = now();
  write(process.argv[1] ?? '', cpu - ofFiles.cpu, seconds - ofFiles.seconds);
});
