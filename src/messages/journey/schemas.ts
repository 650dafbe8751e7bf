/** One zod schema for each message of docs/journeys.md, field by field. Rules between fields: cross-rules.ts. */
import { z } from 'zod';
import * as fields from '../../fields/fields.ts';
import { applicantsSchema } from '../../fields/request-schemas.ts';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';

/** The most shares of one journey, as its handlers count them. A limit on everything. */
const MAX_SHARES = 20;

/** A limit against typing errors: a run holds long before it has made so many attempts. */
const MAX_ATTEMPT = 100_000;

/** Interface 4.2, rule 5, for the published schemas. The parser checks it beside the schema, with all other rules. */
export const ONE_OF_TWO_NAMES = { anyOf: [{ required: ['endUserCode'] }, { required: ['endUser'] }] };

const secondaryUserSchema = z
  .strictObject(fields.secondaryUserFields)
  .meta({ id: 'secondaryUser', ...ONE_OF_TWO_NAMES });

export const shareSchema = z
  .strictObject({
    shareId: fields.shareId,
    ...fields.secondaryUserFields,
    permissiblePurposeCode: fields.permissiblePurposeCode.exactOptional(),
    reportOf: fields.stage.exactOptional(),
    awaitConsentFor: fields.duration.exactOptional(),
    consentValidFor: fields.duration.exactOptional(),
  })
  .meta({ id: 'share', ...ONE_OF_TWO_NAMES });

const gateSchema = z.strictObject({
  pass: z.enum(['manual', 'auto']).exactOptional(),
  expiresAfter: fields.duration.exactOptional(),
});

const purposeCodesSchema = z.strictObject({
  PREQUAL: fields.permissiblePurposeCode.exactOptional(),
  PREAPP: fields.permissiblePurposeCode.exactOptional(),
  PRECLOSE: fields.permissiblePurposeCode.exactOptional(),
  SECONDUSE: fields.permissiblePurposeCode.exactOptional(),
});

export function lendingJourneySchema(maxApplicants: number) {
  return z.strictObject({
    journeyId: fields.journeyId,
    profile: fields.profileName.exactOptional(),
    endUserCode: fields.endUserCode,
    permissiblePurposeCodes: purposeCodesSchema,
    applicants: applicantsSchema(maxApplicants),
    stages: z.array(fields.stage).min(1).exactOptional(),
    gates: z.strictObject({ PREAPP: gateSchema.exactOptional(), PRECLOSE: gateSchema.exactOptional() }).exactOptional(),
    onNoRecord: z.enum(['stop', 'continue']).exactOptional(),
    shares: z.array(shareSchema).max(MAX_SHARES).exactOptional(),
    sharesOpenFor: fields.duration.exactOptional(),
    repeatsOpenFor: fields.duration.exactOptional(),
    maxReportAge: fields.duration.exactOptional(),
  });
}

export const consentSchema = z.strictObject({
  journeyId: fields.consentOwner,
  shareId: fields.shareId,
  applicantId: fields.applicantId,
  consentId: fields.consentId,
  decision: z.enum(['granted', 'denied', 'revoked']),
  decidedAt: fields.instant,
  decidedNow: z
    .literal(true)
    .describe('No time was given: decidedAt is when the message was sent. A repeat keeps the time of the first.')
    .exactOptional(),
  secondaryUser: secondaryUserSchema,
  evidence: fields.evidence.exactOptional(),
  proof: fields.proof.exactOptional(),
});

/** For the published schemas: accepting an old report requires `by` and `reason`; nothing else here does. */
const SIGNED_WHERE_AGE_IS_ACCEPTED = {
  dependentRequired: { acceptAge: ['by', 'reason'], by: ['acceptAge'], reason: ['acceptAge'] },
};

export function passGateSchema(maxApplicants: number) {
  return z
    .strictObject({
      journeyId: fields.journeyId,
      to: fields.stage,
      applicants: applicantsSchema(maxApplicants).exactOptional(),
      acceptAge: z.literal(true).exactOptional(),
      by: fields.text(100).exactOptional(),
      reason: fields.text(500).exactOptional(),
    })
    .meta(SIGNED_WHERE_AGE_IS_ACCEPTED);
}

export function repeatStageSchema(maxApplicants: number) {
  return z.strictObject({
    journeyId: fields.journeyId,
    repeat: fields.stage,
    occurrence: z
      .int()
      .min(2)
      .max(MAX_ORDINAL + 1),
    by: fields.text(100),
    reason: fields.text(500),
    applicants: applicantsSchema(maxApplicants).exactOptional(),
    proof: fields.proof.exactOptional(),
  });
}

export function advanceSchema(maxApplicants: number) {
  return z.union([passGateSchema(maxApplicants), repeatStageSchema(maxApplicants)]);
}

export const withdrawSchema = z.strictObject({
  journeyId: fields.journeyId,
  by: fields.text(100),
  reason: fields.text(500),
});

export const requestShareSchema = z.strictObject({ journeyId: fields.journeyId, share: shareSchema });

export const referenceSchema = z.strictObject({
  reportReferenceNumber: fields.reportReferenceNumber,
  requestedAt: fields.instant,
  applicants: z.array(z.strictObject({ applicantId: fields.applicantId, consumerId: fields.consumerId })).min(1),
});

export function resolveInquirySchema(maxApplicants: number) {
  return z.strictObject({
    journeyId: fields.journeyId,
    decisionId: fields.decisionId,
    customerTraceNumber: fields.customerTraceNumber,
    attempt: z.int().min(1).max(MAX_ATTEMPT),
    action: z.enum(HOLD_ACTIONS),
    by: fields.text(100),
    reason: fields.text(500),
    providerSaid: z.enum(PROVIDER_SAID),
    outcome: z.enum(['record', 'noRecord', 'noReport']).exactOptional(),
    reference: referenceSchema.exactOptional(),
    confirmConsumerIds: z.literal(true).exactOptional(),
    applicants: applicantsSchema(maxApplicants).exactOptional(),
    proof: fields.proof.exactOptional(),
  });
}
