/** Makes commands of the table of listings: options, table, CSV, JSON, and rows as they come. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import type { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { getErrorCode } from '../../base/error-code.ts';
import { isCalendarDate, parseInstantMs } from '../../base/instants.ts';
import { parseWith } from '../../fields/problems.ts';
import { LISTINGS } from '../../operations/listings.ts';
import type { Listing } from '../../operations/operation.ts';
import { dropMilliseconds } from '../../words/writer.ts';
import { UsageError } from '../output/errors.ts';
import { createOutput, formatRowTable, type Output, toText, withAge, wrap } from '../output/output.ts';
import { type GivenOptions, listLeaves, listSchemaMembers, type Member, readQuery } from '../output/schema-options.ts';
import type { CommandRow, Context } from './command.ts';

type ListingOptions = GivenOptions & { format?: Format; from?: string; to?: string; totals?: boolean };

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
    common: ['output'],
    examples: [`credit-journey ${name}`, `credit-journey ${name} --format csv`],
    run: (context) => printListing(listing, members, context),
  };
});

/** A period is repeated in the answer, with the zone in which its days begin and end. */
interface ToldPeriod extends Period {
  timeZone?: string;
}

async function readPeriod(options: ListingOptions): Promise<ToldPeriod> {
  if (options.from === undefined && options.to === undefined) return {};
  const { loadTimeZone } = await import('../../config/config.ts');
  const timeZone = loadTimeZone(process.env);
  return { ...parsePeriod(options, timeZone), timeZone };
}

async function printListing(
  listing: Listing,
  members: readonly Member[],
  { options, output: { isJson }, openLedger }: Context<ListingOptions>,
) {
  const told = await readPeriod(options);
  const { timeZone: _, ...period } = told;
  const conditions = parseWith(listing.input, { ...period, ...readQuery(members, options) });
  const { format = isJson ? 'json' : 'table' } = options;
  const output = createOutput({ json: format === 'json' });
  const print = options.totals ? formatTotalsText : formatRows;
  await printText(print(listing, listing.read(await openLedger(), conditions), { format, output, told }));
  return {};
}

/** Writes as fast as the reader takes it, and ends if a reader such as `head` closes early. */
async function printText(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false });
  } catch (error) {
    if (getErrorCode(error) !== 'EPIPE') throw error;
  }
}

interface Printing {
  format: Format;
  output: Output;
  told: ToldPeriod;
}

/** Keeps at most one page of the ledger in memory, and the text that the reader has not consumed yet. */
async function* formatRows(listing: Listing, rows: AsyncIterable<Row>, printing: Printing): AsyncGenerator<string> {
  const { format, output } = printing;
  const { width, colors } = output;
  const columns = toColumns(listing.output);
  const totals = listing.totals?.create();
  if (format === 'csv') yield formatCsvLine(Object.keys(columns));
  if (format === 'json') yield '{"data":[\n';
  if (format === 'table') yield formatHeading(printing);
  let count = 0;
  for await (const row of rows) {
    totals?.add(row);
    if (format === 'csv') yield formatCsvRow(columns, row);
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(row)}`;
    else yield joinLines(formatRecord(listing, row, width));
    count += 1;
  }
  if (format === 'json') yield `\n],${JSON.stringify({ hasMore: false, totals: totals?.list }).slice(1)}\n`;
  if (format !== 'table') return;
  if (count === 0) yield `no ${listing.name.replaceAll('-', ' ')}\n`;
  else if (totals) yield joinLines(['', colors.bold('Totals'), ...formatTotals(listing, totals.list, width)]);
}

async function* formatTotalsText(
  listing: Listing,
  rows: AsyncIterable<Row>,
  printing: Printing,
): AsyncGenerator<string> {
  const { format, output } = printing;
  const totals = listing.totals?.create();
  if (!listing.totals || !totals) return;
  for await (const row of rows) totals.add(row);
  const { list } = totals;
  const columns = toColumns(listing.totals.row);
  if (format === 'csv')
    yield [formatCsvLine(Object.keys(columns)), ...list.map((row) => formatCsvRow(columns, row))].join('');
  else if (format === 'json') yield `${JSON.stringify({ totals: list })}\n`;
  else yield formatHeading(printing) + joinLines(formatTotals(listing, list, output.width));
}

function formatHeading({ told: { from, before, timeZone }, output: { width, colors } }: Printing): string {
  if (timeZone === undefined) return '';
  const period = [from && `from ${dropMilliseconds(from)}`, before && `before ${dropMilliseconds(before)}`].filter(
    Boolean,
  );
  return joinLines(wrap(`Recorded ${period.join(', ')} (days in ${timeZone})`, width).map(colors.bold));
}

export function formatTotals({ name, totals }: Listing, list: readonly object[], width: number): string[] {
  return totals && list.length > 0 ? formatRowTable(list, width) : [`no ${name}`];
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** A row of at most `width` columns: its instant, and below it every other fact. */
export function formatRecord(listing: Listing, row: Row, width: number): string[] {
  const { [listing.at]: at, ...facts } = row;
  return [withAge(String(at)), ...wrap(toText(facts), width, '    ')];
}

type Cell = string | number | undefined;

export type Columns<T> = Readonly<Record<string, (row: T) => Cell>>;

/**
 * A column for each text, number and flag of the rows, in the schema's order, named by its path. A list has all of its
 * elements in one cell.
 */
export function toColumns(schema: z.ZodType): Columns<object> {
  return Object.fromEntries(
    listLeaves(schema, { inLists: true }).map(({ path }) => [
      path.join('.'),
      (row: object) => {
        const values = readValuesAt(row, path);
        if (values.length === 1 && typeof values[0] === 'number') return values[0];
        return values.every((value) => value === '') ? '' : values.map(String).join('; ');
      },
    ]),
  );
}

function readValuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === undefined || value === null) return [];
  // An element without a value keeps its place: the cells of one list fit together.
  if (Array.isArray(value)) return value.map((element) => readValuesAt(element, path).join(' '));
  const [name, ...rest] = path;
  return name === undefined ? [value] : readValuesAt((value as Record<string, unknown>)[name], rest);
}

export function formatCsvRow<T>(columns: Columns<T>, row: T): string {
  return formatCsvLine(Object.values(columns).map((cellOf) => cellOf(row)));
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
  const text = (cell ?? '').replace(/(^|[;\t\r\n"])(\s*)(?=[=+\-@＝＋－＠])/g, "$1$2'").replace(/^(?=[\t\r\n])/, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 3339 in UTC. */
export interface Period {
  /** Included. */
  from?: string;
  /** Not included. */
  before?: string;
}

const DAY_MS = 86_400_000;
/** Above the largest distance of any place's clock from UTC. */
const FARTHEST_MS = 20 * 3_600_000;

/** Keeps an instant unchanged, and includes a day for `to` as a whole. `timeZone` is an IANA name. */
export function parsePeriod({ from, to }: { from?: string; to?: string }, timeZone: string): Period {
  const fromMs = from === undefined ? undefined : parseMoment('--from', from, timeZone, 0);
  const beforeMs = to === undefined ? undefined : parseMoment('--to', to, timeZone, 1);
  if (fromMs !== undefined && beforeMs !== undefined && beforeMs <= fromMs) {
    throw new UsageError('--to must be later than --from');
  }
  const toInstant = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return omitUndefined({ from: toInstant(fromMs), before: toInstant(beforeMs) });
}

function parseMoment(option: string, text: string, timeZone: string, daysLater: number): number {
  const dayMs = parseDay(text);
  const ms = dayMs === null ? parseInstantMs(text) : findFirstMoment(dayMs + daysLater * DAY_MS, timeZone);
  if (ms !== null) return ms;
  throw new UsageError(`${option} must be a day (2026-01-31) or an instant (2026-01-31T14:00:00Z)`);
}

/** Midnight in UTC of a calendar day, or `null`. */
function parseDay(text: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return null;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return isCalendarDate(year, month, day) ? Date.UTC(year, month - 1, day) : null;
}

/** The day's first second there: not always midnight, which a change of the clocks may leave out. By bisection. */
function findFirstMoment(dayMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const day = new Date(dayMs).toISOString().slice(0, 10);
  let [beforeS, atS] = [(dayMs - FARTHEST_MS) / 1000, (dayMs + FARTHEST_MS) / 1000];
  while (atS - beforeS > 1) {
    const middleS = Math.floor((beforeS + atS) / 2);
    if (format.format(middleS * 1000) < day) beforeS = middleS;
    else atS = middleS;
  }
  return atS * 1000;
}
