/** `inquiries`: what was asked of the gateway, from the ledger, with totals to set against an invoice. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import {
  AUDIT_OUTCOMES,
  type AuditedAttempt,
  type InquiriesQuery,
  InquiryTotals,
} from '../../../ledger/inquiry-audit.ts';
import { PRODUCTS } from '../../../model/products.ts';
import { describeAttempt } from '../../../words/records.ts';
import { inSeconds } from '../../../words/writer.ts';
import { withExamples } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import {
  ATTEMPT_CSV_HEAD,
  attemptCsv,
  recordLines,
  TOTAL_CSV_HEAD,
  totalCsv,
  totalLines,
  underJourneyId,
} from '../../output/inquiry-formats.ts';
import { type Output, wrap } from '../../output/output.ts';
import { type Period, timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';
import { withLedger } from '../with-ledger.ts';
import { type Format, formatOf, type ListingOptions, recordsQueryOf, withListingOptions } from './record-listing.ts';

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
  const command = program
    .command('inquiries')
    .description('what was asked of the gateway, from the ledger: for whom, why, by whose leave, and what came of it')
    .option('--trace <customerTraceNumber>', 'only this inquiry')
    .option('--applicants <count>', 'only about so many applicants')
    .option('--end-user <name>', 'only for this end user, by code or name')
    .option('--product <productCode>', 'only of this product')
    .option('--outcome <outcome>', `only what came to this: ${AUDIT_OUTCOMES.join(', ')}`)
    .option('--reference <reportReferenceNumber>', 'only the inquiry that brought this report')
    .option('--totals', 'only how many, by product and end user');
  withExamples(
    withListingOptions(command),
    'credit-journey inquiries --from 2026-01-01 --to 2026-12-31',
    'credit-journey inquiries --totals --csv',
  );
  command.action(async (options: InquiriesOptions) => {
    const { format, output } = formatOf(options);
    const { loadTimeZone } = await import('../../../config/config.ts');
    const timeZone = timeZoneOf(options) ?? loadTimeZone(process.env);
    const { ownerId, ...period } = await recordsQueryOf(options);
    const query = { ...period, ...defined({ ownerId }), ...queryOf(options) };
    const listing = { ...defined({ totals: options.totals }), format, period, timeZone };
    await withLedger((ledger) => printText(chunks(ledger.inquiriesBetween(query), listing, output)));
  });
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

interface Listing {
  period: Period;
  timeZone: string;
  totals?: boolean;
  format: Format;
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
async function* chunks(
  attempts: AsyncIterable<AuditedAttempt>,
  listing: Listing,
  output: Output,
): AsyncGenerator<string> {
  const formats = { csv: csvFormat, json: jsonFormat, table: lineFormat };
  const format = formats[listing.format](listing, output);
  const totals = new InquiryTotals();
  yield format.head;
  let count = 0;
  for await (const one of attempts) {
    totals.add(one);
    if (!listing.totals) yield format.attempt(one, count);
    count += 1;
  }
  yield format.end(totals, count);
}

interface Printed {
  head: string;
  attempt(one: AuditedAttempt, index: number): string;
  end(totals: InquiryTotals, count: number): string;
}

function csvFormat({ totals: onlyTotals }: Listing): Printed {
  if (!onlyTotals) return { head: ATTEMPT_CSV_HEAD, attempt: attemptCsv, end: () => '' };
  return { head: TOTAL_CSV_HEAD, attempt: () => '', end: ({ list }) => list.map(totalCsv).join('') };
}

/** One document, written as it comes. */
function jsonFormat({ period, timeZone, totals: onlyTotals }: Listing): Printed {
  const opening = JSON.stringify({ ...period, timeZone }).slice(0, -1);
  return {
    head: onlyTotals ? `${opening},\n` : `${opening},"inquiries":[\n`,
    attempt: (one, index) => `${index === 0 ? '' : ',\n'}${JSON.stringify(underJourneyId(one))}`,
    end: ({ list }) => `${onlyTotals ? '' : '\n],'}"totals":${JSON.stringify(list)}}\n`,
  };
}

function lineFormat({ period, timeZone, totals: onlyTotals }: Listing, { colors, width }: Output): Printed {
  const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
  const from = period.from === undefined ? [] : [`from ${inSeconds(period.from)}`];
  const before = period.before === undefined ? [] : [`before ${inSeconds(period.before)}`];
  const told = [...from, ...before].join(', ');
  return {
    head: told === '' ? '' : lines(wrap(`Claimed ${told} (days in ${timeZone})`, width).map(colors.bold)),
    attempt: (one) => lines(recordLines(describeAttempt(one), width)),
    end: ({ list }, count) =>
      lines([
        ...(onlyTotals || count === 0 ? [] : ['', colors.bold('Totals: attempts by product and end user')]),
        ...totalLines(list, width),
      ]),
  };
}
