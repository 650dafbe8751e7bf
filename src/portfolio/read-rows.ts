/** Reads some rows of an examined file, from any place in it. */
import type { FileHandle } from 'node:fs/promises';
import type { PortfolioRow } from '../messages/portfolio/shapes.ts';
import { PortfolioChangedError } from './errors.ts';
import { type Line, linesOf } from './lines.ts';
import { type RowReader, readRow } from './rows.ts';

export interface Place {
  offset: number;
  line: number;
}

/** Rows are encrypted and in a history, twice each: far below the 2 MB that Temporal takes at once. */
const MAX_BYTES = 256 * 1024;

interface RowsAtOnce {
  rows: PortfolioRow[];
  /** Where the next rows begin; absent at the file's end. */
  next?: Place;
}

/** The valid rows from a place on, at most `limit`. Bad rows were reported when the file was examined. */
export async function readRows(
  handle: FileHandle,
  reader: RowReader,
  { from, limit }: { from: Place; limit: number },
): Promise<RowsAtOnce> {
  const rows: PortfolioRow[] = [];
  let bytes = 0;
  for await (const line of linesOf(handle, from)) {
    if (rows.length >= limit || bytes >= MAX_BYTES) return { rows, next: { offset: line.offset, line: line.line } };
    const read = readRow(reader, line);
    if (read === null || 'problems' in read) continue;
    rows.push(read.row);
    bytes += line.bytes?.length ?? 0;
  }
  return { rows };
}

/**
 * The rows that were found at these places before, in their order.
 *
 * @throws PortfolioChangedError where another row is there now
 */
export async function readRowsAt(
  handle: FileHandle,
  reader: RowReader,
  places: readonly (Place & { accountId: string })[],
): Promise<PortfolioRow[]> {
  const rows: PortfolioRow[] = [];
  for (const { accountId, offset, line } of places) {
    const read = await firstRow(handle, reader, { offset, line });
    if (read?.accountId !== accountId) throw new PortfolioChangedError();
    rows.push(read);
  }
  return rows;
}

async function firstRow(handle: FileHandle, reader: RowReader, place: Place): Promise<PortfolioRow | undefined> {
  for await (const line of linesOf(handle, place)) return rowOf(reader, line);
  return undefined;
}

function rowOf(reader: RowReader, line: Line): PortfolioRow | undefined {
  const read = readRow(reader, line);
  return read && 'row' in read ? read.row : undefined;
}
