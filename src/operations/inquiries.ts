/** Listing of attempts at inquiries, with totals of sent and posted attempts. */
import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { AUDIT_OUTCOMES, InquiryTotals } from '../ledger/audit/audited.ts';
import { applicantOutcomeFields } from '../messages/journey/shapes.ts';
import { FAILURE_TYPES } from '../model/failure-types.ts';
import { ENVIRONMENTS, PRODUCTS } from '../model/products.ts';
import { describeAttempt } from '../words/records.ts';
import { count, customerTraceNumber, defineListing, instant, namedBy, recordFilters, text } from './operation.ts';
import { legalHoldFields } from './retention.ts';

const decision = z
  .object({
    ...{ decisionId: text, action: text, by: text, reason: text, providerSaid: text, decidedAt: instant },
    provenBy: text.exactOptional().meta({ description: 'The id of the key that signed it.' }),
  })
  .meta({ id: 'auditedDecision' });

const answer = {
  returnCode: text.exactOptional(),
  returnReasonCode: text.exactOptional(),
  applicantOutcomes: z.array(z.object(applicantOutcomeFields)).exactOptional(),
  noRecordReference: text.exactOptional(),
};

/** Fields that all listings of attempts share, except the consents. */
export const attemptFields = {
  claimedAt: instant,
  requestedAt: instant.exactOptional(),
  runKey: text,
  workflowType: text,
  customerTraceNumber: text,
  attempt: z.int().min(1),
  environment: z.enum(ENVIRONMENTS),
  profile: text,
  customerId: text,
  productCode: z.enum(PRODUCTS),
  shareId: text.exactOptional(),
  endUserCode: text.exactOptional(),
  endUser: text.exactOptional(),
  permissiblePurposeCode: text.exactOptional(),
  outcome: z.enum(AUDIT_OUTCOMES),
  posted: z
    .enum(['yes', 'no', 'unknown'])
    .meta({ description: 'Whether the consumer’s file has an inquiry, as far as the ledger knows.' }),
  httpStatus: z.int().exactOptional(),
  failureType: z.enum(FAILURE_TYPES).exactOptional(),
  amends: text.exactOptional().meta({ description: 'The trace number that it amends.' }),
  permittedBy: decision.exactOptional(),
  decision: decision.exactOptional(),
  ...answer,
  applicants: z
    .int()
    .min(1)
    .exactOptional()
    .meta({ description: 'The number of applicants that the inquiry is about.' }),
  accesses: z.object({ count: z.int(), reissues: z.int(), lastAt: instant }).exactOptional(),
  late: z
    .object({ at: instant, outcome: z.enum(AUDIT_OUTCOMES).exactOptional(), ...answer })
    .exactOptional()
    .meta({ description: 'An answer that came after a decision or a later attempt.' }),
  abandonedAt: instant.exactOptional(),
  disposedAt: instant.exactOptional(),
  legalHolds: z
    .array(z.object(legalHoldFields))
    .meta({ description: 'Every hold in force that covers the inquiry. None of it can be disposed of until then.' }),
  ordinal: count.meta({ description: 'Counts amendments and deliberate repeats; 0 for the first.' }),
  sentTraceNumber: text
    .exactOptional()
    .meta({ description: 'The number under which it was sent, where that is not the inquiry’s own.' }),
};

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
  output: z
    .object({ ...attemptFields, consents: z.array(z.object({ applicantId: text, consentId: text })) })
    .meta({ id: 'inquiryAttempt' }),
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
    row: z
      .object({
        productCode: z.enum(PRODUCTS),
        endUserCode: text.exactOptional(),
        endUser: text.exactOptional(),
        sent: count.meta({ description: 'Attempts that were sent, at least in part: the sum of the other three.' }),
        ...{ posted: count, notPosted: count, unknown: count },
      })
      .meta({ id: 'inquiryTotal' }),
    create: () => new InquiryTotals(),
  },
});
