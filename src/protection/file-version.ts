import { statSync } from 'node:fs';

/** A text that differs after each change of the file; `missing` where it is gone. */
export function readFileVersion(file: string): string {
  const about = statSync(file, { bigint: true, throwIfNoEntry: false });
  return about ? [about.ino, about.size, about.mtimeNs, about.ctimeNs].join('-') : 'missing';
}
