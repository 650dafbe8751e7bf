/** `inquiries`: what was asked of the gateway, from the ledger, with totals to set against an invoice. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import {
  AUDIT_OUTCOMES,
  type AuditedAttempt,
  type InquiriesQuery,
  type InquiryTotal,
  InquiryTotals,
} from '../../../ledger/inquiry-audit.ts';
import type { RecordsQuery } from '../../../ledger/record-audit.ts';
import { PRODUCTS } from '../../../model/products.ts';
import type { ApplicantOutcome } from '../../../model/report-outcome.ts';
import { consentText, describeAttempt } from '../../../words/records.ts';
import { inSeconds } from '../../../words/writer.ts';
import { columnsFor, csvLine, csvRow } from '../../output/csv.ts';
import { UsageError } from '../../output/errors.ts';
import { table, wrap } from '../../output/output.ts';
import { timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';
import { withLedger } from '../with-ledger.ts';
import {
  formatOf,
  type ListingOptions,
  printRecords,
  type RecordFormat,
  registerListing,
  underJourneyId,
} from './record-listing.ts';

interface InquiriesOptions extends ListingOptions {
  trace?: string;
  applicants?: string;
  endUser?: string;
  product?: string;
  reference?: string;
  outcome?: string;
  totals?: boolean;
}

export function registerInquiriesCommand(program: Command): void {
  registerListing<InquiriesOptions>(program, {
    name: 'inquiries',
    description: 'what was asked of the gateway, from the ledger: for whom, why, by whose leave, and what came of it',
    options: [
      ['--trace <customerTraceNumber>', 'only this inquiry'],
      ['--applicants <count>', 'only about so many applicants'],
      ['--end-user <name>', 'only for this end user, by code or name'],
      ['--product <productCode>', 'only of this product'],
      ['--outcome <outcome>', `only what came to this: ${AUDIT_OUTCOMES.join(', ')}`],
      ['--reference <reportReferenceNumber>', 'only the inquiry that brought this report'],
      ['--totals', 'only how many, by product and end user'],
    ],
    print: printInquiries,
  });
}

async function printInquiries(options: InquiriesOptions, { ownerId, ...period }: RecordsQuery): Promise<void> {
  const { format, output } = formatOf(options);
  const { width, colors } = output;
  const { loadTimeZone } = await import('../../../config/config.ts');
  const timeZone = timeZoneOf(options) ?? loadTimeZone(process.env);
  const query = { ...period, ...defined({ ownerId }), ...queryOf(options) };
  const opening = { ...period, timeZone };
  const totals = new InquiryTotals();
  const { from, before } = period;
  const told = [from && `from ${inSeconds(from)}`, before && `before ${inSeconds(before)}`].filter(Boolean).join(', ');
  const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
  const heading = told === '' ? '' : lines(wrap(`Claimed ${told} (days in ${timeZone})`, width).map(colors.bold));
  if (options.totals) {
    await withLedger(async (ledger) => {
      for await (const one of ledger.inquiriesBetween(query)) totals.add(one);
    });
    const { list } = totals;
    const texts = {
      csv: () => [csvLine(Object.keys(TOTAL_COLUMNS)), ...list.map((total) => csvRow(TOTAL_COLUMNS, total))],
      json: () => [`${JSON.stringify({ ...opening, totals: list })}\n`],
      table: () => [heading, lines(totalLines(list, width))],
    };
    return printText(asStream(texts[format]()));
  }
  const title = colors.bold('Totals: attempts by product and end user');
  const closing = (count: number) => ({
    document: { totals: totals.list },
    text: lines([...(count === 0 ? [] : ['', title]), ...totalLines(totals.list, width)]),
  });
  await printRecords(options, (ledger) => counted(ledger.inquiriesBetween(query), totals), INQUIRIES, {
    ...{ opening, heading, closing },
  });
}

async function* asStream(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

async function* counted(attempts: AsyncIterable<AuditedAttempt>, totals: InquiryTotals) {
  for await (const one of attempts) {
    totals.add(one);
    yield one;
  }
}

function queryOf({ endUser, product, reference, outcome, trace, applicants }: InquiriesOptions): InquiriesQuery {
  const productCode = PRODUCTS.find((one) => one === product);
  if (product !== undefined && !productCode) throw new UsageError(`--product must be one of ${PRODUCTS.join(', ')}`);
  const known = AUDIT_OUTCOMES.find((one) => one === outcome);
  if (outcome !== undefined && !known) throw new UsageError(`--outcome must be one of ${AUDIT_OUTCOMES.join(', ')}`);
  return {
    ...defined({ endUser, productCode, customerTraceNumber: trace, applicants: countOf(applicants) }),
    ...(known ? { outcome: known } : {}),
    ...defined({ reportReferenceNumber: reference }),
  };
}

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d?$/.test(text)) throw new UsageError('--applicants must be a whole number from 1 to 99');
  return Number(text);
}

export function totalLines(totals: readonly InquiryTotal[], width: number): string[] {
  if (totals.length === 0) return ['no inquiries'];
  const rows = totals.map((total) => [
    total.productCode,
    ...[total.sent, total.posted, total.notPosted, total.unknown].map(String),
    // Last, since a name may be long.
    endUserOf(total),
  ]);
  return table([['PRODUCT', 'SENT', 'POSTED', 'NOT POSTED', 'NOT KNOWN', 'END USER'], ...rows], width);
}

function endUserOf({ endUserCode, endUser }: InquiryTotal): string {
  return [endUserCode, endUser].filter((text) => text !== undefined).join(' ');
}

function outcomeText({ applicantId, outcome, returnCode, returnReasonCode }: ApplicantOutcome): string {
  const codes = [returnCode, returnReasonCode].filter((code) => code !== undefined);
  return `${applicantId} ${outcome}${codes.length === 0 ? '' : ` (${codes.join(' ')})`}`;
}

export const ATTEMPT_COLUMNS = columnsFor<AuditedAttempt>(
  ['claimedAt', 'requestedAt'],
  { journeyId: (one) => one.ownerId },
  ['workflowType', 'customerTraceNumber', 'attempt', 'environment', 'profile', 'customerId'],
  ['productCode', 'shareId', 'endUserCode', 'endUser', 'permissiblePurposeCode'],
  { consents: (one) => one.consents.map(consentText).join('; ') },
  ['outcome', 'posted', 'returnCode', 'httpStatus', 'failureType', 'amends'],
  {
    permittedBy: (one) => one.permittedBy?.decisionId,
    permittedByWhom: (one) => one.permittedBy?.by,
    permittedBecause: (one) => one.permittedBy?.reason,
    decision: (one) => one.decision?.decisionId,
    decidedAction: (one) => one.decision?.action,
    decidedByWhom: (one) => one.decision?.by,
    decidedBecause: (one) => one.decision?.reason,
    providerSaid: (one) => one.decision?.providerSaid,
    lateAnswerAt: (one) => one.late?.at,
    lateOutcome: (one) => one.late?.outcome,
  },
  ['abandonedAt', 'disposedAt'],
  {
    // New columns come last: readers may go by position.
    permitProvenBy: (one) => one.permittedBy?.provenBy,
    decisionProvenBy: (one) => one.decision?.provenBy,
  },
  ['applicants', 'returnReasonCode'],
  { applicantOutcomes: (one) => one.applicantOutcomes?.map(outcomeText).join('; ') },
  ['noRecordReference'],
  {
    accesses: (one) => one.accesses?.count,
    reissues: (one) => one.accesses?.reissues,
    lastAccessAt: (one) => one.accesses?.lastAt,
    lateReturnCode: (one) => one.late?.returnCode,
    lateReturnReasonCode: (one) => one.late?.returnReasonCode,
    lateApplicantOutcomes: (one) => one.late?.applicantOutcomes?.map(outcomeText).join('; '),
    lateNoRecordReference: (one) => one.late?.noRecordReference,
    legalHolds: (one) => one.legalHolds.map(({ matter }) => matter).join('; '),
  },
  ['sentTraceNumber'],
);

const INQUIRIES: RecordFormat<AuditedAttempt> = {
  name: 'inquiries',
  columns: ATTEMPT_COLUMNS,
  document: underJourneyId,
  line: describeAttempt,
};

export const TOTAL_COLUMNS = columnsFor<InquiryTotal>([
  'productCode',
  'endUserCode',
  'endUser',
  'sent',
  'posted',
  'notPosted',
  'unknown',
]);
