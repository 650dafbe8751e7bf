/** Loaded before a test file where `--times` asks for it: writes what its process and its ended children took. */
import { appendFileSync } from 'node:fs';
import { cpuSeconds } from './cpu-seconds.ts';

process.once('exit', () => {
  const file = process.argv[1] ?? '';
  const together = file.endsWith('tests-together.ts');
  const line = {
    file: together ? 'files in one process' : file,
    cpu: cpuSeconds(),
    seconds: performance.now() / 1_000,
  };
  appendFileSync(process.env.TEST_TIMES_FILE ?? '/dev/null', `${JSON.stringify(line)}\n`);
});
