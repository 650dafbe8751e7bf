/** `shares`: who shared what with whom, when and under whose consent, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedShare } from '../../../ledger/share-audit.ts';
import { withExamples } from '../../output/common-options.ts';
import { SHARE_COLUMNS, shareDocument, shareLines } from '../../output/share-formats.ts';
import {
  type ListingOptions,
  printRecords,
  type RecordFormat,
  recordsQueryOf,
  withListingOptions,
} from './record-listing.ts';

interface SharesOptions extends ListingOptions {
  report?: string;
  endUser?: string;
}

const SHARES: RecordFormat<AuditedShare> = {
  name: 'shares',
  columns: SHARE_COLUMNS,
  document: shareDocument,
  lines: shareLines,
};

export function registerSharesCommand(program: Command): void {
  const command = program
    .command('shares')
    .description('who shared what with whom, when and under whose consent, from the ledger')
    .option('--report <report>', 'only of this report: its reference, or the trace number of its inquiry')
    .option('--end-user <name>', 'only shared by or with this end user, by code or name');
  withExamples(withListingOptions(command), 'credit-journey shares --from 2026-01-01', 'credit-journey shares --csv');
  command.action(async (options: SharesOptions) => {
    const { report, endUser } = options;
    const query = { ...(await recordsQueryOf(options)), ...defined({ report, endUser }) };
    await printRecords(options, (ledger) => ledger.sharesBetween(query), SHARES);
  });
}
