/** The result file: it grows under another name while the review runs. Writing the same again changes nothing. */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import type { PortfolioOutputs } from '../messages/portfolio/output-files.ts';
import type { RowResult } from '../messages/portfolio/shapes.ts';
import { PortfolioUnavailableError, readBlocks, throwUnavailable } from './files.ts';

/**
 * Writes results behind the first `size` bytes, and returns the new size. A run that was started again, or reset,
 * overwrites the rest.
 *
 * @throws PortfolioUnavailableError
 */
export async function writeResults(
  outputs: PortfolioOutputs,
  size: number,
  results: readonly RowResult[],
  onBlock: () => void,
): Promise<number> {
  const text = Buffer.from(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
  await using handle = await openUnfinished(outputs, size, onBlock);
  await handle.write(text, 0, text.length, size).catch(throwUnavailable);
  await handle.sync().catch(throwUnavailable);
  return size + text.length;
}

/**
 * Gives the file its name, with its first `size` bytes. A second call does nothing.
 *
 * @throws PortfolioUnavailableError
 */
export async function finishResults(outputs: PortfolioOutputs, size: number, onBlock: () => void): Promise<void> {
  const { results, unfinished } = outputs;
  if ((await readSize(unfinished)) === undefined && (await readSize(results)) === size) return;
  await using handle = await openUnfinished(outputs, size, onBlock);
  await handle.truncate(size).catch(throwUnavailable);
  await handle.sync().catch(throwUnavailable);
  await rename(unfinished, results).catch(throwUnavailable);
}

/** A review that was reset to a point before its end takes its earlier results from the file of that end. */
async function openUnfinished(
  { results, unfinished }: PortfolioOutputs,
  size: number,
  onBlock: () => void,
): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const handle = await open(unfinished, flags, 0o600).catch(throwUnavailable);
  try {
    if ((await handle.stat()).size >= size) return handle;
    if (((await readSize(results)) ?? 0) < size) throw new PortfolioUnavailableError('RESULTS');
    await using earlier = await open(results, constants.O_RDONLY | constants.O_NOFOLLOW);
    let position = 0;
    for await (const block of readBlocks(earlier)) {
      await handle.write(block, 0, block.length, position);
      position += block.length;
      onBlock();
    }
    return handle;
  } catch (error) {
    await handle.close();
    if (error instanceof PortfolioUnavailableError) throw error;
    return throwUnavailable(error);
  }
}

/** `undefined` for a missing file. */
async function readSize(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
