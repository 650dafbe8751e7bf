/** The commands that list what the ledger recorded: decisions, consents, shares, disposals and accesses. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { Ledger } from '../../../ledger/port.ts';
import type { AuditedAccess } from '../../../ledger/reading.ts';
import type {
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShareWithdrawal,
  RecordsQuery,
} from '../../../ledger/record-audit.ts';
import type { AuditedShare } from '../../../ledger/share-audit.ts';
import { runName } from '../../../model/owner-id.ts';
import {
  describeAccess,
  describeConsent,
  describeDecision,
  describeDisposal,
  describeShare,
  describeShareWithdrawal,
  type ListedRecord,
} from '../../../words/records.ts';
import { requireOwnerId } from '../../decisions/journey-action.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { type Columns, columnsFor, csvLine, csvRow } from '../../output/csv.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput, type Output, withAge, wrapLong } from '../../output/output.ts';
import { periodOf, timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';
import { withLedger } from '../with-ledger.ts';

interface DecisionsOptions extends ListingOptions {
  trace?: string;
  by?: string;
}

export function registerDecisionsCommand(program: Command): void {
  registerListing<DecisionsOptions>(program, {
    name: 'decisions',
    description: 'who decided what about which inquiry or run, when and why, from the ledger',
    options: [
      ['--trace <customerTraceNumber>', 'only about this inquiry'],
      ['--by <name>', 'only by this person, as it was written'],
    ],
    print: ({ trace, by, ...options }, period) => {
      const query = { ...period, ...defined({ customerTraceNumber: trace, by }) };
      return printRecords(options, (ledger) => ledger.decisionsBetween(query), DECISIONS);
    },
  });
}

const DECISIONS: RecordFormat<AuditedDecision> = {
  name: 'decisions',
  columns: columnsFor<AuditedDecision>(
    ['recordedAt', 'decidedAt', 'decisionId', 'action', 'by', 'reason', 'providerSaid', 'failureType'],
    { journeyId: (one) => one.ownerId },
    ['customerTraceNumber', 'attempt', 'productCode', 'shareId', 'endUserCode', 'endUser', 'profile'],
    ['provenBy', 'until'],
  ),
  document: underJourneyId,
  line: describeDecision,
};

interface ConsentsOptions extends ListingOptions {
  proofs?: boolean;
}

export function registerConsentsCommand(program: Command): void {
  registerListing<ConsentsOptions>(program, {
    name: 'consents',
    description:
      'who granted or refused what, when and with which evidence, from the ledger; also where nothing was posted',
    options: [['--proofs', 'with the proofs (compact JWS) that consent systems have signed, in CSV and JSON']],
    print: (options, query) =>
      printRecords(options, (ledger) => ledger.consentsBetween(query), options.proofs ? WITH_PROOFS : CONSENTS),
  });
}

const CONSENTS: RecordFormat<AuditedConsent> = {
  name: 'consents',
  columns: columnsFor<AuditedConsent>(
    ['recordedAt', 'decidedAt', 'receivedAt', 'journeyId', 'shareId', 'applicantId', 'consentId'],
    ['decision', 'endUserCode', 'endUser'],
    {
      method: (one) => one.evidence?.method,
      textVersion: (one) => one.evidence?.textVersion,
      capturedAt: (one) => one.evidence?.capturedAt,
      reference: (one) => one.evidence?.reference,
      hasProof: (one) => String(one.proof !== undefined),
    },
    ['permittedAttempts', 'unmatched'],
  ),
  document: ({ proof, ...one }) => ({ ...one, hasProof: proof !== undefined }),
  line: describeConsent,
};

/** A proof's content is the consent system's, and long: it is printed on demand. */
const WITH_PROOFS: RecordFormat<AuditedConsent> = {
  ...CONSENTS,
  columns: { ...CONSENTS.columns, proof: (one) => one.proof },
  document: (one) => ({ ...one, hasProof: one.proof !== undefined }),
};

interface SharesOptions extends ListingOptions {
  report?: string;
  endUser?: string;
  withdrawn?: boolean;
}

/** `ownerId` is called `journeyId` here as everywhere on the command line. */
function shareDocument({ ownerId, report, ...one }: AuditedShare): object {
  const { ownerId: reportOwnerId, ...rest } = report ?? {};
  return { journeyId: ownerId, ...one, report: report ? { journeyId: reportOwnerId, ...rest } : null };
}

const SHARES: RecordFormat<AuditedShare> = {
  name: 'shares',
  columns: columnsFor<AuditedShare>(
    ['claimedAt', 'requestedAt', 'posted', 'sharedBy', 'endUserCode', 'endUser', 'permissiblePurposeCode'],
    { journeyId: (one) => one.ownerId },
    ['shareId', 'customerTraceNumber', 'attempt'],
    {
      reportJourneyId: (one) => one.report?.ownerId,
      reportProductCode: (one) => one.report?.productCode,
      reportTraceNumber: (one) => one.report?.customerTraceNumber,
      consents: (one) => one.consents.map((consent) => `${consent.applicantId} ${consent.consentId}`).join('; '),
      consentsDecidedAt: (one) => one.consents.map(({ decidedAt }) => decidedAt).join('; '),
      evidence: (one) => one.consents.map(({ evidence }) => evidence?.reference ?? '').join('; '),
    },
    ['outcome', 'customerId', 'profile', 'environment'],
  ),
  document: shareDocument,
  line: describeShare,
};

const WITHDRAWN: RecordFormat<AuditedShareWithdrawal> = {
  name: 'withdrawn',
  columns: columnsFor<AuditedShareWithdrawal>(['recordedAt'], { journeyId: (one) => one.ownerId }, [
    'shareId',
    'replacedBy',
    'by',
    'reason',
  ]),
  document: underJourneyId,
  line: describeShareWithdrawal,
};

export function registerSharesCommand(program: Command): void {
  registerListing<SharesOptions>(program, {
    name: 'shares',
    description: 'who shared what with whom, when and under whose consent, from the ledger',
    options: [
      ['--report <report>', 'only of this report: its reference, or the trace number of its inquiry'],
      ['--end-user <name>', 'only shared by or with this end user, by code or name'],
      ['--withdrawn', 'in their place the shares that were withdrawn before they were sent: who, when and why'],
    ],
    print: async (options, period) => {
      const { report, endUser, withdrawn } = options;
      if (withdrawn && (report ?? endUser) !== undefined)
        throw new UsageError('--withdrawn goes without --report and --end-user');
      if (withdrawn) return printRecords(options, (ledger) => ledger.withdrawnSharesBetween(period), WITHDRAWN);
      const query = { ...period, ...defined({ report, endUser }) };
      return printRecords(options, (ledger) => ledger.sharesBetween(query), SHARES);
    },
  });
}

export function registerDisposalsCommand(program: Command): void {
  registerListing(program, {
    name: 'disposals',
    description: 'who disposed of what, and who set or released legal holds, when and why, from the ledger',
    print: (options, query) => printRecords(options, (ledger) => ledger.disposalsBetween(query), DISPOSALS),
  });
}

const DISPOSALS: RecordFormat<AuditedDisposal> = {
  name: 'disposals',
  columns: columnsFor<AuditedDisposal>(
    ['recordedAt', 'kind'],
    { journeyId: (one) => one.ownerId },
    ['productCode', 'by', 'reason'],
    {
      inquiries: (one) => one.details?.inquiries,
      reports: (one) => one.details?.reports,
      runs: (one) => one.details?.runs,
    },
    ['matter'],
    {
      workflowId: (one) => one.run?.workflowId,
      runId: (one) => one.run?.runId,
    },
  ),
  document: underJourneyId,
  line: describeDisposal,
};

export function registerAccessesCommand(program: Command): void {
  registerListing<ListingOptions & { trace?: string; by?: string }>(program, {
    name: 'accesses',
    description: 'who read which report, when, and for which purpose, from the ledger',
    options: [
      ['--trace <customerTraceNumber>', 'only of this inquiry'],
      ['--by <name>', 'only by this reader'],
    ],
    print: ({ trace, by, ...options }, period) => {
      const query = { ...period, ...defined({ customerTraceNumber: trace, by }) };
      return printRecords(options, (ledger) => ledger.reading.accessesBetween(query), ACCESSES);
    },
  });
}

const ACCESSES: RecordFormat<AuditedAccess> = {
  name: 'accesses',
  columns: columnsFor<AuditedAccess>(
    ['recordedAt', 'kind'],
    { journeyId: (one) => one.ownerId },
    ['customerTraceNumber', 'attempt', 'productCode', 'endUserCode', 'endUser', 'by', 'via', 'purpose'],
    { redacted: (one) => String(one.redacted) },
    ['accessId'],
  ),
  document: underJourneyId,
  line: describeAccess,
};

// What these commands share: conditions, formats, and printing as rows come.

export interface FormatOptions extends OutputOptions {
  format?: string;
  csv?: boolean;
}

interface PeriodOptions {
  from?: string;
  to?: string;
  timeZone?: string;
}

export interface ListingOptions extends FormatOptions, PeriodOptions {
  journey?: string;
}

const FORMATS = ['table', 'csv', 'json'] as const;
type Format = (typeof FORMATS)[number];

export function withFormatOptions(command: Command): Command {
  return withOutputOptions(
    command
      .option('--format <format>', `${FORMATS.join(', ')} (default: table on a terminal, else json)`)
      .option('--csv', 'as --format csv, safe to be opened in a spreadsheet'),
  );
}

function withListingOptions(command: Command): Command {
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
async function recordsQueryOf(options: ListingOptions): Promise<RecordsQuery> {
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
  columns: Columns<T>;
  document(one: T): object;
  line(one: T): ListedRecord;
}

/** What stands before and after the rows. */
interface ListingFrame {
  /** Members of the JSON document before the rows. */
  opening?: object;
  /** Text above the lines. */
  heading?: string;
  closing?(count: number): { document: object; text: string };
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
export async function printRecords<T>(
  options: FormatOptions,
  read: (ledger: Ledger) => AsyncIterable<T>,
  record: RecordFormat<T>,
  frame: ListingFrame = {},
): Promise<void> {
  const { format, output } = formatOf(options);
  await withLedger((ledger) =>
    printText(chunks(read(ledger), { ...record, ...frame }, { format, width: output.width })),
  );
}

async function* chunks<T>(
  rows: AsyncIterable<T>,
  { name, columns, document, line, opening = {}, heading = '', closing }: RecordFormat<T> & ListingFrame,
  { format, width }: { format: Format; width: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(Object.keys(columns));
  if (format === 'json') yield `${JSON.stringify({ ...opening, [name]: [] }).slice(0, -2)}\n`;
  if (format === 'table') yield heading;
  let count = 0;
  for await (const one of rows) {
    if (format === 'csv') yield csvRow(columns, one);
    else if (format === 'json') yield `${count === 0 ? '' : ',\n'}${JSON.stringify(document(one))}`;
    else yield `${recordLines(line(one), width).join('\n')}\n`;
    count += 1;
  }
  const end = closing?.(count);
  if (format === 'json') yield `\n]${end ? `,${JSON.stringify(end.document).slice(1)}` : '}'}\n`;
  if (format === 'table') yield end ? end.text : count === 0 ? `no ${name}\n` : '';
}

/** A record of the ledger, of at most `width` columns. */
export function recordLines({ at, text, by, reason, ownerId, facts }: ListedRecord, width: number): string[] {
  const who = by === undefined ? [] : [`by ${by}${reason === undefined ? '' : `: ${reason}`}`];
  const [head = '', ...more] = readable(`${withAge(at)} ${text}`, width - 4, '');
  const details = [runName(ownerId), ...facts, ...who].flatMap((line) => readable(line, width));
  return [head, ...more.map((line) => `    ${line}`), ...details];
}

/** Cleans text that people have written: it may hold control characters, and words longer than a line. */
function readable(text: string, width: number, indent = '    '): string[] {
  return wrapLong(text.replaceAll(/\p{Cc}+/gu, ' '), width, indent);
}

/** As JSON: `ownerId` is called `journeyId` everywhere on the command line; of a pull it is `pull:<pullId>`. */
export function underJourneyId({ ownerId, ...one }: { ownerId: string }): object {
  return { journeyId: ownerId, ...one };
}
