/** Checks that a file is still the one that was examined. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { PortfolioChangedError, portfolioUnavailable } from './errors.ts';
import { blocksOf } from './lines.ts';

/** Shows cheaply that the file was not written to; nanoseconds as text. */
export interface FileMark {
  size: number;
  modified: string;
  changed: string;
}

export async function markOf(handle: FileHandle): Promise<FileMark> {
  try {
    const { size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
    return { size: Number(size), modified: String(mtimeNs), changed: String(ctimeNs) };
  } catch (error) {
    throw portfolioUnavailable(error);
  }
}

export function isSameMark(one: FileMark, other: FileMark): boolean {
  return one.size === other.size && one.modified === other.modified && one.changed === other.changed;
}

/**
 * Checks the file. Called after the rows were read, so that the check covers what was read. A file whose mark differs,
 * such as a copy on another worker, is read whole and compared by its digest.
 *
 * @returns the mark that it has now
 * @throws PortfolioChangedError, PortfolioUnavailableError
 */
export async function requireUnchanged(
  handle: FileHandle,
  known: { mark: FileMark; digest: string },
  { inFull, onBlock }: { inFull: boolean; onBlock: () => void },
): Promise<FileMark> {
  const mark = await markOf(handle);
  if (mark.size !== known.mark.size) throw new PortfolioChangedError();
  if (!inFull && isSameMark(mark, known.mark)) return mark;
  if ((await digestOf(handle, onBlock)) !== known.digest) throw new PortfolioChangedError();
  if (!isSameMark(mark, await markOf(handle))) throw new PortfolioChangedError();
  return mark;
}

/** SHA-256 of the whole file, in hexadecimal. */
async function digestOf(handle: FileHandle, onBlock: () => void): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocksOf(handle)) {
    hash.update(block);
    onBlock();
  }
  return hash.digest('hex');
}
