/**
 * The JSON Schemas that are published for other languages (`schemas/`, docs/integrating.md), made from the zod schemas
 * that the worker checks with. The worker may still refuse what a schema admits: rules that JSON Schema cannot express
 * are in `description`.
 */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../src/config/limits.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../src/fields/applicant-schemas.ts';
import {
  invalidInputSchema,
  journeyReferencesSchema,
  journeyResultSchema,
  journeyStatusSchema,
  lateConsentResultSchema,
  updateAnswerSchema,
  updateRefusedSchema,
} from '../src/messages/journey/result-schemas.ts';
import {
  advanceSchema,
  journeySchemas,
  lendingJourneySchema,
  resolveInquirySchema,
} from '../src/messages/journey/schemas.ts';
import {
  portfolioProgressSchema,
  portfolioResultSchema,
  portfolioStatusSchema,
  portfolioUpdateAnswerSchema,
} from '../src/messages/portfolio/result-schemas.ts';
import { portfolioSchemas, resolvePortfolioSchema } from '../src/messages/portfolio/schemas.ts';
import {
  pullReferencesSchema,
  pullResultSchema,
  pullStatusSchema,
  pullUpdateAnswerSchema,
} from '../src/messages/pull/result-schemas.ts';
import {
  creditReportSchema,
  failsafeCheckSchema,
  resolvePullSchema,
  withdrawPullSchema,
} from '../src/messages/pull/schemas.ts';
import {
  shareReportReferencesSchema,
  shareReportResultSchema,
  shareReportStatusSchema,
  shareReportUpdateAnswerSchema,
} from '../src/messages/share/result-schemas.ts';
import { shareReportSchemas } from '../src/messages/share/schemas.ts';
import { webhookEventSchema } from '../src/messages/webhooks/schemas.ts';
import { STAGES } from '../src/model/products.ts';

/** A profile's own limit is configuration. The published limit is the highest that can be configured. */
const APPLICANTS = applicantsSchema(GATEWAY_LIMITS.maxApplicants.max);
const FAILSAFE_APPLICANTS = failsafeApplicantsSchema(GATEWAY_LIMITS.maxApplicants.max);

const { consent, extend, requestShare, withdraw, withdrawShare } = journeySchemas();
const { review, message: portfolioMessage } = portfolioSchemas();
const { shareReport, extendShareReport, resolveShareReport, withdrawShareReport } = shareReportSchemas();

const APPLICANT_RULES =
  'At most as many applicants as the gateway profile allows (2 unless configured); no two with one applicantId or ssn; ' +
  'zip4, where given, agrees with a zip of nine digits.';

type JsonSchema = Record<string, unknown>;

function implies(condition: JsonSchema, conclusion: JsonSchema, otherwise?: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: conclusion, ...(otherwise ? { else: otherwise } : {}) };
}

function hasValue(member: string, value: string): JsonSchema {
  return { required: [member], properties: { [member]: { const: value } } };
}

function needsPurposeCode(product: string): JsonSchema {
  return { properties: { permissiblePurposeCodes: { required: [product] } } };
}

/** Required for each stage that will run (the listed ones, or all), and for a share without a code of its own. */
const PURPOSE_CODES = [
  ...STAGES.map((stage) => {
    const isListed = { properties: { stages: { contains: { const: stage } } } };
    return implies({ anyOf: [{ not: { required: ['stages'] } }, isListed] }, needsPurposeCode(stage));
  }),
  implies(
    {
      required: ['shares'],
      properties: { shares: { contains: { not: { required: ['permissiblePurposeCode'] } } } },
    },
    needsPurposeCode('SECONDUSE'),
  ),
];

/** `member` may only occur with one value of another member. */
function onlyWith(condition: JsonSchema, member: string): JsonSchema {
  return implies(condition, { required: [member] }, { not: { required: [member] } });
}

const DECISION_MEMBERS = [
  onlyWith(hasValue('action', 'accept'), 'outcome'),
  onlyWith(hasValue('outcome', 'record'), 'reference'),
  implies(hasValue('outcome', 'record'), { properties: { providerSaid: { const: 'posted' } } }),
  { dependentRequired: { confirmConsumerIds: ['reference'] } },
  implies({ required: ['applicants'] }, hasValue('action', 'amend')),
];

const consentMessage = consent.meta({
  id: 'consent',
  allOf: [implies(hasValue('decision', 'granted'), { required: ['evidence'] })],
});

interface Published {
  title: string;
  description: string;
  schema: z.ZodType;
}

/** By the name of the file in `schemas/`. */
const PUBLISHED: Record<string, Published> = {
  'lending-journey-input': {
    title: 'Input of the workflow lendingJourney',
    description:
      'Stages keep the order PREQUAL, PREAPP, PRECLOSE. A gate is that of a stage that is listed; so are endUserCodes and a share’s ' +
      `reportOf. Shares differ in shareId, and none names the end user of its report. attentionAbove needs the stage PRECLOSE. ` +
      APPLICANT_RULES,
    schema: lendingJourneySchema(APPLICANTS).meta({ allOf: PURPOSE_CODES }),
  },
  consent: {
    title: 'The signal consent and the update recordConsent',
    description: 'One applicant’s decision about one share with one secondary user.',
    schema: consentMessage,
  },
  'record-late-consent-input': {
    title: 'Input of the workflow recordLateConsent',
    description: 'A consent, denial or revocation for a journey that has ended.',
    schema: z.strictObject({ consent: consentMessage }),
  },
  advance: {
    title: 'The update advance',
    description:
      'Passes the gate before a stage (to), or has the stage that was answered last pulled once more (repeat); ' +
      `applicants replaces all of them. ${APPLICANT_RULES}`,
    schema: advanceSchema(APPLICANTS),
  },
  'request-share': {
    title: 'The update requestShare',
    description:
      'Asks for one more share, perhaps in place of another. It names another end user than the journey’s own.',
    schema: requestShare,
  },
  'withdraw-share': {
    title: 'The update withdrawShare',
    description: 'Takes one share of a journey back before it is sent. A corrected share takes another id.',
    schema: withdrawShare,
  },
  extend: {
    title: 'The update extend',
    description:
      'Makes the wait at a gate, or of a share for consent, longer while it lasts. by decides, for a reason.',
    schema: extend,
  },
  'resolve-inquiry': {
    title: 'The update resolveInquiry',
    description:
      'A person’s decision about one attempt of an inquiry on hold. No two applicants of a reference share an ' +
      `applicantId or a consumerId. ${APPLICANT_RULES}`,
    schema: resolveInquirySchema(APPLICANTS).meta({ allOf: DECISION_MEMBERS }),
  },
  withdraw: {
    title: 'The update withdraw and the signal requestWithdrawal',
    description: 'Ends the journey after any attempt in flight.',
    schema: withdraw,
  },
  'credit-report-input': {
    title: 'Input of the workflow creditReport',
    description: `One report of one product. ${APPLICANT_RULES}`,
    schema: creditReportSchema(APPLICANTS),
  },
  'failsafe-check-input': {
    title: 'Input of the workflow failsafeCheck',
    description: `The ledger keeps end user and purpose; the request to the gateway has neither. ${APPLICANT_RULES}`,
    schema: failsafeCheckSchema(FAILSAFE_APPLICANTS),
  },
  'resolve-pull': {
    title: 'The update resolveInquiry of creditReport and failsafeCheck',
    description: `A person’s decision about one attempt on hold. Applicants are those of the product. ${APPLICANT_RULES}`,
    schema: resolvePullSchema(FAILSAFE_APPLICANTS).meta({ allOf: DECISION_MEMBERS }),
  },
  'withdraw-pull': {
    title: 'The update withdraw and the signal requestWithdrawal of creditReport and failsafeCheck',
    description: 'Ends the pull after any attempt in flight.',
    schema: withdrawPullSchema(),
  },
  'pull-result': {
    title: 'Result of the workflows creditReport and failsafeCheck',
    description: 'consumerId is personal.',
    schema: pullResultSchema,
  },
  'pull-status': {
    title: 'Answer of the query status of creditReport and failsafeCheck',
    description: 'Nothing personal.',
    schema: pullStatusSchema,
  },
  'pull-references': {
    title: 'Answer of the query references of creditReport and failsafeCheck',
    description: 'consumerId is personal.',
    schema: pullReferencesSchema,
  },
  'pull-update-answer': {
    title: 'Answer of every update of creditReport and failsafeCheck',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: pullUpdateAnswerSchema,
  },
  'portfolio-review-input': {
    title: 'Input of the workflow portfolioReview',
    description:
      'ACCTRVW for each row of a file that the workers have. A Temporal Schedule leaves `reviewId` out: the run takes it from ' +
      'its workflow id, which the schedule makes of its own id and the time.',
    schema: review,
  },
  'resolve-portfolio': {
    title: 'The update resolveInquiry of portfolioReview',
    description: `A person’s decision about one attempt on hold. ${APPLICANT_RULES}`,
    schema: resolvePortfolioSchema(APPLICANTS).meta({ allOf: DECISION_MEMBERS }),
  },
  'portfolio-message': {
    title: 'The updates pause, resume and withdraw and the signal requestWithdrawal of portfolioReview',
    description: 'Who says so, and why.',
    schema: portfolioMessage,
  },
  'portfolio-result': {
    title: 'Result of the workflow portfolioReview',
    description: 'Counts, and the names of files. Nothing personal.',
    schema: portfolioResultSchema,
  },
  'portfolio-status': {
    title: 'Answer of the query status of portfolioReview',
    description: 'Nothing personal.',
    schema: portfolioStatusSchema,
  },
  'portfolio-progress': {
    title: 'Answer of the query progress of portfolioReview',
    description: 'Counts only.',
    schema: portfolioProgressSchema,
  },
  'portfolio-update-answer': {
    title: 'Answer of every update of portfolioReview',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: portfolioUpdateAnswerSchema,
  },
  'share-report-input': {
    title: 'Input of the workflow shareReport',
    description:
      'One report, of the ledger or given in full, for one secondary user: another end user than the report’s own. A ' +
      'reference that the ledger knows agrees with it in end user, applicants and consumers.',
    schema: shareReport,
  },
  'resolve-share-report': {
    title: 'The update resolveInquiry of shareReport',
    description: 'A person’s decision about one attempt on hold.',
    schema: resolveShareReport.meta({ allOf: DECISION_MEMBERS.slice(0, 4) }),
  },
  'extend-share-report': {
    title: 'The update extend of shareReport',
    description: 'Makes the wait for consent longer while it lasts. by decides, for a reason.',
    schema: extendShareReport,
  },
  'withdraw-share-report': {
    title: 'The update withdraw and the signal requestWithdrawal of shareReport',
    description: 'Ends the share after any attempt in flight.',
    schema: withdrawShareReport,
  },
  'share-report-result': {
    title: 'Result of the workflow shareReport',
    description: 'Nothing personal.',
    schema: shareReportResultSchema,
  },
  'share-report-status': {
    title: 'Answer of the query status of shareReport',
    description: 'Nothing personal.',
    schema: shareReportStatusSchema,
  },
  'share-report-references': {
    title: 'Answer of the query references of shareReport',
    description: 'consumerId is personal.',
    schema: shareReportReferencesSchema,
  },
  'share-report-update-answer': {
    title: 'Answer of every update of shareReport',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: shareReportUpdateAnswerSchema,
  },
  'lending-journey-result': {
    title: 'Result of the workflow lendingJourney',
    description: 'consumerId is personal.',
    schema: journeyResultSchema,
  },
  status: { title: 'Answer of the query status', description: 'Nothing personal.', schema: journeyStatusSchema },
  references: {
    title: 'Answer of the query references',
    description: 'consumerId is personal.',
    schema: journeyReferencesSchema,
  },
  'update-answer': {
    title: 'Answer of every update',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: updateAnswerSchema,
  },
  'record-late-consent-result': {
    title: 'Result of the workflow recordLateConsent',
    description: 'It was recorded in the ledger, and nothing was posted.',
    schema: lateConsentResultSchema,
  },
  'invalid-input': {
    title: 'details[0] of a failure with type InvalidInput',
    description: 'Everything that is wrong with an input: where, and the rule. Never a value.',
    schema: invalidInputSchema,
  },
  'webhook-event': {
    title: 'Body of a webhook',
    description:
      'What happened in a journey, a pull, a share by itself or a portfolio’s review. Nothing personal, and no report ' +
      'reference. The ' +
      'header webhook-id names the event: one that was had already is the same again.',
    schema: webhookEventSchema,
  },
  'update-refused': {
    title: 'details[0] of an update that failed with type UpdateRefused',
    description: 'Why the message was refused; the history does not have it.',
    schema: updateRefusedSchema,
  },
};

/** Every schema in JSON Schema 2020-12, by its file name without `.json`. Each is complete by itself. */
export function publishedSchemas(): Map<string, JsonSchema> {
  return new Map(Object.entries(PUBLISHED).map(([name, published]) => [name, documentOf(name, published)]));
}

function documentOf(name: string, { title, description, schema }: Published): JsonSchema {
  // `input`: the form before zip and state are normalized. Results stay open to more members.
  const {
    $schema,
    id,
    description: _,
    ...body
  } = z.toJSONSchema(schema, { io: 'input', override: withoutId }) as JsonSchema;
  return { $schema, $id: `urn:credit-journey:schema:${name}`, title, description, ...body };
}

/** Removes `$id`s: names of `$defs` are no addresses. */
function withoutId({ jsonSchema }: { jsonSchema: { id?: unknown } }): void {
  delete jsonSchema.id;
}
