/** Listings of disposals, and of legal holds that operators set or released. */
import { z } from 'zod';
import { PRODUCTS } from '../model/products.ts';
import { describeDisposal } from '../words/records.ts';
import { count, defineListing, instant, recordFilters, text } from './operation.ts';

export const legalHoldFields = {
  runKey: text.meta({ description: 'The id that the hold was set on: a run, one row of a review, or a review.' }),
  ...{ matter: text, setAt: instant, by: text, reason: text },
};

export const disposals = defineListing({
  name: 'disposals',
  summary: 'list disposals and legal holds: who did what, when and why',
  scope: 'inquiries:read',
  input: z.strictObject(recordFilters),
  output: z
    .object({
      recordedAt: instant,
      kind: z.enum(['disposalBegun', 'historyDeleted', 'disposed', 'legalHoldSet', 'legalHoldReleased']),
      runKey: text,
      productCode: z.enum(PRODUCTS).exactOptional(),
      ...{ by: text, reason: text },
      details: z.object({ inquiries: count, reports: count, runs: count }).exactOptional(),
      matter: text.exactOptional().meta({ description: 'The matter of a legal hold.' }),
      run: z
        .object({ workflowId: text, runId: text })
        .exactOptional()
        .meta({ description: 'The run whose history was deleted.' }),
    })
    .meta({ id: 'recordedDisposal' }),
  order: ['recordedAt', 'kind', 'runKey', 'productCode', 'matter'],
  owner: 'runKey',
  read: (ledger, query) => ledger.disposalsBetween(query),
  describe: describeDisposal,
});
