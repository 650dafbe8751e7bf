/** Makes commands of the table of listings: options, table, CSV, JSON, and rows as they come. */
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import type { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { parseWith } from '../../fields/problems.ts';
import { LISTINGS, type Listing, toOperationId } from '../../operations/listings.ts';
import { UsageError } from '../output/errors.ts';
import { createOutput, formatRowTable, type Output, toText, withAge, wrap } from '../output/output.ts';
import {
  applyOptions,
  type GivenOptions,
  listLeaves,
  listSchemaMembers,
  type Member,
} from '../output/schema-options.ts';
import type { CallOptions } from './call-operation.ts';
import type { CommandRow, Context } from './command.ts';

type ListingOptions = GivenOptions & CallOptions & { format?: Format; from?: string; to?: string; totals?: boolean };

type Row = Record<string, unknown>;
type Format = (typeof FORMATS)[number];

const FORMATS = ['table', 'csv', 'json'] as const;

/** Days are a matter of the command line: `from` and `before` are its `--from` and `--to`. */
const PERIOD = ['/from', '/before'];

const PERIOD_OPTIONS = [
  ['--from <when>', 'recorded from this day (in GATEWAY_TIME_ZONE) or instant on'],
  ['--to <when>', 'recorded up to this day, which is included, or before this instant'],
] as const;

export const COMMANDS: readonly CommandRow[] = LISTINGS.map((listing) => {
  const { name, summary, input, totals } = listing;
  const members = listSchemaMembers([input]).filter(({ path }) => !PERIOD.includes(path));
  const forms = 'the form of the rows (default: table on a terminal, else json); csv is safe in a spreadsheet';
  return {
    name,
    description: summary,
    members,
    options: [
      ...(totals ? [['--totals', 'only the totals'] as const] : []),
      ...(Object.hasOwn(input.shape, 'from') ? PERIOD_OPTIONS : []),
      new Option('--format <format>', forms).choices(FORMATS),
    ],
    common: ['api', 'output'],
    examples: [`credit-journey ${name}`, `credit-journey ${name} --format csv`],
    run: (context) => printListing(listing, members, context),
  };
});

async function printListing(listing: Listing, members: readonly Member[], context: Context<ListingOptions>) {
  const {
    options,
    output: { isJson },
  } = context;
  const hasPeriod = options.from !== undefined || options.to !== undefined;
  const timeZone = hasPeriod ? (await import('../../config/config.ts')).loadTimeZone(process.env) : '';
  const conditions = applyOptions(members, options, parsePeriod(options, timeZone));
  const checked = parseWith(listing.input, conditions);
  const { format = isJson ? 'json' : 'table', totals: onlyTotals = false } = options;
  const output = createOutput({ json: format === 'json' });
  let rows: AsyncIterable<Row>;
  if (options.api === undefined) rows = listing.read(await context.openLedger(), checked);
  else {
    const { createOperations, readPages } = await import('./call-operation.ts');
    rows = readPages<Row>(createOperations(context), toOperationId(listing), conditions);
  }
  // Writes as fast as the reader takes it.
  await pipeline(formatListing(listing, rows, { format, output, onlyTotals }), process.stdout, { end: false });
  return {};
}

/** Keeps at most one page of the ledger in memory, and the text that the reader has not consumed yet. */
async function* formatListing(
  listing: Listing,
  rows: AsyncIterable<Row>,
  { format, output: { width, colors }, onlyTotals }: { format: Format; output: Output; onlyTotals: boolean },
): AsyncGenerator<string> {
  const sums = listing.totals?.create();
  const columns = toColumns(onlyTotals && listing.totals ? listing.totals.row : listing.output);
  if (format === 'csv') yield formatCsvLine(columns.map((path) => path.join('.')));
  if (format === 'json') yield onlyTotals ? '{' : '{"data":[\n';
  let count = 0;
  for await (const row of rows) {
    sums?.add(row);
    if (onlyTotals) continue;
    if (format === 'csv') yield formatCsvRow(columns, row);
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(row)}`;
    else yield joinLines(formatRecord(listing, row, width));
    count += 1;
  }
  const totals = sums?.list;
  if (format === 'csv' && onlyTotals) yield (totals ?? []).map((row) => formatCsvRow(columns, row)).join('');
  if (format === 'json') {
    const rest = JSON.stringify(onlyTotals ? { totals } : { hasMore: false, totals });
    yield `${onlyTotals ? '' : '\n],'}${rest.slice(1)}\n`;
  }
  if (format !== 'table') return;
  if (onlyTotals) yield joinLines(formatTotals(listing, totals ?? [], width));
  else if (count === 0) yield `no ${listing.name.replaceAll('-', ' ')}\n`;
  else if (totals) yield joinLines(['', colors.bold('Totals'), ...formatTotals(listing, totals, width)]);
}

export function formatTotals({ name }: Listing, list: readonly object[], width: number): string[] {
  return list.length > 0 ? formatRowTable(list, width) : [`no ${name}`];
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** A row of at most `width` columns: its instant, and below it every other fact. */
export function formatRecord(listing: Listing, row: Row, width: number): string[] {
  const { [listing.at]: at, ...facts } = row;
  return [withAge(String(at)), ...wrap(toText(facts), width, '    ')];
}

/** The path of each text, number and flag of the rows, in the schema's order. */
type Columns = readonly (readonly string[])[];

export function toColumns(schema: z.ZodType): Columns {
  const leaves = listLeaves(schema, { inLists: true });
  return [...new Map(leaves.map(({ path }) => [path.join('.'), path])).values()];
}

type Cell = string | number;

/** A list has all of its elements in one cell. */
function readCell(row: object, path: readonly string[]): Cell {
  const values = readValuesAt(row, path);
  if (values.length === 1 && typeof values[0] === 'number') return values[0];
  return values.every((value) => value === '') ? '' : values.map(String).join('; ');
}

function readValuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === undefined || value === null) return [];
  // An element without a value keeps its place: the cells of one list fit together.
  if (Array.isArray(value)) return value.map((element) => readValuesAt(element, path).join(' '));
  const [name, ...rest] = path;
  return name === undefined ? [value] : readValuesAt((value as Row)[name], rest);
}

export function formatCsvRow(columns: Columns, row: object): string {
  return formatCsvLine(columns.map((path) => readCell(row, path)));
}

/** A line of RFC 4180, with its end. */
export function formatCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(formatCsvCell).join(',')}\r\n`;
}

/**
 * Puts an apostrophe before text that a spreadsheet would take for a formula (OWASP, CSV injection). The text may begin
 * the cell, or follow blanks, or follow a character such as a semicolon, which separates cells in some countries.
 */
function formatCsvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = cell.replace(/(^|[;\t\r\n"])(\s*)(?=[=+\-@＝＋－＠])/g, "$1$2'").replace(/^(?=[\t\r\n])/, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const DAY_MS = 86_400_000;
/** Above the largest distance of any place's clock from UTC. */
const FARTHEST_MS = 20 * 3_600_000;
/** Since 1980 every place’s distance from UTC has been a multiple of it. */
const QUARTER_MS = 15 * 60_000;

/**
 * Keeps an instant unchanged, and includes a day for `to` as a whole. Returns instants in UTC; `before` is not included.
 *
 * @param timeZone an IANA name
 */
export function parsePeriod({ from, to }: { from?: string; to?: string }, timeZone: string) {
  const [first, end] = [parseMoment('--from', from, timeZone, 0), parseMoment('--to', to, timeZone, 1)];
  if (first && end && end <= first) throw new UsageError('--to must be later than --from');
  return omitUndefined({ from: first?.toISOString(), before: end?.toISOString() });
}

function parseMoment(option: string, text: string | undefined, timeZone: string, daysLater: number): Date | undefined {
  if (text === undefined) return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const ms = parseInstantMs(isDay ? `${text}T00:00:00Z` : text);
  if (ms === null) throw new UsageError(`${option} must be a day (2026-01-31) or an instant (2026-01-31T14:00:00Z)`);
  return new Date(isDay ? findFirstMoment(ms + daysLater * DAY_MS, timeZone) : ms);
}

/** The day's first second there: not always midnight, which a change of the clocks may leave out. */
function findFirstMoment(dayMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const day = new Date(dayMs).toISOString().slice(0, 10);
  let ms = dayMs - FARTHEST_MS;
  while (format.format(ms) < day) ms += QUARTER_MS;
  return ms;
}
