/** One zod schema for each message of reports shared at any time (docs/shares.md), field by field. */
import { z } from 'zod';
import * as fields from '../../fields/fields.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import { ONE_OF_TWO_NAMES, referenceSchema, resolveInquirySchema, withdrawSchema } from '../journey/schemas.ts';

const storedFields = {
  productCode: z.enum(REPORT_PRODUCTS),
  customerTraceNumber: fields.customerTraceNumber.exactOptional(),
};

const givenReportSchema = z.strictObject({ reference: referenceSchema, endUserCode: fields.endUserCode });
const pulledReportSchema = z.strictObject({ pullId: fields.pullId, ...storedFields });
const journeyReportSchema = z.strictObject({ journeyId: fields.journeyId, ...storedFields });

const shareFields = {
  shareId: fields.shareId,
  profile: fields.profileName.exactOptional(),
  ...fields.secondaryUserFields,
  permissiblePurposeCode: fields.permissiblePurposeCode,
  awaitConsentFor: fields.duration.exactOptional(),
  consentValidFor: fields.duration.exactOptional(),
};

/** Schemas by the member that names the report, so that each problem concerns the form that the caller meant. */
const SHARE_SCHEMAS = {
  reference: z.strictObject({ ...shareFields, report: givenReportSchema }),
  pullId: z.strictObject({ ...shareFields, report: pulledReportSchema }),
  journeyId: z.strictObject({ ...shareFields, report: journeyReportSchema }),
};

export function shareReportSchemaFor(report: unknown) {
  const names = typeof report === 'object' && report !== null ? Object.keys(report) : [];
  if (names.includes('reference')) return SHARE_SCHEMAS.reference;
  return names.includes('pullId') ? SHARE_SCHEMAS.pullId : SHARE_SCHEMAS.journeyId;
}

/** For the published JSON Schema. */
export const shareReportSchema = z
  .strictObject({ ...shareFields, report: z.union([journeyReportSchema, pulledReportSchema, givenReportSchema]) })
  .meta(ONE_OF_TWO_NAMES);

const { journeyId: _, applicants: __, action, ...decision } = resolveInquirySchema(1).shape;
export const resolveShareReportSchema = z.strictObject({
  shareId: fields.shareId,
  ...decision,
  action: action.exclude(['amend']),
});

const { journeyId: ___, ...withdrawal } = withdrawSchema.shape;
export const withdrawShareReportSchema = z.strictObject({ shareId: fields.shareId, ...withdrawal });
