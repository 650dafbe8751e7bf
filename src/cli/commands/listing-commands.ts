/** Prints the listings of the table of operations as commands: options, table, CSV, JSON, and rows as they come. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { parseWith } from '../../fields/problems.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { runName } from '../../model/run-key.ts';
import { camelCase, type Listing } from '../../operations/operation.ts';
import { LISTINGS } from '../../operations/table.ts';
import type { ListedRecord } from '../../words/records.ts';
import { inSeconds } from '../../words/writer.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../output/common-options.ts';
import { columnsFor, csvLine, csvRow } from '../output/csv.ts';
import { UsageError } from '../output/errors.ts';
import { createOutput, type Output, table, withAge, wrap, wrapLong } from '../output/output.ts';
import { type Period, periodOf, timeZoneOf } from '../output/period.ts';
import { printText } from '../output/print-text.ts';
import { withLedger } from './with-ledger.ts';

interface ListingOptions extends OutputOptions {
  format?: string;
  csv?: boolean;
  from?: string;
  to?: string;
  timeZone?: string;
  totals?: boolean;
  [option: string]: unknown;
}

type Row = Record<string, unknown>;
type Format = (typeof FORMATS)[number];

const FORMATS = ['table', 'csv', 'json'] as const;

/** The command line's own words for fields. Every other option is its field's name in kebab-case. */
const WORDS: Readonly<Record<string, string>> = {
  runKey: 'journey',
  customerTraceNumber: 'trace',
  productCode: 'product',
  reportReferenceNumber: 'reference',
};

/** Days are a matter of the command line: `from` and `before` are its `--from` and `--to`. */
const PERIOD = ['from', 'before'];

export function registerListings(program: Command): void {
  for (const listing of LISTINGS) registerListing(program, listing);
}

function registerListing(program: Command, listing: Listing): void {
  const { name, summary, input, totals } = listing;
  const command = program.command(name).description(summary);
  for (const [field, schema] of fieldsIn(listing)) command.addOption(optionFor(field, schema));
  if (totals) command.option('--totals', 'only the totals');
  if (Object.hasOwn(input.shape, 'from')) {
    command
      .option('--from <when>', 'recorded from this day or instant on')
      .option('--to <when>', 'recorded up to this day, which is included, or before this instant')
      .option('--time-zone <name>', 'where days begin and end (default: GATEWAY_TIME_ZONE, else UTC)');
  }
  command
    .option('--format <format>', `${FORMATS.join(', ')} (default: table on a terminal, else json)`)
    .option('--csv', 'as --format csv, safe to be opened in a spreadsheet');
  withExamples(withOutputOptions(command), `credit-journey ${name}`, `credit-journey ${name} --format csv`);
  command.action((options: ListingOptions) => printListing(listing, options));
}

function fieldsIn({ input }: Listing): [field: string, schema: z.ZodType][] {
  return Object.entries(input.shape).filter(([field]) => !PERIOD.includes(field)) as [string, z.ZodType][];
}

function optionFor(field: string, schema: z.ZodType): Option {
  const { description = '', enum: values } = z.toJSONSchema(schema) as { description?: string; enum?: string[] };
  const words = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '');
  if (isFlag(values)) return new Option(flagOf(field), words);
  return new Option(`${flagOf(field)} <${field}>`, values ? `${words}: ${values.join(', ')}` : words);
}

function isFlag(values: readonly string[] | undefined): boolean {
  return values?.length === 1 && values[0] === 'true';
}

function flagOf(field: string): string {
  return `--${WORDS[field] ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** @throws InvalidInputError with the options in place of paths */
function readConditions(listing: Listing, options: ListingOptions, period: Period): Row {
  const given = fieldsIn(listing).map(([field]) => {
    const value = options[WORDS[field] ?? field];
    return [field, value === true ? 'true' : value];
  });
  try {
    return parseWith(listing.input, { ...period, ...defined(Object.fromEntries(given)) });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(
      error.problems.map((problem) => ({ ...problem, option: flagOf(problem.path.slice(1)) })),
    );
  }
}

/** @throws UsageError where the options contradict each other */
function formatOf({ format, csv, json }: ListingOptions): { format: Format; output: Output } {
  const known = FORMATS.find((one) => one === format);
  if (format !== undefined && !known) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
  const asked = new Set([known, csv ? 'csv' : undefined, json ? 'json' : undefined].filter((one) => one !== undefined));
  if (asked.size > 1) throw new UsageError('--format, --csv or --json, one of them');
  const [chosen = createOutput({}).isJson ? 'json' : 'table'] = asked as ReadonlySet<Format>;
  return { format: chosen, output: createOutput({ json: chosen === 'json' }) };
}

/** A period is repeated in the answer, with the zone in which its days begin and end. */
interface Told extends Period {
  timeZone?: string;
}

async function readPeriod(options: ListingOptions): Promise<Told> {
  const asked = timeZoneOf(options as { timeZone?: string });
  const { loadTimeZone } = await import('../../config/config.ts');
  const timeZone = asked ?? loadTimeZone(process.env);
  const period = periodOf(options, timeZone);
  return Object.keys(period).length === 0 ? {} : { ...period, timeZone };
}

async function printListing(listing: Listing, options: ListingOptions): Promise<void> {
  const told = await readPeriod(options);
  const { timeZone: _, ...period } = told;
  const conditions = readConditions(listing, options, period);
  const { format, output } = formatOf(options);
  const print = options.totals ? totalsText : rowsText;
  await withLedger((ledger) => printText(print(listing, listing.read(ledger, conditions), { format, output, told })));
}

interface Printing {
  format: Format;
  output: Output;
  told: Told;
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
async function* rowsText(listing: Listing, rows: AsyncIterable<Row>, printing: Printing): AsyncGenerator<string> {
  const { format, output, told } = printing;
  const { width, colors } = output;
  const name = camelCase(listing.name);
  const columns = columnsFor(listing.output);
  const totals = listing.totals?.create();
  if (format === 'csv') yield csvLine(Object.keys(columns));
  if (format === 'json') yield `${JSON.stringify({ ...told, [name]: [] }).slice(0, -2)}\n`;
  if (format === 'table') yield heading(printing);
  let count = 0;
  for await (const row of rows) {
    totals?.add(row);
    if (format === 'csv') yield csvRow(columns, row);
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(asDocument(row))}`;
    else yield linesText(recordLines(listing.describe(row), width));
    count += 1;
  }
  if (format === 'json') yield totals ? `\n],${JSON.stringify({ totals: totals.list }).slice(1)}\n` : '\n]}\n';
  if (format !== 'table') return;
  if (count === 0) yield `no ${listing.name.replaceAll('-', ' ')}\n`;
  else if (totals) yield linesText(['', colors.bold('Totals'), ...totalLines(listing, totals.list, width)]);
}

async function* totalsText(listing: Listing, rows: AsyncIterable<Row>, printing: Printing): AsyncGenerator<string> {
  const { format, output, told } = printing;
  const totals = listing.totals?.create();
  if (!listing.totals || !totals) return;
  for await (const row of rows) totals.add(row);
  const { list } = totals;
  const columns = columnsFor(listing.totals.row);
  if (format === 'csv') yield [csvLine(Object.keys(columns)), ...list.map((one) => csvRow(columns, one))].join('');
  else if (format === 'json') yield `${JSON.stringify({ ...told, totals: list })}\n`;
  else yield heading(printing) + linesText(totalLines(listing, list, output.width));
}

function heading({ told: { from, before, timeZone }, output: { width, colors } }: Printing): string {
  if (timeZone === undefined) return '';
  const period = [from && `from ${inSeconds(from)}`, before && `before ${inSeconds(before)}`].filter(Boolean);
  return linesText(wrap(`Recorded ${period.join(', ')} (days in ${timeZone})`, width).map(colors.bold));
}

/** A table of the totals. Texts come last, since a name may be long. */
export function totalLines({ name, totals }: Listing, list: readonly object[], width: number): string[] {
  if (!totals || list.length === 0) return [`no ${name}`];
  const [first, ...others] = Object.entries(columnsFor(totals.row));
  if (!first) return [];
  const isText = ([member]: [string, unknown]) => totals.row.shape[member] instanceof z.ZodExactOptional;
  const columns = [first, ...others.filter((one) => !isText(one)), ...others.filter(isText)];
  const head = columns.map(([member]) => member.replace(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase());
  return table([head, ...list.map((one) => columns.map(([, read]) => String(read(one) ?? '')))], width);
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Renames `runKey` to `journeyId`, its name everywhere on the command line. For a pull it is `pull:<pullId>`. */
function asDocument(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asDocument);
  if (typeof value !== 'object' || value === null) return value;
  const { runKey, ...others } = value as Row;
  const members = Object.entries(others).map(([name, member]) => [name, asDocument(member)]);
  return { ...(runKey === undefined ? {} : { journeyId: runKey }), ...Object.fromEntries(members) };
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
  return wrapLong(text.replaceAll(/\p{Cc}+/gu, ' '), width, indent);
}
