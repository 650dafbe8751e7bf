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
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import {
  ATTEMPT_CSV_HEAD,
  attemptCsv,
  attemptDocument,
  attemptLines,
  TOTAL_CSV_HEAD,
  totalCsv,
  totalLines,
} from '../../output/inquiry-formats.ts';
import { createOutput, type Output, wrap } from '../../output/output.ts';
import { type Period, periodOf, timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';

interface InquiriesOptions extends OutputOptions {
  from?: string;
  to?: string;
  timeZone?: string;
  endUser?: string;
  product?: string;
  reference?: string;
  outcome?: string;
  csv?: boolean;
  totals?: boolean;
}

export function registerInquiriesCommand(program: Command): void {
  const command = program
    .command('inquiries')
    .description('what was asked of the gateway, from the ledger: for whom, why, by whose leave, and what came of it')
    .option('--from <when>', 'claimed from this day or instant on')
    .option('--to <when>', 'claimed up to this day, which is included, or before this instant')
    .option('--time-zone <name>', 'where days begin and end (default: GATEWAY_TIME_ZONE, else UTC)')
    .option('--end-user <name>', 'only for this end user, by code or name')
    .option('--product <productCode>', 'only of this product')
    .option('--outcome <outcome>', `only what came to this: ${AUDIT_OUTCOMES.join(', ')}`)
    .option('--reference <reportReferenceNumber>', 'only the inquiry that brought this report')
    .option('--totals', 'only how many, by product and end user')
    .option('--csv', 'print CSV, safe to be opened in a spreadsheet');
  withExamples(
    withOutputOptions(command),
    'credit-journey inquiries --from 2026-01-01 --to 2026-12-31',
    'credit-journey inquiries --totals --csv',
  );
  command.action(async (options: InquiriesOptions) => {
    if (options.csv && options.json) throw new UsageError('--csv or --json, one of them');
    const { loadTimeZone } = await import('../../../config/config.ts');
    const timeZone = timeZoneOf(options) ?? loadTimeZone(process.env);
    const period = periodOf(options, timeZone);
    const query = { ...period, ...queryOf(options) };
    const { openConfiguredLedger } = await import('../../../operator/configured-ledger.ts');
    const ledger = await openConfiguredLedger(process.env, { besideLedger: true });
    try {
      await printText(chunks(ledger.inquiriesBetween(query), { ...options, period, timeZone }, createOutput(options)));
    } finally {
      await ledger.close();
    }
  });
}

function queryOf({ endUser, product, reference, outcome }: InquiriesOptions): InquiriesQuery {
  const productCode = PRODUCTS.find((one) => one === product);
  if (product !== undefined && !productCode) throw new UsageError(`--product must be one of ${PRODUCTS.join(', ')}`);
  const known = AUDIT_OUTCOMES.find((one) => one === outcome);
  if (outcome !== undefined && !known) throw new UsageError(`--outcome must be one of ${AUDIT_OUTCOMES.join(', ')}`);
  return {
    ...defined({ endUser, productCode }),
    ...(known ? { outcome: known } : {}),
    ...defined({ reportReferenceNumber: reference }),
  };
}

interface Listing {
  period: Period;
  timeZone: string;
  totals?: boolean;
  csv?: boolean;
}

/** Holds at most a page of the ledger, and what the reader has not taken yet. */
async function* chunks(
  attempts: AsyncIterable<AuditedAttempt>,
  listing: Listing,
  output: Output,
): AsyncGenerator<string> {
  const format = listing.csv ? csvFormat(listing) : output.isJson ? jsonFormat(listing) : lineFormat(listing, output);
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

interface Format {
  head: string;
  attempt(one: AuditedAttempt, index: number): string;
  end(totals: InquiryTotals, count: number): string;
}

function csvFormat({ totals: onlyTotals }: Listing): Format {
  if (!onlyTotals) return { head: ATTEMPT_CSV_HEAD, attempt: attemptCsv, end: () => '' };
  return { head: TOTAL_CSV_HEAD, attempt: () => '', end: ({ list }) => list.map(totalCsv).join('') };
}

/** One document, written as it comes. */
function jsonFormat({ period, timeZone, totals: onlyTotals }: Listing): Format {
  const opening = JSON.stringify({ ...period, timeZone }).slice(0, -1);
  return {
    head: onlyTotals ? `${opening},\n` : `${opening},"inquiries":[\n`,
    attempt: (one, index) => `${index === 0 ? '' : ',\n'}${JSON.stringify(attemptDocument(one))}`,
    end: ({ list }) => `${onlyTotals ? '' : '\n],'}"totals":${JSON.stringify(list)}}\n`,
  };
}

function lineFormat({ period, timeZone, totals: onlyTotals }: Listing, { colors, width }: Output): Format {
  const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
  const seconds = (instant: string) => instant.replace(/\.\d+/, '');
  const from = period.from === undefined ? [] : [`from ${seconds(period.from)}`];
  const before = period.before === undefined ? [] : [`before ${seconds(period.before)}`];
  const told = [...from, ...before].join(', ');
  return {
    head: told === '' ? '' : lines(wrap(`Claimed ${told} (days in ${timeZone})`, width).map(colors.bold)),
    attempt: (one) => lines(attemptLines(one, width)),
    end: ({ list }, count) =>
      lines([
        ...(onlyTotals || count === 0 ? [] : ['', colors.bold('Totals: attempts by product and end user')]),
        ...totalLines(list, width),
      ]),
  };
}
