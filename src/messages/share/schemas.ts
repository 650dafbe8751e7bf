/** The schema of each message of reports shared at any time (docs/shares.md), field by field, as journey/schemas.ts. */
import { z } from 'zod';
import { messageFields } from '../../fields/fields.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import { journeySchemas, ONE_OF_TWO_NAMES, resolveInquirySchema } from '../journey/schemas.ts';

const fields = messageFields();
const { extension, reference, secondaryUserFields, withdraw } = journeySchemas();

const storedFields = {
  productCode: z.enum(REPORT_PRODUCTS),
  customerTraceNumber: fields.customerTraceNumber.exactOptional(),
};

/** A report that is not in the ledger, by what its receiver had to store (interface 2.4). */
const givenReportSchema = z.strictObject({
  /** `consumerId` is personal. */
  reference,
  /** The end user that the report was pulled for. */
  endUserCode: fields.endUserCode,
});

/** A report in the ledger: the newest of its owner and product, unless a trace number names another. */
const pulledReportSchema = z.strictObject({ pullId: fields.pullId, ...storedFields });
const journeyReportSchema = z.strictObject({ journeyId: fields.journeyId, ...storedFields });

const shareFields = {
  shareId: fields.shareId,
  /** Name of a gateway profile. Default `default`. */
  profile: fields.profileName.exactOptional(),
  ...secondaryUserFields,
  permissiblePurposeCode: fields.permissiblePurposeCode,
  /** How long the share waits for consent. Default P30D. */
  awaitConsentFor: fields.duration.exactOptional(),
  /** How old a grant may be when an attempt is scheduled. Default: any age. */
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

const shareReport = z
  .strictObject({ ...shareFields, report: z.union([journeyReportSchema, pulledReportSchema, givenReportSchema]) })
  .meta(ONE_OF_TWO_NAMES);

const { journeyId: _, applicants: __, action, ...decision } = resolveInquirySchema(z.never()).shape;
/** Without `amend`, which has nothing to correct: a share sends a reference, not applicants. */
const resolveShareReport = z.strictObject({
  shareId: fields.shareId,
  ...decision,
  action: action.exclude(['amend']),
});

const { journeyId: ___, ...withdrawal } = withdraw.shape;
const withdrawShareReport = z.strictObject({ shareId: fields.shareId, ...withdrawal });

const extendShareReport = z.strictObject({ shareId: fields.shareId, ...extension });

const SCHEMAS = { shareReport, resolveShareReport, withdrawShareReport, extendShareReport };

/** The schemas by their messages. Of an input, `shareReportSchemaFor` says more about what is wrong. */
export function shareReportSchemas(): typeof SCHEMAS {
  return SCHEMAS;
}
