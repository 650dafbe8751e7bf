/** Listings of shares with their recipients, and of shares that were withdrawn before posting. */
import { z } from 'zod';
import { PRODUCTS } from '../model/products.ts';
import { describeShare, describeShareWithdrawal } from '../words/records.ts';
import { evidence } from './consents.ts';
import { attemptFields } from './inquiries.ts';
import { defineListing, instant, namedBy, recordFilters, text } from './operation.ts';

const { claimedAt, requestedAt, posted, endUserCode, endUser, permissiblePurposeCode, runKey, ...others } =
  attemptFields;

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
  output: z
    .object({
      ...{ claimedAt, requestedAt, posted },
      sharedBy: text.exactOptional(),
      ...{ endUserCode, endUser, permissiblePurposeCode, runKey },
      report: z
        .object({
          runKey: text,
          productCode: z.enum(PRODUCTS),
          customerTraceNumber: text,
          endUserCode: text.exactOptional(),
        })
        .nullable()
        .meta({ description: '`null`: the ledger does not know the report.' }),
      consents: z.array(
        z.object({ applicantId: text, consentId: text, decidedAt: instant, evidence, runKey: text, shareId: text }),
      ),
      ...others,
    })
    .meta({ id: 'postedShare' }),
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
  output: z
    .object({
      ...{ recordedAt: instant, runKey: text, shareId: text },
      replacedBy: text.exactOptional().meta({ description: 'The share that takes its place.' }),
      ...{ by: text, reason: text },
    })
    .meta({ id: 'withdrawnShare' }),
  order: ['recordedAt', 'runKey', 'shareId'],
  owner: 'runKey',
  read: (ledger, query) => ledger.withdrawnSharesBetween(query),
  describe: describeShareWithdrawal,
});
