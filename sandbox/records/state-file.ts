/** Keeps posted inquiries across restarts: appends one JSON line at the moment of each posting. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Posting } from './posting.ts';

/** Makes a directory and those above it. Node's `recursive` turns for ever in some places, such as below `/proc`. */
export function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  mkdirSync(path);
}

export class StateFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    makeDirectory(dirname(path));
  }

  /** Every posting on file. Cuts off a last line that a killed process left unfinished. */
  load(): Posting[] {
    if (!existsSync(this.#path)) return [];
    const content = readFileSync(this.#path);
    const end = content.lastIndexOf(0x0a) + 1;
    if (end < content.length) truncateSync(this.#path, end);
    const lines = content.subarray(0, end).toString('utf8').split('\n').filter(Boolean);
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as Posting;
      } catch {
        throw new Error(`the sandbox's state file is damaged in line ${index + 1}`);
      }
    });
  }

  /** Synchronous, so that no answer is sent before the posting is on file. */
  append(posting: Posting): void {
    appendFileSync(this.#path, `${JSON.stringify(posting)}\n`);
  }

  clear(): void {
    writeFileSync(this.#path, '');
  }
}
