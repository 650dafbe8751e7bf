/** Listing of attempts at inquiries, with totals of sent and posted attempts. */
import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { AUDIT_OUTCOMES, auditedAttempt, InquiryTotals, inquiryTotal } from '../ledger/audit/audited.ts';
import { PRODUCTS } from '../model/products.ts';
import { describeAttempt } from '../words/records.ts';
import { customerTraceNumber, defineListing, namedBy, recordFilters } from './operation.ts';

export const inquiries = defineListing({
  name: 'inquiries',
  path: '/v1/inquiries',
  summary: 'list the attempts at the gateway: for whom, why, by which authorization, and the outcome',
  description: 'The rows contain nothing personal. An attempt belongs to the period in which it was claimed.',
  scope: 'inquiries:read',
  input: z.strictObject({
    ...recordFilters,
    customerTraceNumber,
    applicants: z
      .string()
      .regex(/^[1-9]\d?$/, 'must be a whole number from 1 to 99')
      .exactOptional()
      .describe('Only inquiries about so many applicants.'),
    endUser: namedBy.describe('Only for this end user, by code or name.'),
    productCode: z.enum(PRODUCTS).exactOptional().describe('Only of this product.'),
    outcome: z.enum(AUDIT_OUTCOMES).exactOptional().describe('Only attempts with this outcome.'),
    reportReferenceNumber: z.string().max(100).exactOptional().describe('Only the inquiry that brought this report.'),
  }),
  output: auditedAttempt,
  order: ['claimedAt', 'customerTraceNumber', 'attempt'],
  owner: 'runKey',
  read: (ledger, { applicants, ...query }) => {
    const count = applicants === undefined ? undefined : Number(applicants);
    return ledger.inquiriesBetween({ ...query, ...omitUndefined({ applicants: count }) });
  },
  describe: describeAttempt,
  totals: {
    summary: 'Count the attempts that were sent and posted, by product and end user, to compare with an invoice',
    description: 'Counts only what the token reaches.',
    row: inquiryTotal,
    create: () => new InquiryTotals(),
  },
});
