/** Loaded before a test file where `--times` asks for it: writes what its process and its ended children took. */
import { appendFileSync, readFileSync } from 'node:fs';

/** Of `/proc/self/stat`; Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

process.once('exit', () => {
  const file = process.argv[1] ?? '';
  const together = file.endsWith('tests-together.ts');
  // The second field is the program's name in brackets, which may hold blanks.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  // utime, stime, cutime, cstime: fields 14 to 17 of the line.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const seconds = performance.now() / 1_000;
  const line = { file: together ? 'files in one process' : file, cpu: ticks / TICKS_PER_SECOND, seconds };
  appendFileSync(process.env.TEST_TIMES_FILE ?? '/dev/null', `${JSON.stringify(line)}\n`);
});
