/**
 * Turns a line of CSV into fields, a header into columns, and fields into the row's JSON. No field holds a line break.
 */
import { parse } from 'csv-parse/sync';
import type { Problem } from '../model/problems.ts';

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

export type Column = keyof typeof POINTERS;
export const COLUMNS = Object.keys(POINTERS) as readonly Column[];

/**
 * Without the column, or with an empty field, the member is left out. `applicantId` and `addressIdentifier` have
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

/** `null` where a quotation mark is not closed, or stands in a wrong place. */
export function csvFields(line: string): string[] | null {
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

/** The problems of a header. Its words are never repeated, since a file without a header begins with a person. */
export function headerProblems(fields: readonly string[]): Problem[] {
  const unknown = fields.flatMap((field, index) => (isColumn(field) ? [] : [index + 1]));
  const repeated = COLUMNS.filter((column) => fields.filter((field) => field === column).length > 1);
  const missing = COLUMNS.filter((column) => !OPTIONAL.has(column) && !fields.includes(column));
  const problem = (rule: string) => ({ path: '/file', rule });
  return [
    ...(missing.length > 0
      ? [problem(`lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')} in its header`)]
      : []),
    ...(repeated.length > 0 ? [problem(`has the columns ${repeated.join(', ')} more than once`)] : []),
    ...(unknown.length > 0
      ? [problem(`has columns that are not known, by their places in the header: ${unknown.slice(0, 20).join(', ')}`)]
      : []),
  ];
}

function isColumn(text: string): text is Column {
  return Object.hasOwn(POINTERS, text);
}

/** The row in the form of a JSONL row, not checked yet. */
export function csvRow(columns: readonly Column[], fields: readonly string[]): Record<string, unknown> {
  const of = new Map(columns.map((column, index) => [column, fields[index] ?? '']));
  const object = (...names: Column[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const field = of.get(name) ?? '';
        return field === '' && OPTIONAL.has(name) ? [] : [[name, field]];
      }),
    );
  return {
    accountId: of.get('accountId') ?? '',
    applicants: [
      {
        applicantId: '1A',
        ...object('applicantId', 'ssn', 'dob', 'emailAddress', 'ipAddress'),
        names: [object('first', 'middle', 'last', 'gen')],
        phones: [object('phoneNumber', 'phoneType')],
        addresses: [
          { addressIdentifier: 'C', ...object('addressIdentifier', 'line1', 'line2', 'city', 'state', 'zip', 'zip4') },
        ],
      },
    ],
  };
}

/** The column of a problem, where its JSON pointer belongs to a column. */
export function columnOf(pointer: string): Column | undefined {
  return COLUMNS.find((column) => POINTERS[column] === pointer);
}
