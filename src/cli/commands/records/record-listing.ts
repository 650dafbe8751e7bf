/** What the commands that read the ledger for analysts share: conditions, formats, and printing as rows come. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { Ledger } from '../../../ledger/port.ts';
import type { RecordsQuery } from '../../../ledger/record-audit.ts';
import type { ListedRecord } from '../../../words/records.ts';
import { requireOwnerId } from '../../decisions/journey-action.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { type Cell, csvLine } from '../../output/csv.ts';
import { UsageError } from '../../output/errors.ts';
import { recordLines } from '../../output/inquiry-formats.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { periodOf, timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';
import { withLedger } from '../with-ledger.ts';

export interface FormatOptions extends OutputOptions {
  format?: string;
  csv?: boolean;
}

export interface PeriodOptions {
  from?: string;
  to?: string;
  timeZone?: string;
}

export interface ListingOptions extends FormatOptions, PeriodOptions {
  journey?: string;
}

const FORMATS = ['table', 'csv', 'json'] as const;
export type Format = (typeof FORMATS)[number];

export function withFormatOptions(command: Command): Command {
  return withOutputOptions(
    command
      .option('--format <format>', `${FORMATS.join(', ')} (default: table on a terminal, else json)`)
      .option('--csv', 'as --format csv, safe to be opened in a spreadsheet'),
  );
}

export function withListingOptions(command: Command): Command {
  return withFormatOptions(
    command
      .option('--from <when>', 'recorded from this day or instant on')
      .option('--to <when>', 'recorded up to this day, which is included, or before this instant')
      .option('--time-zone <name>', 'where days begin and end (default: GATEWAY_TIME_ZONE, else UTC)')
      .option('--journey <id>', 'only of this journey, of pull:<pullId>, share:<shareId> or a row of a review'),
  );
}

/** @throws UsageError where the options contradict each other */
export function formatOf({ format, csv, json }: FormatOptions): { format: Format; output: Output } {
  const known = FORMATS.find((one) => one === format);
  if (format !== undefined && !known) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
  const asked = new Set([known, csv ? 'csv' : undefined, json ? 'json' : undefined].filter((one) => one !== undefined));
  if (asked.size > 1) throw new UsageError('--format, --csv or --json, one of them');
  const [chosen = createOutput({}).isJson ? 'json' : 'table'] = asked as ReadonlySet<Format>;
  return { format: chosen, output: createOutput({ json: chosen === 'json' }) };
}

/** The period, and the owner. @throws UsageError, InvalidInputError */
export async function recordsQueryOf(options: ListingOptions): Promise<RecordsQuery> {
  const { loadTimeZone } = await import('../../../config/config.ts');
  const { journey } = options;
  if (journey !== undefined) requireOwnerId(journey, '--journey');
  return { ...periodOf(options, timeZoneOf(options) ?? loadTimeZone(process.env)), ...defined({ ownerId: journey }) };
}

interface Listing<Options extends ListingOptions> {
  name: string;
  description: string;
  /** Its own, beside those of every listing: flags and what they mean. */
  options?: readonly (readonly [flags: string, description: string])[];
  /** @param query the period and the owner */
  print(options: Options, query: RecordsQuery): Promise<void>;
}

/** Sets up a command that lists what the ledger has, with its conditions, formats and examples. */
export function registerListing<Options extends ListingOptions = ListingOptions>(
  program: Command,
  { name, description, options = [], print }: Listing<Options>,
): void {
  const command = program.command(name).description(description);
  for (const [flags, text] of options) command.option(flags, text);
  withExamples(
    withListingOptions(command),
    `credit-journey ${name} --from 2026-01-01`,
    `credit-journey ${name} --format csv`,
  );
  command.action(async (given: Options) => print(given, await recordsQueryOf(given)));
}

/** How the rows of one kind are printed. */
export interface RecordFormat<T> {
  /** The member of the JSON document; `no <name>` where there are none. */
  name: string;
  columns: Readonly<Record<string, (one: T) => Cell>>;
  document(one: T): object;
  line(one: T): ListedRecord;
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
export async function printRecords<T>(
  options: FormatOptions,
  read: (ledger: Ledger) => AsyncIterable<T>,
  record: RecordFormat<T>,
): Promise<void> {
  const { format, output } = formatOf(options);
  await withLedger((ledger) => printText(chunks(read(ledger), record, { format, width: output.width })));
}

async function* chunks<T>(
  rows: AsyncIterable<T>,
  { name, columns, document, line }: RecordFormat<T>,
  { format, width }: { format: Format; width: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(Object.keys(columns));
  if (format === 'json') yield `{"${name}":[\n`;
  let count = 0;
  for await (const one of rows) {
    if (format === 'csv') yield csvLine(Object.values(columns).map((cellOf) => cellOf(one)));
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(document(one))}`;
    else yield `${recordLines(line(one), width).join('\n')}\n`;
    count += 1;
  }
  if (format === 'json') yield '\n]}\n';
  if (format === 'table' && count === 0) yield `no ${name}\n`;
}
