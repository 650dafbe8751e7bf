/** `shares`: who shared what with whom, when and under whose consent, from the ledger. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { AuditedShareWithdrawal } from '../../../ledger/record-audit.ts';
import type { AuditedShare } from '../../../ledger/share-audit.ts';
import { UsageError } from '../../output/errors.ts';
import { underJourneyId } from '../../output/inquiry-formats.ts';
import { SHARE_COLUMNS, shareDocument, shareLines, withdrawnShareLines } from '../../output/share-formats.ts';
import { type ListingOptions, printRecords, type RecordFormat, registerListing } from './record-listing.ts';

interface SharesOptions extends ListingOptions {
  report?: string;
  endUser?: string;
  withdrawn?: boolean;
}

const SHARES: RecordFormat<AuditedShare> = {
  name: 'shares',
  columns: SHARE_COLUMNS,
  document: shareDocument,
  lines: shareLines,
};

const WITHDRAWN: RecordFormat<AuditedShareWithdrawal> = {
  name: 'withdrawn',
  columns: {
    recordedAt: (one) => one.recordedAt,
    journeyId: (one) => one.ownerId,
    shareId: (one) => one.shareId,
    replacedBy: (one) => one.replacedBy,
    by: (one) => one.by,
    reason: (one) => one.reason,
  },
  document: underJourneyId,
  lines: withdrawnShareLines,
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
