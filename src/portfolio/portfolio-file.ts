/**
 * A portfolio's files. The portfolio itself is read once, from end to end, before anything is sent for it; later reads
 * take rows from any place. The results go to a file of their own.
 */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { parse } from 'csv-parse/sync';
import { isRecord } from '../base/is-record.ts';
import { parseJson, surveyJson } from '../base/json-safety.ts';
import { decodeUtf8 } from '../base/utf-8.ts';
import { parseSendableApplicants, type SendingProfile } from '../gateway/sendable-applicants.ts';
import { parseApplicants } from '../messages/inputs/parse-message.ts';
import type { PortfolioFormat } from '../messages/inputs/portfolio-review.ts';
import { MAX_BAD_ROWS, MAX_ROWS, PORTFOLIO_FAULTS } from '../messages/portfolio/limits.ts';
import {
  checkPortfolioPath,
  type PortfolioOutputs,
  RELATIVE_PATH,
  toOutputNames,
} from '../messages/portfolio/output-files.ts';
import type { PortfolioRow, RowResult } from '../messages/portfolio/shapes.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../model/opaque-id.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';

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

// The places of a portfolio's files, their errors and lines, and the check that one is still the same.

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

// A line of JSON or CSV becomes a row, or its problems.

/** How a file's lines are written. */
export interface RowForm {
  format: PortfolioFormat;
  /** For CSV: its header. */
  columns?: readonly Column[];
}

/** `null`: an empty line, which is no row. */
type ReadRow = { row: PortfolioRow } | { problems: Problem[] } | null;

/** @param profile judges the row; without it, for rows that were examined before, the row's form alone does */
export function readRow(form: RowForm, { bytes, line, offset, isTerminated }: Line, profile?: SendingProfile): ReadRow {
  if (bytes === null) return reject(`is longer than ${MAX_LINE_BYTES} bytes`);
  if (bytes.length === 0) return null;
  // A program that writes lines ends them. A last line without its end may lack more.
  if (!isTerminated) return reject('has no line end: the file may be cut off');
  const text = decodeUtf8(bytes);
  if (text === null) return reject('must be UTF-8');
  const value = form.format === 'csv' ? parseCsvValue(form.columns ?? [], text) : parseJsonValue(text);
  return 'problems' in value ? value : checkRow(value.value, { line, offset }, profile);
}

type ParsedLine = { value: Record<string, unknown> } | { problems: Problem[] };

function parseCsvValue(columns: readonly Column[], text: string): ParsedLine {
  const fields = parseCsvFields(text);
  if (!fields) return reject('has a quotation mark that is not closed, or that is in the wrong place');
  if (fields.length !== columns.length) {
    return reject(`must have ${columns.length} fields, as the header has; it has ${fields.length}`);
  }
  return { value: readCsvRow(columns, fields) };
}

function parseJsonValue(text: string): ParsedLine {
  const parsed = parseJson(text);
  if (!parsed || !isRecord(parsed[0])) return reject('must be a JSON object');
  const [repeated] = surveyJson(text, MEMBERS).repeated;
  if (repeated !== undefined) return reject(`gives the member ${repeated} twice`);
  return { value: parsed[0] };
}

function checkRow(
  value: Record<string, unknown>,
  place: { line: number; offset: number },
  profile: SendingProfile | undefined,
): ReadRow {
  const { accountId, applicants, ...others } = value;
  const problems: Problem[] = Object.keys(others).length === 0 ? [] : [{ path: '', rule: 'has unknown members' }];
  const rule = typeof accountId === 'string' ? checkOpaqueId(accountId, MAX_ID_LENGTH) : 'is required';
  if (rule) problems.push({ path: '/accountId', rule });
  try {
    const checked = profile
      ? parseSendableApplicants('report', applicants, profile)
      : parseApplicants('report', applicants);
    const row = { accountId: accountId as string, ...place, applicants: checked };
    return problems.length > 0 ? { problems } : { row };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { problems: [...problems, ...error.problems] };
  }
}

function reject(rule: string): { problems: Problem[] } {
  return { problems: [{ path: '', rule }] };
}

// Turns a line of CSV into fields, a header into columns, and fields into the row's JSON. No field holds a line break.

/**
 * The columns, and the place of each one's field in the row's JSON. One applicant, with one name, one phone and one
 * address; rows with more need JSONL.
 */
const POINTERS = {
  accountId: '/accountId',
  applicantId: '/applicants/0/applicantId',
  first: '/applicants/0/names/0/first',
  middle: '/applicants/0/names/0/middle',
  last: '/applicants/0/names/0/last',
  gen: '/applicants/0/names/0/gen',
  ssn: '/applicants/0/ssn',
  dob: '/applicants/0/dob',
  phoneNumber: '/applicants/0/phones/0/phoneNumber',
  phoneType: '/applicants/0/phones/0/phoneType',
  emailAddress: '/applicants/0/emailAddress',
  ipAddress: '/applicants/0/ipAddress',
  addressIdentifier: '/applicants/0/addresses/0/addressIdentifier',
  line1: '/applicants/0/addresses/0/line1',
  line2: '/applicants/0/addresses/0/line2',
  city: '/applicants/0/addresses/0/city',
  state: '/applicants/0/addresses/0/state',
  zip: '/applicants/0/addresses/0/zip',
  zip4: '/applicants/0/addresses/0/zip4',
} as const;

/** The members of a row that may not occur twice in its JSON. */
const MEMBERS: ReadonlySet<string> = new Set(Object.values(POINTERS).flatMap((path) => path.split('/').slice(1)));

export type Column = keyof typeof POINTERS;
export const COLUMNS = Object.keys(POINTERS) as readonly Column[];

/**
 * Members that are left out without the column, or with an empty field. `applicantId` and `addressIdentifier` have
 * defaults.
 */
const OPTIONAL: ReadonlySet<Column> = new Set([
  'applicantId',
  'middle',
  'gen',
  'phoneType',
  'addressIdentifier',
  'line2',
  'zip4',
]);

/** Returns `null` if a quotation mark is not closed or is misplaced. */
export function parseCsvFields(line: string): string[] | null {
  // Without a quotation mark a comma is the only special character of CSV.
  if (!line.includes('"')) return line.split(',');
  try {
    const records: string[][] = parse(line, { relax_column_count: true, record_delimiter: '\n' });
    return records.length === 1 && records[0] ? records[0] : null;
  } catch {
    // The error's message quotes the field.
    return null;
  }
}

/** The problems of a header. They never quote it, since a file without a header begins with a person. */
export function findHeaderProblems(fields: readonly string[]): Problem[] {
  const unknown = fields.flatMap((field, index) => (Object.hasOwn(POINTERS, field) ? [] : [index + 1]));
  const repeated = COLUMNS.filter((column) => fields.filter((field) => field === column).length > 1);
  const missing = COLUMNS.filter((column) => !OPTIONAL.has(column) && !fields.includes(column));
  const rules: [readonly unknown[], string][] = [
    [missing, `lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')} in its header`],
    [repeated, `has the columns ${repeated.join(', ')} more than once`],
    [unknown, `has columns that are not known, by their places in the header: ${unknown.slice(0, 20).join(', ')}`],
  ];
  return rules.flatMap(([columns, rule]) => (columns.length > 0 ? [{ path: '/file', rule }] : []));
}

/** The row in the form of a JSONL row, not checked yet. */
function readCsvRow(columns: readonly Column[], fields: readonly string[]): Record<string, unknown> {
  const row = { accountId: '', applicants: [{ applicantId: '1A', addresses: [{ addressIdentifier: 'C' }] }] };
  for (const [index, column] of columns.entries()) {
    const field = fields[index] ?? '';
    if (field === '' && OPTIONAL.has(column)) continue;
    setAt(row, POINTERS[column], field);
  }
  return row;
}

/** Sets the value at a pointer, and makes the objects and lists on the way. */
function setAt(row: object, pointer: string, value: string): void {
  const names = pointer.slice(1).split('/');
  let within = row as Record<string, unknown>;
  for (const [index, name] of names.entries()) {
    const next = names[index + 1];
    within[name] = next === undefined ? value : (within[name] ?? (next === '0' ? [] : {}));
    within = within[name] as Record<string, unknown>;
  }
}

/** Returns the column of a problem, if its JSON pointer belongs to a column. */
export function findColumn(pointer: string): Column | undefined {
  return COLUMNS.find((column) => POINTERS[column] === pointer);
}
