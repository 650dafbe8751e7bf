/**
 * The types of the answers of a journey, as callers in any language receive them (docs/journeys.md, "Messages"). They follow
 * from the schemas. Instants are RFC 3339 with offset, durations ISO 8601 in days and time, dates YYYY-MM-DD.
 */
import type { z } from 'zod';
import type * as results from './result-schemas.ts';

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
/** What the ledger says of a consent that it recorded without an open run. */
export type RecordedConsent = z.infer<typeof results.recordedConsentSchema>;
/** Result of the workflow `recordLateConsent`. */
export type LateConsentResult = z.infer<typeof results.lateConsentResultSchema>;
