import { readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/self/stat`, as Linux counts them. */
const TICKS_PER_SECOND = 100;

/** Returns the CPU seconds of this process and its ended children so far. */
export function cpuSeconds(): number {
  // The second field is the program's name in brackets, which may hold blanks.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  // utime, stime, cutime, cstime: fields 14 to 17 of the line.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND;
}
