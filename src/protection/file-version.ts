import { statSync } from 'node:fs';

/** A text that differs after each change of the file; `missing` where it is gone or out of reach. Never throws. */
export function readFileVersion(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join('-');
  } catch {
    return 'missing';
  }
}
