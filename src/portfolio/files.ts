/** A portfolio's files: their places, errors and lines, and the check that one is still the same. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { PORTFOLIO_FAULTS } from '../messages/portfolio/limits.ts';
import {
  checkPortfolioPath,
  type PortfolioOutputs,
  RELATIVE_PATH,
  toOutputNames,
} from '../messages/portfolio/output-files.ts';
import type { RowResult } from '../messages/portfolio/shapes.ts';
import { InvalidInputError } from '../model/problems.ts';

/**
 * The absolute path of an end user's folder, which is in its profile's folder of `PORTFOLIO_DIR`.
 *
 * @param folder as `toPortfolioFolder` names it
 * @throws PortfolioUnavailableError where this worker has no directory
 */
export function resolveFolderPath(directory: string | undefined, folder: string): string {
  if (directory === undefined) throw new PortfolioUnavailableError('PORTFOLIO_DIR');
  if (!RELATIVE_PATH.test(folder)) throw createRefusal('must be in the folder of an end user');
  return join(directory, folder);
}

/** Codes of the file system for a file that is not there. */
const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR'];

/**
 * Refuses a missing file, and a file of another end user. A review that has begun waits for its file; one that begins
 * does not.
 *
 * @throws InvalidInputError; PortfolioUnavailableError where the directory itself cannot be reached
 */
export async function requirePortfolio(directory: string | undefined, folder: string, file: string): Promise<void> {
  try {
    await using _ = await openPortfolio(resolveFolderPath(directory, folder), file);
  } catch (error) {
    const isMissing = error instanceof PortfolioUnavailableError && MISSING.includes(error.code);
    if (!isMissing || directory === undefined) throw error;
    await realpath(directory).catch(throwUnavailable);
    throw createRefusal('must name a file in the end user’s folder of PORTFOLIO_DIR');
  }
}

/**
 * Opens the file itself for reading.
 *
 * @param directory the end user's folder
 * @throws InvalidInputError where it may not be read as a portfolio; PortfolioUnavailableError
 */
export async function openPortfolio(directory: string, file: string): Promise<FileHandle> {
  const wanted = join(directory, checkPath(file));
  const handle = await openOutput(join(await resolveInside(directory, dirname(wanted)), basename(wanted)));
  try {
    if (!(await handle.stat()).isFile()) throw createRefusal('must be a file');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The file systems in use take no longer name. */
const MAX_NAME_LENGTH = 255;

/**
 * The files that a review writes, as absolute paths. The portfolio file itself may be missing; its folder must exist.
 */
export async function resolveOutputPaths(directory: string, file: string, reviewId: string): Promise<PortfolioOutputs> {
  const folder = await resolveInside(directory, dirname(join(directory, checkPath(file))));
  const { results, badRows, unfinished } = toOutputNames(basename(file), reviewId);
  if (unfinished.length > MAX_NAME_LENGTH)
    throw createRefusal('has too long a name for result files with the review’s id');
  return { results: join(folder, results), badRows: join(folder, badRows), unfinished: join(folder, unfinished) };
}

/**
 * Opens one of the files of `resolveOutputPaths` for reading.
 *
 * @throws PortfolioUnavailableError
 */
export async function openOutput(path: string): Promise<FileHandle> {
  // A named pipe without a writer would keep a thread of the worker for ever, and four of them keep the worker.
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(throwUnavailable);
}

function checkPath(file: string): string {
  const rule = checkPortfolioPath(file);
  if (rule) throw createRefusal(rule);
  return file;
}

/** Symbolic links between here and the folder may not lead out of it. The last part is never followed. */
async function resolveInside(directory: string, folder: string): Promise<string> {
  const [root, real] = await Promise.all([realpath(directory), realpath(folder)]).catch(throwUnavailable);
  if (real !== root && !real.startsWith(root + sep)) throw createRefusal('must not lead out of the end user’s folder');
  return real;
}

export function createRefusal(rule: string): InvalidInputError {
  return new InvalidInputError([{ path: '/file', rule }]);
}

// Errors contain no value and no path of the machine.

/** Thrown when the file is not the one that the review began with. Nothing more may be sent for it. */
export class PortfolioChangedError extends Error {
  override readonly name = 'PortfolioChangedError';
  constructor() {
    super('the portfolio file is not the one that the review began with');
  }
}

/** Thrown when the file, the directory or a row cannot be read or written now. A new attempt may succeed. */
export class PortfolioUnavailableError extends Error {
  override readonly name = 'PortfolioUnavailableError';
  /** A code of `PORTFOLIO_FAULTS`, or for example `ENOENT`. */
  readonly code: string;
  constructor(code: string) {
    const fault = PORTFOLIO_FAULTS[code];
    super(fault === undefined ? `the portfolio’s files cannot be reached (${code})` : `this worker ${fault}`);
    this.code = code;
  }
}

/** Throws an error of the file system as `PortfolioUnavailableError`, without its path. */
export function throwUnavailable(error: unknown): never {
  if (error instanceof PortfolioUnavailableError) throw error;
  const { code } = error as { code?: unknown };
  throw new PortfolioUnavailableError(typeof code === 'string' && /^E[A-Z0-9]{1,20}$/.test(code) ? code : 'unknown');
}

/** Shows cheaply that the file was not written to; nanoseconds as text. */
export interface FileMark {
  size: number;
  modified: string;
  changed: string;
}

export async function readMark(handle: FileHandle): Promise<FileMark> {
  const { size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true }).catch(throwUnavailable);
  return { size: Number(size), modified: String(mtimeNs), changed: String(ctimeNs) };
}

export function isSameMark(a: FileMark, b: FileMark): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed;
}

/**
 * Checks the file after its rows were read, so that the check covers them. A file whose mark differs, such as a copy on
 * another worker, is read whole and compared by its digest.
 *
 * @returns the mark that it has now
 * @throws PortfolioChangedError, PortfolioUnavailableError
 */
export async function requireUnchanged(
  handle: FileHandle,
  known: { mark: FileMark; digest: string },
  { inFull, onBlock }: { inFull: boolean; onBlock: () => void },
): Promise<FileMark> {
  const mark = await readMark(handle);
  if (mark.size !== known.mark.size) throw new PortfolioChangedError();
  if (!inFull && isSameMark(mark, known.mark)) return mark;
  const hash = createHash('sha256');
  for await (const block of readBlocks(handle)) {
    hash.update(block);
    onBlock();
  }
  if (hash.digest('hex') !== known.digest) throw new PortfolioChangedError();
  if (!isSameMark(mark, await readMark(handle))) throw new PortfolioChangedError();
  return mark;
}

// Reads a file line by line from any byte, with a limit on everything: memory holds at most one block of it.

/** Far above any row of table 2.3 with several applicants. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Some 200 rows: few enough that a worker's other work does not wait for them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface Line {
  /** Without its line end; `null` if it is longer than {@link MAX_LINE_BYTES}. */
  bytes: Buffer | null;
  /** Counted from 1. */
  line: number;
  /** The offset of its first byte. */
  offset: number;
  /** The offset of the byte after its line end. */
  nextOffset: number;
  /** The last line of a file may lack its line end. */
  isTerminated: boolean;
}

interface LinesOptions {
  /** The place of the first line. */
  offset: number;
  line: number;
  /** Called with each block of the file in order, for example to digest it. */
  onBlock?: (block: Buffer) => void;
}

/** @throws PortfolioUnavailableError */
export async function* readLines(handle: FileHandle, options: LinesOptions): AsyncGenerator<Line> {
  let { offset, line } = options;
  let position = offset;
  /** The part of the line that has been read, unless it is too long to be kept. */
  let kept: Buffer[] = [];
  let keptBytes = 0;
  for await (const block of readBlocks(handle, offset)) {
    options.onBlock?.(block);
    let from = 0;
    for (;;) {
      const end = block.indexOf(LINE_FEED, from);
      const piece = block.subarray(from, end === -1 ? block.length : end);
      keptBytes += piece.length;
      if (keptBytes <= MAX_LINE_BYTES) kept.push(piece);
      else kept = [];
      if (end === -1) break;
      const nextOffset = position + end + 1;
      yield { bytes: whole(kept, keptBytes), line, offset, nextOffset, isTerminated: true };
      offset = nextOffset;
      line++;
      from = end + 1;
      kept = [];
      keptBytes = 0;
    }
    position += block.length;
  }
  if (keptBytes > 0) yield { bytes: whole(kept, keptBytes), line, offset, nextOffset: position, isTerminated: false };
}

/** The file's bytes from `offset` on. */
async function* readBlocks(handle: FileHandle, offset = 0): AsyncGenerator<Buffer> {
  for (let position = offset; ; ) {
    // A new buffer each time: lines are views of it.
    const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, BLOCK_BYTES, position).catch(throwUnavailable);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

function whole(kept: Buffer[], keptBytes: number): Buffer | null {
  if (keptBytes > MAX_LINE_BYTES) return null;
  const [first] = kept;
  const bytes = kept.length === 1 && first ? first : Buffer.concat(kept);
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}

// The result file: it grows under another name while the review runs. Writing the same again changes nothing.

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
  onBlock = () => {},
): Promise<number> {
  const text = Buffer.from(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
  await using handle = await openUnfinished(outputs, size, onBlock);
  await writeAt(handle, text, size).catch(throwUnavailable);
  await handle.sync().catch(throwUnavailable);
  return size + text.length;
}

/**
 * Gives the file its name, with its first `size` bytes. A second call does nothing.
 *
 * @throws PortfolioUnavailableError
 */
export async function finishResults(outputs: PortfolioOutputs, size: number, onBlock = () => {}): Promise<void> {
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
      await writeAt(handle, block, position);
      position += block.length;
      onBlock();
    }
    return handle;
  } catch (error) {
    await handle.close();
    return throwUnavailable(error);
  }
}

/** Writes all bytes, or throws: a disk that is almost full takes a part of them without an error. */
async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}

/** `undefined` for a missing file. */
async function readSize(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}
