/** Reads a file line by line from any byte, with a limit on everything: memory holds at most one block of it. */
import type { FileHandle } from 'node:fs/promises';
import { portfolioUnavailable } from './errors.ts';

/** Far above any row of table 2.3 with several applicants. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Some 200 rows: few enough that a worker's other work does not wait for them. */
const BLOCK_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface Line {
  /** Without its line end; `null` where it is longer than {@link MAX_LINE_BYTES}. */
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
  /** Where the first line begins. */
  offset: number;
  line: number;
  /** Called with each block of the file in order, for example to digest it. */
  onBlock?: (block: Buffer) => void;
}

/** @throws PortfolioUnavailableError */
export async function* linesOf(handle: FileHandle, options: LinesOptions): AsyncGenerator<Line> {
  let { offset, line } = options;
  let position = offset;
  /** The part of the line that has been read, unless it is too long to be kept. */
  let kept: Buffer[] = [];
  let keptBytes = 0;
  for await (const block of blocksOf(handle, offset)) {
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
export async function* blocksOf(handle: FileHandle, offset = 0): AsyncGenerator<Buffer> {
  for (let position = offset; ; ) {
    const block = await read(handle, position);
    if (block.length === 0) return;
    yield block;
    position += block.length;
  }
}

function whole(kept: Buffer[], keptBytes: number): Buffer | null {
  if (keptBytes > MAX_LINE_BYTES) return null;
  const [first] = kept;
  const bytes = kept.length === 1 && first ? first : Buffer.concat(kept);
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}

async function read(handle: FileHandle, position: number): Promise<Buffer> {
  // A new buffer each time: lines are views of it.
  const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  try {
    const { bytesRead } = await handle.read(buffer, 0, BLOCK_BYTES, position);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw portfolioUnavailable(error);
  }
}
