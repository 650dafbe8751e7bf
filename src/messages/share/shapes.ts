/** The answers of reports that are shared at any time (docs/shares.md): schemas and types, as journey/shapes.ts. */
import { z } from 'zod';
import { ENVIRONMENTS, REPORT_PRODUCTS } from '../../model/products.ts';
import {
  CLOSED_STATES,
  inquiryFields,
  optionalText,
  reportReferenceSchema,
  runStatusFields,
  SHARE_OUTCOMES,
  sharedFields,
  shareStatusFields,
} from '../journey/shapes.ts';

const outcome = z.enum(SHARE_OUTCOMES);
const { attempts } = inquiryFields;

const reportSourceSchema = z
  .union([
    z.object({
      kind: z.literal('ledger'),
      runKey: z.string().describe('A journeyId, or pull:<pullId>.'),
      productCode: z.enum(REPORT_PRODUCTS),
      customerTraceNumber: z.string(),
    }),
    z.object({ kind: z.literal('given') }),
  ])
  .meta({
    id: 'reportSource',
    description:
      'The source of the report: an inquiry in the ledger, or a report given in full that the ledger does not know.',
  });

export const shareReportStatusSchema = z
  .object({
    shareId: z.string(),
    state: z.enum(['running', 'waitingForConsent', 'held', ...outcome.options, ...CLOSED_STATES]),
    /** Present once the input was checked. */
    report: reportSourceSchema.optional(),
    consentsMissing: z
      .array(z.string())
      .describe('The applicantId of each applicant without a valid grant, while the share waits for them.'),
    attempts,
    ...shareStatusFields,
    ...runStatusFields,
  })
  .meta({ id: 'shareReportStatus' });

export const shareReportResultSchema = z.object({
  shareId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  outcome,
  report: reportSourceSchema,
  sharedWith: z.object({ endUserCode: optionalText, endUser: optionalText }),
  attempts,
  ...sharedFields,
});

export const shareReportReferencesSchema = z.object({
  shareId: z.string(),
  /** The reference of the shared report; absent until the report was found. */
  report: reportReferenceSchema.optional(),
  reportReferenceNumber: sharedFields.reportReferenceNumber,
});

export type ReportSource = z.infer<typeof reportSourceSchema>;
export type ShareReportStatus = z.infer<typeof shareReportStatusSchema>;
export type ShareReportResult = z.infer<typeof shareReportResultSchema>;
export type ShareReportOutcome = ShareReportResult['outcome'];
export type ShareReportReferences = z.infer<typeof shareReportReferencesSchema>;
