/** Listings of shares with their recipients, and of shares that were withdrawn before posting. */
import { z } from 'zod';
import { auditedShare, auditedWithdrawal } from '../ledger/audit/audited.ts';
import { describeShare, describeShareWithdrawal } from '../words/records.ts';
import { defineListing, namedBy, recordFilters } from './operation.ts';

export const shares = defineListing({
  name: 'shares',
  summary: 'list posted shares: who shared what with whom, when and under whose consent',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    report: z
      .string()
      .max(100)
      .exactOptional()
      .describe('Only of this report: its reference, or the trace number of its inquiry.'),
    endUser: namedBy.describe('Only shared by or with this end user, by code or name.'),
  }),
  output: auditedShare,
  order: ['claimedAt', 'customerTraceNumber', 'attempt'],
  owner: 'runKey',
  read: (ledger, query) => ledger.sharesBetween(query),
  describe: describeShare,
});

export const withdrawnShares = defineListing({
  name: 'withdrawn-shares',
  summary: 'list the shares that were withdrawn before they were sent: by whom, when and why',
  scope: 'inquiries:read',
  input: z.strictObject(recordFilters),
  output: auditedWithdrawal,
  order: ['recordedAt', 'runKey', 'shareId'],
  owner: 'runKey',
  read: (ledger, query) => ledger.withdrawnSharesBetween(query),
  describe: describeShareWithdrawal,
});
