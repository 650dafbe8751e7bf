/** The schema of each message of single pulls (docs/pulls.md), field by field, as journey/schemas.ts. */
import { z } from 'zod';
import { messageFields } from '../../fields/fields.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import { journeySchemas, resolveInquirySchema } from '../journey/schemas.ts';

const fields = messageFields();

const pullFields = {
  pullId: fields.pullId,
  /** Name of a gateway profile. Default `default`. */
  profile: fields.profileName.exactOptional(),
};

export function creditReportSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({
    ...pullFields,
    productCode: z.enum(REPORT_PRODUCTS),
    endUserCode: fields.endUserCode,
    permissiblePurposeCode: fields.permissiblePurposeCode,
    applicants,
  });
}

export function failsafeCheckSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({
    ...pullFields,
    productCode: z.literal('FAILSAFE'),
    endUserCode: fields.endUserCode.exactOptional(),
    permissiblePurposeCode: fields.permissiblePurposeCode.exactOptional(),
    applicants,
  });
}

/** A decision for any kind of run. */
export function decisionSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  const { journeyId: _, ...decision } = resolveInquirySchema(applicants).shape;
  return z.strictObject(decision);
}

/** Its applicants may lack what FAILSAFE's applicants may lack. */
export function resolvePullSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({ pullId: fields.pullId, ...decisionSchema(applicants).shape });
}

const { journeyId: _, ...withdrawal } = journeySchemas().withdraw.shape;
const withdrawPull = z.strictObject({ pullId: fields.pullId, ...withdrawal });

export function withdrawPullSchema(): typeof withdrawPull {
  return withdrawPull;
}
