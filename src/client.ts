/**
 * The typed client for origination platforms: starts journeys, moves them on and reads their outcomes.
 *
 *     await using journeys = await CreditJourneys.connect();
 *     const journey = await journeys.start({ journeyId: 'J-1', … });
 *     for await (const status of journey.watch()) console.log(status.state);
 */

export type { ReportChanges, SealedChanges } from './changes/changes-between.ts';
export { changesBetween } from './changes/changes-between.ts';
export type { CallOptions, MessageOptions } from './client/connection/calls.ts';
export type { ConnectOptions } from './client/connection/connect.ts';
export {
  CallError,
  type CallErrorCode,
  CodecServerError,
  type CodecServerErrorCode,
} from './client/connection/errors.ts';
export { CreditJourneys, type Started, type StartOptions } from './client/credit-journeys.ts';
export type { ConsentAnswer, LateConsentAnswer } from './client/runs/consents.ts';
export type {
  Content,
  JourneyHandle,
  PortfolioHandle,
  PullHandle,
  RunHandle,
  ShareHandle,
} from './client/runs/run-handle.ts';
export type { WatchOptions } from './client/runs/watch.ts';
export type { CodecServerAccess } from './config/codec-server-access.ts';
export { type ChangeOptions, DEFAULT_CHANGE_OPTIONS } from './fields/change-options.ts';
export { readResponse } from './gateway/envelope.ts';
export type { GatewayResponse } from './gateway/responses.ts';
export type { UpdateAnswer } from './messages/answers.ts';
export type { ConsentMessage } from './messages/consent.ts';
export type { GateInput, LendingJourneyInput } from './messages/inputs/lending-journey.ts';
export type { PortfolioReviewInput } from './messages/inputs/portfolio-review.ts';
export type { CreditReportInput, FailsafeCheckInput, PullInput } from './messages/inputs/pull.ts';
export type { GivenReportInput, ShareReportInput, StoredReportInput } from './messages/inputs/share-report.ts';
export type {
  HoldStatus,
  JourneyReferences,
  JourneyResult,
  JourneyStatus,
  RefusedMessage,
  ShareStatus,
  StageResult,
  StageStatus,
} from './messages/journey/shapes.ts';
export type { PortfolioResult, PortfolioStatus } from './messages/portfolio/shapes.ts';
export type { PullReferences, PullResult, PullStatus } from './messages/pull/shapes.ts';
export type { ShareInput } from './messages/request-share.ts';
export type {
  ReportSource,
  ShareReportReferences,
  ShareReportResult,
  ShareReportStatus,
} from './messages/share/shapes.ts';
export type { ReceivedEvent, WebhookBodies, WebhookEventData, WebhookEventType } from './messages/webhooks/events.ts';
export type { Applicant, FailsafeApplicant } from './model/applicant.ts';
export { CreditJourneyError } from './model/credit-journey-error.ts';
export {
  contentDigest,
  type DecisionContent,
  decisionContent,
  type ProvableDecision,
  type ProvableRepeat,
  type RepeatContent,
  repeatContent,
} from './model/decision-content.ts';
export { ConfigError, type ConfigProblem, InvalidInputError, type Problem } from './model/problems.ts';
export type { ReportOutcome, ReportReference } from './model/report-outcome.ts';
export type { SecondaryUser } from './model/stage-end-user.ts';
export type { WorkClass } from './model/work-class.ts';
export { KeyRingError, UndecodablePayloadError, UnknownKeyError } from './protection/errors.ts';
