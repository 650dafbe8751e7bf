/** Reads some rows of an examined file, from any place in it. */
import type { FileHandle } from 'node:fs/promises';
import type { PortfolioRow } from '../messages/portfolio/shapes.ts';
import type { PortfolioExamination } from './examine-portfolio.ts';
import { type Line, linesOf, PortfolioChangedError, PortfolioUnavailableError } from './files.ts';
import { type RowForm, readRow } from './rows.ts';

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

/** How an examined file is read again. */
type ExaminedForm = RowForm & Pick<PortfolioExamination, 'badLines'>;

/**
 * The rows from a place on, at most `limit`. The examination alone says which lines have none. This worker may have
 * other limits, or other rules: no row that was counted is passed over, and none that was reported as bad is taken.
 *
 * @throws PortfolioUnavailableError where this worker cannot read one of them
 */
export async function readRows(
  handle: FileHandle,
  { badLines, ...form }: ExaminedForm,
  { from, limit }: { from: Place; limit: number },
): Promise<RowsAtOnce> {
  const rows: PortfolioRow[] = [];
  const bad = new Set(badLines);
  let bytes = 0;
  for await (const line of linesOf(handle, from)) {
    if (rows.length >= limit || bytes >= MAX_BYTES) return { rows, next: { offset: line.offset, line: line.line } };
    const row = bad.has(line.line) ? null : rowOf(form, line);
    if (row === null) continue;
    rows.push(row);
    bytes += line.bytes?.length ?? 0;
  }
  return { rows };
}

/**
 * The rows that were found at these places before, in their order.
 *
 * @throws PortfolioChangedError where another row is there now, or none
 * @throws PortfolioUnavailableError where this worker cannot read one of them
 */
export async function readRowsAt(
  handle: FileHandle,
  form: RowForm,
  places: readonly (Place & { accountId: string })[],
): Promise<PortfolioRow[]> {
  const rows: PortfolioRow[] = [];
  for (const { accountId, offset, line } of places) {
    const row = await firstRow(handle, form, { offset, line });
    if (row?.accountId !== accountId) throw new PortfolioChangedError();
    rows.push(row);
  }
  return rows;
}

async function firstRow(handle: FileHandle, form: RowForm, place: Place): Promise<PortfolioRow | null> {
  for await (const line of linesOf(handle, place)) return rowOf(form, line);
  return null;
}

/** `null`: an empty line. */
function rowOf(form: RowForm, line: Line): PortfolioRow | null {
  const read = readRow(form, line);
  if (read && 'problems' in read) throw new PortfolioUnavailableError('ROW');
  return read?.row ?? null;
}
