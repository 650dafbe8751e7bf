/** `shares`: who shared what with whom, when and under whose consent, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedShare, SharesQuery } from '../../../ledger/share-audit.ts';
import { requireOwnerId } from '../../decisions/journey-action.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { periodOf, timeZoneOf } from '../../output/period.ts';
import { printText } from '../../output/print-text.ts';
import { SHARE_CSV_HEAD, shareCsv, shareDocument, shareLines } from '../../output/share-formats.ts';

interface SharesOptions extends OutputOptions {
  from?: string;
  to?: string;
  timeZone?: string;
  report?: string;
  journey?: string;
  endUser?: string;
  csv?: boolean;
}

export function registerSharesCommand(program: Command): void {
  const command = program
    .command('shares')
    .description('who shared what with whom, when and under whose consent, from the ledger')
    .option('--report <report>', 'only of this report: its reference, or the trace number of its inquiry')
    .option('--journey <id>', 'only of this journey’s reports, of pull:<pullId>, or of share:<shareId>')
    .option('--end-user <name>', 'only shared by or with this end user, by code or name')
    .option('--from <when>', 'shared from this day or instant on')
    .option('--to <when>', 'shared up to this day, which is included, or before this instant')
    .option('--time-zone <name>', 'where days begin and end (default: GATEWAY_TIME_ZONE, else UTC)')
    .option('--csv', 'print CSV, safe to be opened in a spreadsheet');
  withExamples(withOutputOptions(command), 'credit-journey shares --from 2026-01-01', 'credit-journey shares --csv');
  command.action(async (options: SharesOptions) => {
    if (options.csv && options.json) throw new UsageError('--csv or --json, one of them');
    const { loadTimeZone } = await import('../../../config/config.ts');
    const period = periodOf(options, timeZoneOf(options) ?? loadTimeZone(process.env));
    const query = { ...period, ...queryOf(options) };
    const { openConfiguredLedger } = await import('../../../operator/configured-ledger.ts');
    const ledger = await openConfiguredLedger(process.env, { besideLedger: true });
    try {
      await printText(chunks(ledger.sharesBetween(query), options, createOutput(options)));
    } finally {
      await ledger.close();
    }
  });
}

function queryOf({ report, journey, endUser }: SharesOptions): SharesQuery {
  if (journey !== undefined) requireOwnerId(journey);
  return defined({ report, ownerId: journey, endUser });
}

/** Yields at most one page of the ledger at a time. */
async function* chunks(
  shares: AsyncIterable<AuditedShare>,
  { csv }: SharesOptions,
  output: Output,
): AsyncGenerator<string> {
  let count = 0;
  if (csv) yield SHARE_CSV_HEAD;
  else if (output.isJson) yield '{"shares":[\n';
  for await (const one of shares) {
    if (csv) yield shareCsv(one);
    else if (output.isJson) yield `${count === 0 ? '' : ',\n'}${JSON.stringify(shareDocument(one))}`;
    else yield `${shareLines(one, output.width).join('\n')}\n`;
    count += 1;
  }
  if (!csv && output.isJson) yield '\n]}\n';
  else if (!csv && count === 0) yield 'no shares\n';
}
