/** Turns a line of JSON or CSV into a row, or into its problems. */

import { parse } from 'csv-parse/sync';
import { isRecord } from '../base/is-record.ts';
import { parseJson, surveyJson } from '../base/json-safety.ts';
import { decodeUtf8 } from '../base/utf-8.ts';
import { parseSendableApplicants, type SendingProfile } from '../gateway/sendable-applicants.ts';
import { parseApplicants } from '../messages/inputs/parse-message.ts';
import type { PortfolioFormat } from '../messages/inputs/portfolio-review.ts';
import type { PortfolioRow } from '../messages/portfolio/shapes.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../model/opaque-id.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { type Line, MAX_LINE_BYTES } from './files.ts';

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
  const unknown = fields.flatMap((field, index) => (isColumn(field) ? [] : [index + 1]));
  const repeated = COLUMNS.filter((column) => fields.filter((field) => field === column).length > 1);
  const missing = COLUMNS.filter((column) => !OPTIONAL.has(column) && !fields.includes(column));
  const rules: [readonly unknown[], string][] = [
    [missing, `lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')} in its header`],
    [repeated, `has the columns ${repeated.join(', ')} more than once`],
    [unknown, `has columns that are not known, by their places in the header: ${unknown.slice(0, 20).join(', ')}`],
  ];
  return rules.flatMap(([columns, rule]) => (columns.length > 0 ? [{ path: '/file', rule }] : []));
}

function isColumn(text: string): text is Column {
  return Object.hasOwn(POINTERS, text);
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
