import { readFileSync } from 'node:fs';

/** Of `/proc/self/stat`; Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** What this process and its ended children have taken so far, in seconds of CPU. */
export function cpuSeconds(): number {
  // The second field is the program's name in brackets, which may hold blanks.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  // utime, stime, cutime, cstime: fields 14 to 17 of the line.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND;
}
