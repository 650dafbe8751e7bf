/**
 * The types of the JSON that callers in any language send and receive: one object per message (docs/journeys.md,
 * "Messages"). They follow from the schemas. Instants are RFC 3339 with offset, durations ISO 8601 in days and time,
 * dates YYYY-MM-DD.
 */
import type { z } from 'zod';
import type { Applicant } from '../../model/applicant.ts';
import type * as results from './result-schemas.ts';
import type * as inputs from './schemas.ts';

type Applicants = z.ZodType<Applicant[]>;
type Schemas = ReturnType<typeof inputs.journeySchemas>;

/** Input of the workflow `lendingJourney`. */
export type LendingJourneyInput = z.infer<ReturnType<typeof inputs.lendingJourneySchema<Applicants>>>;
export type GateInput = NonNullable<NonNullable<LendingJourneyInput['gates']>['PREAPP']>;
export type RequestShareMessage = z.infer<Schemas['requestShare']>;
export type WithdrawShareMessage = z.infer<Schemas['withdrawShare']>;
export type ShareInput = RequestShareMessage['share'];
export type ConsentMessage = z.infer<Schemas['consent']>;
/** Passes the gate before a stage. */
export type PassGateMessage = z.infer<ReturnType<typeof inputs.passGateSchema<Applicants>>>;
/** Repeats the stage that was answered last: one further inquiry, by a person's decision. */
export type RepeatStageMessage = z.infer<ReturnType<typeof inputs.repeatStageSchema<Applicants>>>;
export type AdvanceMessage = PassGateMessage | RepeatStageMessage;
/** Makes the wait at a gate, or of a share for consent, longer. */
export type ExtendMessage = z.infer<Schemas['extend']>;
export type WithdrawMessage = z.infer<Schemas['withdraw']>;
export type ResolveInquiryMessage = z.infer<ReturnType<typeof inputs.resolveInquirySchema<Applicants>>>;

/** What an answer says beside its outcome. Nothing personal. */
export type AnsweredInquiry = z.infer<typeof results.answeredSchema>;
export type StageStatus = z.infer<typeof results.stageStatusSchema>;
export type StageState = StageStatus['state'];
export type ShareStatus = z.infer<typeof results.shareStatusSchema>;
export type ShareState = ShareStatus['state'];
export type HoldStatus = z.infer<typeof results.holdStatusSchema>;
export type RefusedMessage = z.infer<typeof results.refusedMessageSchema>;
/** The end of a run without an outcome, and so without a result. */
export type TerminalState = (typeof results.TERMINAL_STATES)[number];
/** Answer of the query `status`: nothing personal. */
export type JourneyStatus = z.infer<typeof results.journeyStatusSchema>;
export type JourneyState = JourneyStatus['state'];
/** Consents to shares that have not been requested yet. */
export type EarlyConsents = NonNullable<JourneyStatus['earlyConsents']>;
/** Result of the workflow `lendingJourney`. */
export type JourneyResult = z.infer<typeof results.journeyResultSchema>;
export type JourneyOutcome = JourneyResult['outcome'];
export type StageResult = z.infer<typeof results.stageResultSchema>;
/** Answer of the query `references`; `consumerId` is personal. */
export type ConsumerWithoutRecord = z.infer<typeof results.consumerWithoutRecordSchema>;
export type JourneyReferences = z.infer<typeof results.journeyReferencesSchema>;
/** Answer of every update: the message was accepted. It does not say that the gateway has answered. */
export type UpdateAnswer = z.infer<typeof results.updateAnswerSchema>;
/** Result of the workflow `recordLateConsent`. */
export type LateConsentResult = z.infer<typeof results.lateConsentResultSchema>;
