/**
 * The answers of a journey, as callers in any language receive them (docs/journeys.md, "Messages"), and what the answers of
 * all kinds of runs have alike: schemas, and the types that follow from them. Open: a later version may add members. Instants
 * are RFC 3339 with offset, durations ISO 8601 in days and time, dates YYYY-MM-DD.
 */
import { z } from 'zod';
import { FAILURE_TYPES, HOLD_ACTIONS } from '../../model/failure-types.ts';
import { REPORT_CHANGED, SSN_MISMATCH } from '../../model/inquiry.ts';
import { ENVIRONMENTS, PRODUCTS, STAGES } from '../../model/products.ts';
import { REFUSAL_CAUSES } from '../../model/refusals.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import { stageChangesSchema } from './change-summary.ts';

export const instant = z.string().meta({ format: 'date-time' });
export const count = z.int().min(0);
export const optionalText = z.string().optional();
const stage = z.enum(STAGES);
const environment = z.enum(ENVIRONMENTS);
const occurrence = z.int().min(2).optional();
const stagePull = { productCode: stage, occurrence };

export const reportReferenceSchema = z
  .object({
    reportReferenceNumber: z.string(),
    requestedAt: instant.describe('The instant just before the first byte of the request.'),
    applicants: z.array(z.object({ applicantId: z.string(), consumerId: z.string().describe('Personal.') })),
  })
  .meta({ id: 'reportReference', description: 'To be stored for later secondary use.' });

const returnCode = z.string().describe('As the gateway wrote it.');
const returnReasonCode = z
  .string()
  .regex(/^[A-Za-z0-9]{1,4}$/)
  .describe('A code of the provider, if it gives one.');

/** An applicant's outcome. FAILSAFE adds members that name the consumer. */
export const applicantOutcomeFields = {
  applicantId: z.string(),
  outcome: z.enum(REPORT_OUTCOMES),
  returnCode: returnCode.optional().describe('Present where the gateway gives one for each applicant.'),
  returnReasonCode: returnReasonCode.optional(),
};

export const problemSchema = z.object({
  path: z.string().describe('A JSON pointer; empty for the whole.'),
  rule: z.string(),
});

const cause = z
  .enum(REFUSAL_CAUSES)
  .meta({ id: 'refusalCause', description: 'The cause of the refusal, for programs.' });

const refusalFields = {
  cause,
  reason: z.string(),
  paths: z.array(z.string()).optional().describe('With `differs`: the places of the difference, as JSON pointers.'),
};

const remarksSchema = z
  .array(problemSchema)
  .optional()
  .describe(
    'Remarks on the answer, each a path and a rule: a value that differs from the request’s, an empty entry that was read as ' +
      'no record. The first 20; never a value.',
  );

/** Members of an answered stage, pull or row, in status, result and events. Nothing personal. */
export const answeredFields = {
  returnCode: returnCode.optional().describe('Absent where an operator accepted the outcome.'),
  returnReasonCode: returnReasonCode.optional(),
  applicantOutcomes: z
    .array(z.object(applicantOutcomeFields))
    .optional()
    .describe('Once answered: one for each applicant of the request.'),
  noRecordReference: optionalText.describe(
    'The reference number of an answer without a record. Nothing can be shared under it.',
  ),
  remarks: remarksSchema,
};

/** Members of the status of a stage, a pull or a share: each makes one inquiry. */
export const inquiryFields = {
  attempts: count,
  customerTraceNumber: optionalText,
  reportReferenceNumber: optionalText,
};

/** Members of a share, of a journey or by itself, in status and result. */
export const sharedFields = {
  customerTraceNumber: optionalText,
  reportReferenceNumber: optionalText.describe('The share’s own reference number (interface 2.7).'),
  remarks: remarksSchema,
  /** Set when something about a posted share needs a person, such as a revocation after posting. */
  attention: z.literal('revokedAfterPosting').optional(),
};

/** Members of a share's status alone. */
export const shareStatusFields = {
  ...sharedFields,
  until: instant.optional().describe('While it waits for consent: when the wait ends.'),
};

export const consumerWithoutRecordSchema = z
  .object({
    applicantId: optionalText.describe('Absent where the answer does not show whose it is.'),
    consumerId: z.string().describe('Personal.'),
    noRecordReference: optionalText,
  })
  .meta({ id: 'consumerWithoutRecord' });

/** The members that say which pull an entry of `references` is from come first. */
export function listWithoutRecord<Pull extends z.ZodRawShape>(pull: Pull) {
  return z
    .array(z.object({ ...pull, ...consumerWithoutRecordSchema.shape }))
    .optional()
    .describe('The consumers that an answer names and has no record of: to be stored too.');
}

export const ssnMismatchSchema = z
  .literal(SSN_MISMATCH)
  .optional()
  .describe(
    'A consumer of the report has an SSN that is not in the request, and the profile says flag: an operator should look.',
  );

export const stageAttentionSchema = z
  .enum([SSN_MISMATCH, REPORT_CHANGED])
  .optional()
  .describe(
    'An operator should look. ssnMismatch: a consumer of the report has an SSN that is not in the request, and the profile says ' +
      'flag. reportChanged: more has changed since the report before than attentionAbove allows, or it could not be compared.',
  );

export const stageStatusSchema = z
  .object({
    productCode: stage,
    occurrence: occurrence.describe('The number of the pull, for a repeat. A repeat follows the pull that it repeats.'),
    state: z.enum(['pending', 'running', 'held', ...REPORT_OUTCOMES, 'expired', 'skipped', 'abandoned']),
    ...inquiryFields,
    ...answeredFields,
    /** For a preclose report that was compared with the journey's previous report. */
    changes: stageChangesSchema.optional(),
    attention: stageAttentionSchema,
  })
  .meta({ id: 'stageStatus' });

/** The ends of a share, of a journey or by itself. */
export const SHARE_OUTCOMES = [
  'posted',
  // On hold, then accepted by a person as not posted.
  'notPosted',
  'denied',
  'expired',
  'revoked',
  // Its report was disposed of, or came under a legal hold, before it was posted.
  'reportGone',
  // Taken back by the platform before it was sent; the ledger keeps it from ever being sent.
  'withdrawn',
  'abandoned',
] as const;

export const shareStatusSchema = z
  .object({
    shareId: z.string(),
    state: z.enum(['awaitingConsent', 'posting', 'held', 'nothingToShare', ...SHARE_OUTCOMES]),
    waitingFor: z.array(z.string()).describe('The applicantId of each applicant without a valid grant.'),
    ...shareStatusFields,
  })
  .meta({ id: 'shareStatus' });

export const holdStatusSchema = z
  .object({
    customerTraceNumber: z.string(),
    productCode: z.enum(PRODUCTS),
    shareId: optionalText,
    /** The gateway profile, and for whom it is asked; absent of a hold from an older worker. */
    profile: optionalText,
    endUserCode: optionalText,
    endUser: optionalText,
    applicantIds: z.array(z.string()).optional().describe('The applicants that the inquiry is about.'),
    accountId: optionalText.describe('The row of a portfolio review.'),
    failureType: z.enum(FAILURE_TYPES),
    since: instant,
    attempts: count.describe('The attempt that a decision judges.'),
    httpStatus: z.int().optional(),
    refusalKept: z
      .literal(true)
      .optional()
      .describe('The ledger keeps what the gateway wrote beside that status, sealed like a report.'),
    returnCode: optionalText,
    returnReasonCode: returnReasonCode.optional(),
    otherTraceNumber: optionalText.describe(
      'With AnotherNumber: the number that the inquiry has for another customer.',
    ),
    resendFrom: instant
      .optional()
      .describe('With OutcomeUnknown: the first request may still arrive until then, and the ledger refuses a resend.'),
    problems: z
      .array(problemSchema)
      .optional()
      .describe(
        'With InvalidInput: of the request. With UnexpectedResponse: of the answer. The first 20; never a value.',
      ),
    allowedActions: z.array(z.enum(HOLD_ACTIONS)),
    refusedDecision: z
      .object({ decisionId: z.string(), ...refusalFields, at: instant })
      .describe('The latest decision that the ledger has refused, and why. The hold still waits for a decision.')
      .optional(),
  })
  .meta({ id: 'holdStatus' });

export const refusedMessageSchema = z
  .object({ message: z.string(), at: instant, reason: z.string(), consentId: optionalText })
  .meta({ id: 'refusedMessage' });

/** In the status of each kind of run. */
export const runStatusFields = {
  environment: environment.optional().describe('Absent until a worker accepts the input.'),
  waitingFor: optionalText.describe(
    'Of a journey at a gate: the stage behind it. Otherwise words for people: the decision, the retry, the share or the consents that the run waits for.',
  ),
  problems: z
    .array(problemSchema)
    .optional()
    .describe(
      'For a run that failed because its input was refused: the problems of the input. For a running one: no worker that was asked has its `profile`, and the run asks others for half a minute. The first 20.',
    ),
  holds: z.array(holdStatusSchema),
  refusedMessages: z.array(refusedMessageSchema).describe('The last 50.'),
  refusedMessagesTotal: count,
};

/** How a run ended that has no result, as its status shows it. */
export const TERMINAL_STATES = ['cancelled', 'failed'] as const;

/** The states of a run that has closed without a result. The run itself cannot say the last two: the client does. */
export const CLOSED_STATES = [...TERMINAL_STATES, 'terminated', 'timedOut'] as const;

const OUTCOMES = ['completed', 'stopped', 'expired', 'withdrawn', 'abandoned'] as const;

export const journeyStatusSchema = z
  .object({
    journeyId: z.string(),
    state: z.enum(['running', 'waitingAtGate', 'waitingForConsent', 'held', ...OUTCOMES, ...CLOSED_STATES]),
    waitingUntil: instant.optional().describe('At a gate: when it expires.'),
    /** `advance` then needs a repeat or `acceptAge`. */
    reportTooOld: stage.optional().describe('At a gate: the stage whose report is older than maxReportAge.'),
    stages: z.array(stageStatusSchema),
    shares: z.array(shareStatusSchema),
    ...runStatusFields,
  })
  .meta({ id: 'journeyStatus' });

export const journeyResultSchema = z.object({
  journeyId: z.string(),
  environment,
  outcome: z.enum(OUTCOMES),
  stages: z.array(
    z.object({ ...stageStatusSchema.shape, reference: reportReferenceSchema.optional() }).meta({ id: 'stageResult' }),
  ),
  shares: z.array(shareStatusSchema),
});

export const journeyReferencesSchema = z.object({
  journeyId: z.string(),
  references: z.array(z.object({ ...stagePull, reference: reportReferenceSchema })),
  shares: z.array(z.object({ shareId: z.string(), reportReferenceNumber: z.string() })),
  withoutRecord: listWithoutRecord(stagePull),
});

/** The members of the answer to every update, for every kind of run. It does not say that the gateway has answered. */
export const acceptedSchema = z.object({
  accepted: z.literal(true),
  duplicate: z.boolean().describe('This message, or one that says the same, was accepted before.'),
  recorded: z
    .boolean()
    .optional()
    .describe(
      'Answer to a consent, a decision, a withdrawal, or a review’s pause and resume: whether the ledger has it. For a decision about a hold: only present if it does not. false: the ledger ' +
        'could not be reached within 5 s. The run has the message and keeps trying to write it; send it again under a new update id to ask. ' +
        'After LedgerChanged: no ledger has it, and none will.',
    ),
});

export const standsSchema = z
  .object({
    decision: z.enum(['granted', 'denied', 'revoked', 'none']),
    since: instant.optional().describe('When the applicant decided that.'),
    consentId: optionalText.describe('Absent where another share’s refusal counts here.'),
    changed: z.boolean().describe('Whether this message has changed it.'),
  })
  .describe('The decision now in force for this applicant and this share, according to the ledger.');

/** The part of a consent that the ledger does not know. */
export const UNMATCHED = ['journey', 'share', 'applicant'] as const;

export const recordedConsentSchema = z.object({
  stands: standsSchema,
  duplicate: z.boolean().describe('The ledger had the same consent before.'),
  postedSharesFlagged: count.describe('Posted shares that the message concerns, now flagged for an operator.'),
  unmatched: z
    .enum(UNMATCHED)
    .optional()
    .describe(
      'What the ledger does not know of the message’s names. The ledger keeps the consent for a later start, and lists it for an operator.',
    ),
});

/** `details[0]` of a failure with type `InvalidInput`. */
export const invalidInputSchema = z.object({ problems: z.array(problemSchema) });

/** The ledger has the consent, or refuses it. A refusal is an answer: the workflow completes. */
export const lateConsentResultSchema = z.union([
  recordedConsentSchema.describe('The ledger has recorded the consent, and nothing was posted.'),
  z.object({ ...invalidInputSchema.shape, cause }).describe('The consent was refused, and nothing was recorded.'),
]);

/** `details[0]` of an update that fails with type `UpdateRefused`. */
export const updateRefusedSchema = z.object(refusalFields);

/** The content of an answer beside its outcome. Nothing personal. */
export type AnsweredInquiry = z.infer<z.ZodObject<typeof answeredFields>>;
export type StageStatus = z.infer<typeof stageStatusSchema>;
export type ShareStatus = z.infer<typeof shareStatusSchema>;
export type ShareState = ShareStatus['state'];
export type HoldStatus = z.infer<typeof holdStatusSchema>;
export type RefusedMessage = z.infer<typeof refusedMessageSchema>;
export type TerminalState = (typeof TERMINAL_STATES)[number];
export type ClosedState = (typeof CLOSED_STATES)[number];
export type JourneyStatus = z.infer<typeof journeyStatusSchema>;
export type JourneyResult = z.infer<typeof journeyResultSchema>;
export type JourneyOutcome = JourneyResult['outcome'];
export type StageResult = JourneyResult['stages'][number];
export type JourneyReferences = z.infer<typeof journeyReferencesSchema>;
export type Stands = z.infer<typeof standsSchema>;
export type RecordedConsent = z.infer<typeof recordedConsentSchema>;
export type LateConsentResult = z.infer<typeof lateConsentResultSchema>;
