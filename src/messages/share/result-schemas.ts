/**
 * The schema of each answer of `shareReport`; open, as journey/result-schemas.ts.
 */
import { z } from 'zod';
import { ENVIRONMENTS, REPORT_PRODUCTS } from '../../model/products.ts';
import {
  acceptedSchema,
  consentAnswerFields,
  remarksSchema,
  reportReferenceSchema,
  runStatusFields,
  TERMINAL_STATES,
} from '../journey/result-schemas.ts';

export const SHARE_REPORT_OUTCOMES = [
  'posted',
  /** On hold, then accepted by a person as not posted. */
  'notPosted',
  'denied',
  'revoked',
  'expired',
  'reportGone',
  'abandoned',
  'withdrawn',
] as const;

const outcome = z.enum(SHARE_REPORT_OUTCOMES);
const attempts = z.int().min(0);
const attention = z.literal('revokedAfterPosting').exactOptional();

export const reportSourceSchema = z
  .union([
    z.object({
      kind: z.literal('ledger'),
      ownerId: z.string().meta({ description: 'A journeyId, or pull:<pullId>.' }),
      productCode: z.enum(REPORT_PRODUCTS),
      customerTraceNumber: z.string(),
    }),
    z.object({ kind: z.literal('given') }),
  ])
  .meta({ id: 'reportSource', description: 'An inquiry of the ledger; or given in full, and unknown to the ledger.' });

export const shareReportStatusSchema = z
  .object({
    shareId: z.string(),
    environment: z.enum(ENVIRONMENTS).nullable(),
    state: z.enum(['running', 'waitingForConsent', 'held', ...outcome.options, ...TERMINAL_STATES]),
    /** What the share waits for, in words: the consents, the decision or the retry. */
    waitingFor: z.string().exactOptional(),
    /** Present once the input was checked. */
    report: reportSourceSchema.exactOptional(),
    consentsMissing: z
      .array(z.string())
      .meta({ description: 'applicantId of those whose grant does not stand yet, while it waits for them.' }),
    /** When the wait for consents ends. */
    until: z.string().meta({ format: 'date-time' }).exactOptional(),
    attempts,
    customerTraceNumber: z.string().exactOptional(),
    reportReferenceNumber: z.string().exactOptional().meta({ description: 'Of the share itself (interface 2.7).' }),
    replacedBy: z.string().exactOptional().meta({ description: 'Of a withdrawn share: the share in its place.' }),
    remarks: remarksSchema,
    attention,
    ...runStatusFields,
  })
  .meta({ id: 'shareReportStatus' });

export const shareReportResultSchema = z.object({
  shareId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  outcome,
  report: reportSourceSchema,
  sharedWith: z.object({ endUserCode: z.string().exactOptional(), endUser: z.string().exactOptional() }),
  attempts,
  customerTraceNumber: z.string().exactOptional(),
  reportReferenceNumber: z.string().exactOptional().meta({ description: 'Of the share itself (interface 2.7).' }),
  remarks: remarksSchema,
  attention,
});

export const shareReportReferencesSchema = z.object({
  shareId: z.string(),
  /** The reference of the shared report; absent until the report was found. */
  report: reportReferenceSchema.exactOptional(),
  reportReferenceNumber: z.string().exactOptional().meta({ description: 'Of the share itself (interface 2.7).' }),
});

export const shareReportUpdateAnswerSchema = z.object({
  ...acceptedSchema.shape,
  status: shareReportStatusSchema,
  ...consentAnswerFields,
});
