/** The requests to the gateway, row by row from the interface's tables 2.1, 2.3, 2.6 and 4.3. */
import { z } from 'zod';
import { REPORT_PRODUCTS } from '../model/products.ts';
import { alphanumeric, latinText } from './alphanumeric.ts';
import {
  applicantsSchema,
  dateOfBirthSchema,
  digits,
  failsafeApplicantSchema,
  isRealDate,
  list,
  phoneSchema,
  refuseRepeated,
  ssnSchema,
} from './applicant-schemas.ts';
import { messageFields } from './fields.ts';

/**
 * Keeps one schema for each limit on applicants that a profile sets. A schema is compiled when it is made, so one per
 * request would be slow.
 */
export function perMaximum<T>(make: (maxApplicants: number) => T): (maxApplicants: number) => T {
  const made = new Map<number, T>();
  return (maxApplicants) => {
    const schema = made.get(maxApplicants) ?? make(maxApplicants);
    made.set(maxApplicants, schema);
    return schema;
  };
}

const {
  applicantId,
  customerTraceNumber,
  endUserCode,
  endUser,
  permissiblePurposeCode,
  reportReferenceNumber,
  consumerId,
} = messageFields();

/** The fields that a FAILSAFE caller may give of an applicant (table 2.3). A part of them is sent (table 4.3). */
export const failsafeInputSchema = perMaximum((maxApplicants) => {
  const applicant = z.strictObject({ ...failsafeApplicantSchema.shape, applicantId: applicantId.exactOptional() });
  return z.strictObject({
    customerTraceNumber,
    applicants: z
      .array(applicant)
      .min(1)
      .max(maxApplicants)
      .superRefine(refuseRepeated(['applicantId', 'ssn'])),
  });
});

/** Table 2.3. */
export const reportRequestSchema = perMaximum((maxApplicants) =>
  z.strictObject({
    customerId: alphanumeric(16),
    customerTraceNumber,
    endUserCode,
    productCode: z.enum(REPORT_PRODUCTS),
    permissiblePurposeCode,
    softwareProviderId: alphanumeric(4),
    applicants: applicantsSchema(maxApplicants),
  }),
);

function secondUseApplicantsSchema<T extends z.ZodType<{ consumerId: string }>>(applicant: T, maxApplicants: number) {
  return z
    .array(applicant)
    .min(1)
    .max(maxApplicants)
    .superRefine(refuseRepeated(['consumerId']));
}

/** Interface 4.2, rule 5. */
function requireAnEndUser(
  request: { endUserCode?: string | undefined; endUser?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (request.endUserCode === undefined && request.endUser === undefined) {
    context.addIssue({ code: 'custom', path: ['endUserCode'], message: 'is required, unless endUser is given' });
  }
}

/** The input of a SECONDUSE caller, with only those members of the reference that are sent. */
export const secondUseInputSchema = perMaximum((maxApplicants) =>
  z
    .strictObject({
      customerTraceNumber,
      endUserCode: endUserCode.optional(),
      endUser: endUser.optional(),
      permissiblePurposeCode,
      reference: z.object({
        reportReferenceNumber,
        applicants: secondUseApplicantsSchema(z.object({ consumerId }), maxApplicants),
      }),
      // Interface 4.2, rule 2.
      originalInquiryAt: z
        .custom<Date>((value) => value instanceof Date && !Number.isNaN(value.getTime()), 'must be an instant')
        .refine((instant) => instant.getTime() <= Date.now(), 'must not be in the future'),
    })
    .superRefine(requireAnEndUser),
);

/** Table 2.6. */
export const secondUseRequestSchema = perMaximum((maxApplicants) =>
  z
    .strictObject({
      customerId: alphanumeric(16),
      customerTraceNumber,
      endUserCode: endUserCode.exactOptional(),
      endUser: endUser.exactOptional(),
      productCode: z.literal('SECONDUSE'),
      permissiblePurposeCode,
      softwareProviderId: alphanumeric(4),
      accessMethod: z.literal('ID'),
      originalInquiryDate: z.string().refine(isDateTime, 'must be YYYY-MM-DD HH:MM:SS'),
      reportReferenceNumber,
      applicants: secondUseApplicantsSchema(z.strictObject({ consumerId }), maxApplicants),
    })
    .superRefine(requireAnEndUser),
);

function isDateTime(text: string): boolean {
  return isRealDate(text.slice(0, 10)) && /^ (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text.slice(10));
}

/** Section 4.3: the sample's fields and no others. */
export const failsafeRequestSchema = perMaximum((maxApplicants) => {
  const name = z.strictObject({
    first: latinText(30),
    last: latinText(30),
    middle: latinText(30).exactOptional(),
  });
  const address = z.strictObject({
    addressIdentifier: z.enum(['C', 'P']),
    line1: latinText(40),
    city: latinText(30),
    state: z.string().regex(/^[A-Z]{2}$/),
    zip: digits(5, 'must be exactly 5 digits'),
  });
  const applicant = z.strictObject({
    names: list(name),
    dob: dateOfBirthSchema,
    ssn: ssnSchema,
    phones: list(phoneSchema),
    addresses: list(address),
  });
  return z.strictObject({
    customerTraceNumber,
    productCode: z.literal('FAILSAFE'),
    applicants: z.array(applicant).min(1).max(maxApplicants),
  });
});

/** Table 2.1, which shows no lengths. */
export const tokenRequestSchema = z.strictObject({
  audience: z.string().min(1),
  grant_type: z.literal('client_credentials'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
});

export type ReportRequest = z.infer<ReturnType<typeof reportRequestSchema>>;
export type SecondUseRequest = z.infer<ReturnType<typeof secondUseRequestSchema>>;
export type FailsafeRequest = z.infer<ReturnType<typeof failsafeRequestSchema>>;
export type TokenRequest = z.infer<typeof tokenRequestSchema>;
