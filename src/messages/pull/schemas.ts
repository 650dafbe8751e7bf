/** One zod schema for each message of single pulls (docs/pulls.md), field by field. */
import { z } from 'zod';
import { applicantShape, refuseRepeated } from '../../fields/applicant-schemas.ts';
import * as fields from '../../fields/fields.ts';
import { applicantsSchema, perMaximum } from '../../fields/request-schemas.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import { resolveInquirySchema, withdrawSchema } from '../journey/schemas.ts';

const pullFields = { pullId: fields.pullId, profile: fields.profileName.exactOptional() };

export const creditReportSchema = perMaximum((maxApplicants) =>
  z.strictObject({
    ...pullFields,
    productCode: z.enum(REPORT_PRODUCTS),
    endUserCode: fields.endUserCode,
    permissiblePurposeCode: fields.permissiblePurposeCode,
    applicants: applicantsSchema(maxApplicants),
  }),
);

const failsafeApplicantSchema = z
  .strictObject({
    ...applicantShape,
    emailAddress: applicantShape.emailAddress.exactOptional(),
    ipAddress: applicantShape.ipAddress.exactOptional(),
  })
  .meta({ id: 'failsafeApplicant', description: 'emailAddress and ipAddress are not sent (interface 4.3).' });

/** As with reports, no two applicants have one `applicantId` or one `ssn`. */
export const failsafeApplicantsSchema = perMaximum((maxApplicants) =>
  z
    .array(failsafeApplicantSchema)
    .min(1)
    .max(maxApplicants)
    .superRefine(refuseRepeated(['applicantId', 'ssn'])),
);

export const failsafeCheckSchema = perMaximum((maxApplicants) =>
  z.strictObject({
    ...pullFields,
    productCode: z.literal('FAILSAFE'),
    endUserCode: fields.endUserCode.exactOptional(),
    permissiblePurposeCode: fields.permissiblePurposeCode.exactOptional(),
    applicants: failsafeApplicantsSchema(maxApplicants),
  }),
);

/** A decision for any kind of run. Its applicants may lack what FAILSAFE's applicants may lack. */
export const decisionSchema = perMaximum((maxApplicants) => {
  const { journeyId: _, applicants: __, ...decision } = resolveInquirySchema(maxApplicants).shape;
  return z.strictObject({ ...decision, applicants: failsafeApplicantsSchema(maxApplicants).exactOptional() });
});

export const resolvePullSchema = perMaximum((maxApplicants) =>
  z.strictObject({ pullId: fields.pullId, ...decisionSchema(maxApplicants).shape }),
);

const { journeyId: _, ...withdrawal } = withdrawSchema.shape;
export const withdrawPullSchema = z.strictObject({ pullId: fields.pullId, ...withdrawal });
