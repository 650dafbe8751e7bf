/** Reads a portfolio file once, from end to end, before anything is sent for it. Later reads rows from any place. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
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
import {
  type Column,
  csvFields,
  findColumn,
  headerProblems,
  type RowForm,
  type RowProfile,
  readRow,
  utf8,
} from './rows.ts';

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
  first: { offset: number; line: number };
}

export interface ExaminePortfolioOptions {
  format: PortfolioFormat;
  profile: RowProfile;
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
  options: ExaminePortfolioOptions,
): Promise<PortfolioExamination> {
  const mark = await readMark(handle);
  const report = await BadRowsReport.begin(options.badRowsPath);
  try {
    const found = await examineLines(handle, options, report);
    if (!isSameMark(mark, await readMark(handle))) throw new PortfolioChangedError();
    await report.finish();
    refuseWhere(found.rows === 0, 'has no row that could be sent');
    const { maxBadRows } = options;
    refuseWhere(
      report.count > maxBadRows,
      `has ${report.count} bad rows, more than the ${maxBadRows} that are allowed`,
    );
    return { ...found, mark, badRows: report.count, badLines: report.lines };
  } catch (error) {
    await report.discard();
    throw error;
  }
}

async function examineLines(
  handle: FileHandle,
  options: ExaminePortfolioOptions,
  report: BadRowsReport,
): Promise<Omit<PortfolioExamination, 'mark' | 'badRows' | 'badLines'>> {
  const { format, profile } = options;
  const hash = createHash('sha256');
  const ids = new Map<string, number>();
  const duplicates = new Set<number>();
  let form: RowForm | undefined;
  let first = { offset: 0, line: 1 };
  let total = 0;
  const onBlock = (block: Buffer) => {
    hash.update(block);
    options.onBlock();
  };
  for await (const found of readLines(handle, { offset: 0, line: 1, onBlock })) {
    const line = total++ === 0 ? withoutMark(found) : found;
    if (!form) {
      form = { format, ...(format === 'csv' ? { columns: parseHeader(line) } : {}) };
      first = format === 'csv' ? { offset: line.nextOffset, line: 2 } : { offset: line.offset, line: 1 };
      if (format === 'csv') continue;
    }
    const read = readRow(form, line, profile);
    if (read === null) continue;
    if ('problems' in read) {
      await report.add(line.line, read.problems, format);
      continue;
    }
    const { accountId } = read.row;
    const before = ids.get(accountId);
    if (before === undefined) {
      refuseWhere(ids.size >= MAX_ROWS, `has more than ${MAX_ROWS} rows: make several files of it`);
      ids.set(accountId, line.line);
      continue;
    }
    // The right one of the two cannot be determined here.
    for (const number of [before, line.line]) {
      if (duplicates.has(number)) continue;
      duplicates.add(number);
      const other = number === before ? line.line : before;
      await report.add(number, [{ path: '/accountId', rule: `is that of line ${other} too` }], format);
    }
    refuseWhere(duplicates.size > MAX_DUPLICATES, `has more than ${MAX_DUPLICATES} rows with the id of another`);
  }
  refuseWhere(total === 0, 'is empty');
  return {
    digest: hash.digest('hex'),
    rows: total === 0 ? 0 : ids.size - [...ids.values()].filter((line) => duplicates.has(line)).length,
    ...(form?.columns ? { columns: [...form.columns] } : {}),
    first,
  };
}

/** Ends the reading of a file that repeats its ids throughout. */
const MAX_DUPLICATES = 10_000;

function withoutMark(line: Line): Line {
  const { bytes, offset } = line;
  if (!bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK)) return line;
  return { ...line, bytes: bytes.subarray(3), offset: offset + 3 };
}

function parseHeader({ bytes, isTerminated }: Line): Column[] {
  if (bytes === null) throw createRefusal('begins with a line that is no header: it is too long');
  const text = utf8(bytes);
  if (text === null) throw createRefusal('must be UTF-8');
  const fields = csvFields(text);
  if (!fields) throw createRefusal('has a header with a quotation mark that is not closed');
  const problems = headerProblems(fields);
  if (problems.length > 0) throw new InvalidInputError(problems);
  if (!isTerminated) throw createRefusal('has a header and no rows');
  return fields as Column[];
}

function refuseWhere(isWrong: boolean, rule: string): void {
  if (isWrong) throw createRefusal(rule);
}

/** Written to a temporary file and renamed: a reader always finds a complete report. */
class BadRowsReport {
  readonly #path: string;
  readonly #handle: FileHandle;
  #unwritten: string[] = [];
  count = 0;
  /** Complete for each file that may be sent: the workflow carries them from run to run. */
  readonly lines: number[] = [];

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  static async begin(path: string): Promise<BadRowsReport> {
    try {
      await rm(temporary(path), { force: true });
      return new BadRowsReport(path, await open(temporary(path), 'wx', 0o600));
    } catch (error) {
      return throwUnavailable(error);
    }
  }

  async add(line: number, problems: readonly Problem[], format: PortfolioFormat): Promise<void> {
    this.count++;
    if (this.lines.length < MAX_BAD_ROWS) this.lines.push(line);
    const told = problems.map(({ path, rule }) => {
      const column = format === 'csv' ? findColumn(path) : undefined;
      return { path, ...(column === undefined ? {} : { column }), rule };
    });
    this.#unwritten.push(`${JSON.stringify({ line, problems: told })}\n`);
    if (this.#unwritten.length >= 1_000) await this.#write();
  }

  /** A file without bad rows leaves no report, and removes an earlier run's report. */
  async finish(): Promise<void> {
    try {
      await this.#write();
      await this.#handle.sync();
      await this.#handle.close();
      if (this.count > 0) await rename(temporary(this.#path), this.#path);
      else await Promise.all([temporary(this.#path), this.#path].map((path) => rm(path, { force: true })));
    } catch (error) {
      return throwUnavailable(error);
    }
  }

  /** A finished report remains, since it says why the file is refused. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(temporary(this.#path), { force: true }).catch(() => undefined);
  }

  async #write(): Promise<void> {
    const text = this.#unwritten.join('');
    this.#unwritten = [];
    await this.#handle.writeFile(text).catch(throwUnavailable);
  }
}

function temporary(path: string): string {
  return `${path}.tmp`;
}

export interface Place {
  offset: number;
  line: number;
}

/** A history contains each row twice, encrypted: this is far below the 2 MB that Temporal takes at once. */
const MAX_BYTES = 256 * 1024;

interface RowsAtOnce {
  rows: PortfolioRow[];
  /** The place of the next rows; absent at the file's end. */
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
  for await (const line of readLines(handle, from)) {
    if (rows.length >= limit || bytes >= MAX_BYTES) return { rows, next: { offset: line.offset, line: line.line } };
    const row = bad.has(line.line) ? null : parseRow(form, line);
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
  for await (const line of readLines(handle, place)) return parseRow(form, line);
  return null;
}

/** `null`: an empty line. */
function parseRow(form: RowForm, line: Line): PortfolioRow | null {
  const read = readRow(form, line);
  if (read && 'problems' in read) throw new PortfolioUnavailableError('ROW');
  return read?.row ?? null;
}
