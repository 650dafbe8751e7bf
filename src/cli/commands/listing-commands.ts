/** Prints the listings of the table of operations as commands: options, table, CSV, JSON, and rows as they come. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { errorCode } from '../../base/error-code.ts';
import { parseWith } from '../../fields/problems.ts';
import { runName } from '../../model/run-key.ts';
import { LISTINGS } from '../../operations/listings.ts';
import type { Listing } from '../../operations/operation.ts';
import type { ListedRecord } from '../../words/records.ts';
import { inSeconds } from '../../words/writer.ts';
import { withLedger } from '../decisions/journey-action.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../output/common-options.ts';
import { columnsFor, csvLine, csvRow } from '../output/csv.ts';
import { createOutput, type Output, rowTable, withAge, wrap } from '../output/output.ts';
import { type Period, parsePeriod } from '../output/period.ts';
import {
  type Member,
  membersIn,
  namesByPath,
  optionFor,
  readQuery,
  withTypedProblems,
} from '../output/schema-options.ts';

interface ListingOptions extends OutputOptions {
  format?: Format;
  from?: string;
  to?: string;
  totals?: boolean;
  [option: string]: unknown;
}

type Row = Record<string, unknown>;
type Format = (typeof FORMATS)[number];

const FORMATS = ['table', 'csv', 'json'] as const;

/** Days are a matter of the command line: `from` and `before` are its `--from` and `--to`. */
const PERIOD = ['/from', '/before'];

export function isListing(name: string): boolean {
  return LISTINGS.some((listing) => listing.name === name);
}

export function registerListings(program: Command): void {
  for (const listing of LISTINGS) registerListing(program, listing);
}

function registerListing(program: Command, listing: Listing): void {
  const { name, summary, input, totals } = listing;
  const command = program.command(name).description(summary);
  for (const member of conditionsIn(listing)) command.addOption(optionFor(member));
  if (totals) command.option('--totals', 'only the totals');
  if (Object.hasOwn(input.shape, 'from')) {
    command
      .option('--from <when>', 'recorded from this day (in GATEWAY_TIME_ZONE) or instant on')
      .option('--to <when>', 'recorded up to this day, which is included, or before this instant');
  }
  const forms = 'the form of the rows (default: table on a terminal, else json); csv is safe in a spreadsheet';
  command.addOption(new Option('--format <format>', forms).choices(FORMATS));
  withExamples(withOutputOptions(command), `credit-journey ${name}`, `credit-journey ${name} --format csv`);
  command.action((options: ListingOptions) => printListing(listing, options));
}

function conditionsIn({ input }: Listing): Member[] {
  return membersIn([input]).filter(({ path }) => !PERIOD.includes(path));
}

/** @throws InvalidInputError with the options in place of paths */
function readConditions(listing: Listing, options: ListingOptions, period: Period): Row {
  const members = conditionsIn(listing);
  const given = { ...period, ...readQuery(members, options) };
  return withTypedProblems(namesByPath(members), options, () => parseWith(listing.input, given));
}

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

async function printListing(listing: Listing, options: ListingOptions): Promise<void> {
  const told = await readPeriod(options);
  const { timeZone: _, ...period } = told;
  const conditions = readConditions(listing, options, period);
  const { format = createOutput(options).isJson ? 'json' : 'table' } = options;
  const output = createOutput({ json: format === 'json' });
  const print = options.totals ? totalsText : rowsText;
  await withLedger((ledger) => printText(print(listing, listing.read(ledger, conditions), { format, output, told })));
}

/** Writes as fast as the reader takes it, and ends if a reader such as `head` closes early. */
async function printText(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false });
  } catch (error) {
    if (errorCode(error) !== 'EPIPE') throw error;
  }
}

interface Printing {
  format: Format;
  output: Output;
  told: ToldPeriod;
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
async function* rowsText(listing: Listing, rows: AsyncIterable<Row>, printing: Printing): AsyncGenerator<string> {
  const { format, output } = printing;
  const { width, colors } = output;
  const columns = columnsFor(listing.output);
  const totals = listing.totals?.create();
  if (format === 'csv') yield csvLine(Object.keys(columns));
  if (format === 'json') yield '{"data":[\n';
  if (format === 'table') yield heading(printing);
  let count = 0;
  for await (const row of rows) {
    totals?.add(row);
    if (format === 'csv') yield csvRow(columns, row);
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(row)}`;
    else yield linesText(recordLines(listing.describe(row), width));
    count += 1;
  }
  if (format === 'json') yield `\n],${JSON.stringify({ hasMore: false, totals: totals?.list }).slice(1)}\n`;
  if (format !== 'table') return;
  if (count === 0) yield `no ${listing.name.replaceAll('-', ' ')}\n`;
  else if (totals) yield linesText(['', colors.bold('Totals'), ...totalLines(listing, totals.list, width)]);
}

async function* totalsText(listing: Listing, rows: AsyncIterable<Row>, printing: Printing): AsyncGenerator<string> {
  const { format, output } = printing;
  const totals = listing.totals?.create();
  if (!listing.totals || !totals) return;
  for await (const row of rows) totals.add(row);
  const { list } = totals;
  const columns = columnsFor(listing.totals.row);
  if (format === 'csv') yield [csvLine(Object.keys(columns)), ...list.map((row) => csvRow(columns, row))].join('');
  else if (format === 'json') yield `${JSON.stringify({ totals: list })}\n`;
  else yield heading(printing) + linesText(totalLines(listing, list, output.width));
}

function heading({ told: { from, before, timeZone }, output: { width, colors } }: Printing): string {
  if (timeZone === undefined) return '';
  const period = [from && `from ${inSeconds(from)}`, before && `before ${inSeconds(before)}`].filter(Boolean);
  return linesText(wrap(`Recorded ${period.join(', ')} (days in ${timeZone})`, width).map(colors.bold));
}

export function totalLines({ name, totals }: Listing, list: readonly object[], width: number): string[] {
  return totals && list.length > 0 ? rowTable(list, width) : [`no ${name}`];
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** A record of the ledger, of at most `width` columns. */
export function recordLines({ at, text, by, reason, runKey, facts }: ListedRecord, width: number): string[] {
  const who = by === undefined ? [] : [`by ${by}${reason === undefined ? '' : `: ${reason}`}`];
  const [head = '', ...more] = readable(`${withAge(at)} ${text}`, width - 4, '');
  const details = [runName(runKey), ...facts, ...who].flatMap((line) => readable(line, width));
  return [head, ...more.map((line) => `    ${line}`), ...details];
}

/** Cleans text that people have written: it may hold control characters, and words longer than a line. */
function readable(text: string, width: number, indent = '    '): string[] {
  return wrap(text.replaceAll(/\p{Cc}+/gu, ' '), width, indent);
}
