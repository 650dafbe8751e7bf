/**
 * One zod schema for each answer of `shareReport`, for the published JSON Schemas; open, as journey/result-schemas.ts.
 */
import { z } from 'zod';
import { ENVIRONMENTS, REPORT_PRODUCTS } from '../../model/products.ts';
import {
  acceptedSchema,
  consentAnswerFields,
  holdStatusSchema,
  refusedMessageSchema,
  reportReferenceSchema,
  TERMINAL_STATES,
} from '../journey/result-schemas.ts';
import { SHARE_REPORT_OUTCOMES } from './shapes.ts';

const outcome = z.enum(SHARE_REPORT_OUTCOMES);
const attempts = z.int().min(0);
const attention = z.literal('revokedAfterPosting').exactOptional();

const reportSourceSchema = z
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
    waitingFor: z.string().exactOptional(),
    report: reportSourceSchema.exactOptional(),
    consentsMissing: z
      .array(z.string())
      .meta({ description: 'applicantId of those whose grant does not stand yet, while it waits for them.' }),
    until: z.string().meta({ format: 'date-time' }).exactOptional(),
    attempts,
    customerTraceNumber: z.string().exactOptional(),
    reportReferenceNumber: z.string().exactOptional().meta({ description: 'Of the share itself (interface 2.7).' }),
    attention,
    holds: z.array(holdStatusSchema),
    refusedMessages: z.array(refusedMessageSchema).meta({ description: 'The last 50.' }),
    refusedMessagesTotal: z.int().min(0),
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
  attention,
});

export const shareReportReferencesSchema = z.object({
  shareId: z.string(),
  report: reportReferenceSchema.exactOptional(),
  reportReferenceNumber: z.string().exactOptional().meta({ description: 'Of the share itself (interface 2.7).' }),
});

export const shareReportUpdateAnswerSchema = z.object({
  ...acceptedSchema.shape,
  status: shareReportStatusSchema,
  ...consentAnswerFields,
});
