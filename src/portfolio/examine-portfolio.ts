/** Reads a portfolio file once, from end to end, before anything is sent for it. Later reads rows from any place. */

import { createHash } from 'node:crypto';
import { type FileHandle, rename, rm, writeFile } from 'node:fs/promises';
import { decodeUtf8 } from '../base/utf-8.ts';
import type { SendingProfile } from '../gateway/sendable-applicants.ts';
import type { PortfolioFormat } from '../messages/inputs/portfolio-review.ts';
import { MAX_BAD_ROWS, MAX_ROWS } from '../messages/portfolio/limits.ts';
import type { PortfolioRow } from '../messages/portfolio/shapes.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import {
  createRefusal,
  type FileMark,
  isSameMark,
  type Line,
  PortfolioChangedError,
  PortfolioUnavailableError,
  readLines,
  readMark,
  throwUnavailable,
} from './files.ts';
import { type Column, findColumn, findHeaderProblems, parseCsvFields, type RowForm, readRow } from './rows.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface PortfolioExamination {
  /** SHA-256, in hexadecimal. */
  digest: string;
  mark: FileMark;
  /** The number of valid rows. */
  rows: number;
  badRows: number;
  /** The lines of the bad rows. Later readings take no row from them; each other line has one or is empty. */
  badLines: number[];
  /** For CSV. */
  columns?: Column[];
  /** The place of the first row. */
  first: Place;
}

export interface Place {
  offset: number;
  line: number;
}

export interface ExaminePortfolioOptions {
  format: PortfolioFormat;
  profile: SendingProfile;
  maxBadRows: number;
  /** The path of the report on bad rows: lines, pointers and rules, never values. */
  badRowsPath: string;
  /** Called after each block of the file. */
  onBlock: () => void;
}

/**
 * @throws InvalidInputError where nothing may be sent for such a file; PortfolioChangedError where another process
 * writes to it meanwhile; PortfolioUnavailableError
 */
export async function examinePortfolio(
  handle: FileHandle,
  { maxBadRows, badRowsPath, ...options }: ExaminePortfolioOptions,
): Promise<PortfolioExamination> {
  const mark = await readMark(handle);
  const { bad, ...found } = await examineLines(handle, options);
  if (!isSameMark(mark, await readMark(handle))) throw new PortfolioChangedError();
  // Also for a file that is refused: the report says why.
  await writeBadRows(badRowsPath, bad).catch(throwUnavailable);
  refuseWhere(bad.length > MAX_BAD_ROWS, `has more than ${MAX_BAD_ROWS} bad rows`);
  refuseWhere(found.rows === 0, 'has no row that could be sent');
  refuseWhere(bad.length > maxBadRows, `has ${bad.length} bad rows, more than the ${maxBadRows} that are allowed`);
  return { ...found, mark, badRows: bad.length, badLines: bad.map(({ line }) => line) };
}

/** A line of the report: pointers, columns and rules, never values. */
interface BadRow {
  line: number;
  problems: (Problem & { column?: Column })[];
}

async function examineLines(
  handle: FileHandle,
  { format, profile, onBlock }: Omit<ExaminePortfolioOptions, 'maxBadRows' | 'badRowsPath'>,
): Promise<Pick<PortfolioExamination, 'digest' | 'rows' | 'columns' | 'first'> & { bad: BadRow[] }> {
  const hash = createHash('sha256');
  const ids = new Map<string, number>();
  const duplicates = new Set<number>();
  const bad: BadRow[] = [];
  const report = (line: number, problems: readonly Problem[]) => {
    const toColumn = (path: string) => (format === 'csv' ? findColumn(path) : undefined);
    bad.push({ line, problems: problems.map(({ path, rule }) => ({ path, column: toColumn(path), rule })) });
  };
  let form: RowForm | undefined;
  let first = { offset: 0, line: 1 };
  let total = 0;
  const readBlock = (block: Buffer) => {
    hash.update(block);
    onBlock();
  };
  for await (const found of readLines(handle, { offset: 0, line: 1, onBlock: readBlock })) {
    const line = total++ === 0 ? withoutMark(found) : found;
    if (!form) {
      const columns = format === 'csv' ? parseHeader(line) : undefined;
      form = { format, columns };
      first = columns ? { offset: line.nextOffset, line: 2 } : { offset: line.offset, line: 1 };
      if (columns) continue;
    }
    // The review sends nothing for such a file, so the rest need not be read.
    if (bad.length > MAX_BAD_ROWS) break;
    const read = readRow(form, line, profile);
    if (read === null) continue;
    if ('problems' in read) {
      report(line.line, read.problems);
      continue;
    }
    const { accountId } = read.row;
    const before = ids.get(accountId);
    if (before === undefined) {
      refuseWhere(ids.size >= MAX_ROWS, `has more than ${MAX_ROWS} rows: split it into several files`);
      ids.set(accountId, line.line);
      continue;
    }
    // The right one of the two cannot be determined here.
    for (const number of [before, line.line]) {
      if (duplicates.has(number)) continue;
      duplicates.add(number);
      const other = number === before ? line.line : before;
      report(number, [{ path: '/accountId', rule: `is also that of line ${other}` }]);
    }
  }
  refuseWhere(total === 0, 'is empty');
  return {
    digest: hash.digest('hex'),
    rows: ids.size - [...ids.values()].filter((line) => duplicates.has(line)).length,
    columns: form?.columns && [...form.columns],
    first,
    bad,
  };
}

/** Written to a temporary file and renamed: a reader always finds a complete report. A file without bad rows has none. */
async function writeBadRows(path: string, bad: readonly BadRow[]): Promise<void> {
  const temporary = `${path}.tmp`;
  await Promise.all([temporary, path].map((name) => rm(name, { force: true })));
  if (bad.length === 0) return;
  const text = bad.map((row) => `${JSON.stringify(row)}\n`).join('');
  await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(temporary, path);
}

function withoutMark(line: Line): Line {
  const { bytes, offset } = line;
  if (!bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK)) return line;
  return { ...line, bytes: bytes.subarray(3), offset: offset + 3 };
}

function parseHeader({ bytes, isTerminated }: Line): Column[] {
  if (bytes === null) throw createRefusal('begins with a line that is too long for a header');
  const text = decodeUtf8(bytes);
  if (text === null) throw createRefusal('must be UTF-8');
  const fields = parseCsvFields(text);
  if (!fields) throw createRefusal('has a header with a quotation mark that is not closed');
  const problems = findHeaderProblems(fields);
  if (problems.length > 0) throw new InvalidInputError(problems);
  if (!isTerminated) throw createRefusal('has a header and no rows');
  return fields as Column[];
}

function refuseWhere(isWrong: boolean, rule: string): void {
  if (isWrong) throw createRefusal(rule);
}

/** A history contains each row twice, encrypted: this is far below the 2 MB that Temporal takes at once. */
const MAX_BYTES = 256 * 1024;

/** How an examined file is read again. */
type ExaminedForm = RowForm & Pick<PortfolioExamination, 'badLines'>;

/**
 * The rows from a place on, at most `limit`. The examination alone says which lines have none. This worker may have
 * other limits, or other rules: no row that was counted is passed over, and none that was reported as bad is taken.
 *
 * @param options `onBlock`: called after each block of the file, of which a line without a row may have any number
 * @returns `next`: the place of the next rows; absent at the file's end
 * @throws PortfolioUnavailableError where this worker cannot read one of them
 */
export async function readRows(
  handle: FileHandle,
  { badLines, ...form }: ExaminedForm,
  { from, limit, onBlock }: { from: Place; limit: number; onBlock?: () => void },
): Promise<{ rows: PortfolioRow[]; next?: Place }> {
  const rows: PortfolioRow[] = [];
  const bad = new Set(badLines);
  let bytes = 0;
  for await (const line of readLines(handle, { ...from, onBlock })) {
    if (rows.length >= limit || bytes >= MAX_BYTES) return { rows, next: { offset: line.offset, line: line.line } };
    const read = bad.has(line.line) ? null : readRow(form, line);
    if (read === null) continue;
    if ('problems' in read) throw new PortfolioUnavailableError('ROW');
    rows.push(read.row);
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
  form: ExaminedForm,
  places: readonly (Place & { accountId: string })[],
): Promise<PortfolioRow[]> {
  const rows: PortfolioRow[] = [];
  for (const { accountId, offset, line } of places) {
    const { rows: found } = await readRows(handle, form, { from: { offset, line }, limit: 1 });
    const [row] = found;
    if (row?.accountId !== accountId || row.line !== line) throw new PortfolioChangedError();
    rows.push(row);
  }
  return rows;
}
