/** The content of requests to the gateway, row by row from the interface's tables 2.1, 2.3, 2.6 and 4.3. */
import { z } from 'zod';
import { REPORT_PRODUCTS } from '../model/products.ts';
import { alphanumeric } from './alphanumeric.ts';
import { applicantsSchema, failsafeApplicantSchema } from './applicant-schemas.ts';
import { getMessageFields, refuseRepeated, requireSecondaryUser } from './fields.ts';

const fields = getMessageFields();
const { customerTraceNumber, permissiblePurposeCode } = fields;

/** "Typically 1 to 2" (interface 8) is no maximum, and 4.3 sets none. This limit is ours. */
const FAILSAFE_MAX_APPLICANTS = 20;

/** The fields that a FAILSAFE caller may give of an applicant (table 2.3). A part of them is sent (table 4.3). */
export const failsafeInputSchema = z.strictObject({
  customerTraceNumber,
  applicants: z
    .array(z.strictObject({ ...failsafeApplicantSchema.shape, applicantId: fields.applicantId.optional() }))
    .min(1)
    .max(FAILSAFE_MAX_APPLICANTS)
    .superRefine(refuseRepeated(['applicantId', 'ssn'])),
});

/** Table 2.3. */
export const reportRequestSchema = z.strictObject({
  customerId: alphanumeric(16),
  customerTraceNumber,
  endUserCode: fields.endUserCode,
  productCode: z.enum(REPORT_PRODUCTS),
  permissiblePurposeCode,
  softwareProviderId: alphanumeric(4),
  applicants: applicantsSchema,
});

/** The content of a SECONDUSE request (table 2.6), with only those members of the reference that are sent. */
export const secondUseInputSchema = requireSecondaryUser(
  z.strictObject({
    customerId: alphanumeric(16),
    softwareProviderId: alphanumeric(4),
    customerTraceNumber,
    endUserCode: fields.endUserCode.optional(),
    endUser: fields.endUser.optional(),
    permissiblePurposeCode,
    reference: z.object({
      reportReferenceNumber: fields.reportReferenceNumber,
      applicants: z
        .array(z.object({ consumerId: fields.consumerId }))
        .min(1)
        .superRefine(refuseRepeated(['consumerId'])),
    }),
    // Interface 4.2, rule 2.
    originalInquiryAt: z
      .custom<Date>((value) => value instanceof Date && !Number.isNaN(value.getTime()), 'must be an instant')
      .refine((instant) => instant.getTime() <= Date.now(), 'must not be in the future'),
  }),
);

/** Table 2.1, which shows no lengths. */
export const tokenRequestSchema = z.strictObject({
  audience: z.string().min(1),
  grant_type: z.literal('client_credentials'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
});

export type ReportRequest = z.infer<typeof reportRequestSchema>;
export type TokenRequest = z.infer<typeof tokenRequestSchema>;
