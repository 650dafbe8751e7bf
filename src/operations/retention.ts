/** Listings of disposals, and of legal holds that operators set or released. */
import { z } from 'zod';
import { auditedDisposal } from '../ledger/audit/audited.ts';
import { describeDisposal } from '../words/records.ts';
import { defineListing, recordFilters } from './operation.ts';

export const disposals = defineListing({
  name: 'disposals',
  summary: 'list disposals and legal holds: who did what, when and why',
  scope: 'inquiries:read',
  input: z.strictObject(recordFilters),
  output: auditedDisposal,
  order: ['recordedAt', 'kind', 'runKey', 'productCode', 'matter'],
  owner: 'runKey',
  read: (ledger, query) => ledger.disposalsBetween(query),
  describe: describeDisposal,
});
