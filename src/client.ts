/**
 * The typed client for origination platforms: starts journeys, moves them on and reads what came of them.
 *
 *     await using journeys = await CreditJourneys.connect();
 *     const journey = await journeys.start({ journeyId: 'J-1', … });
 *     for await (const status of journey.watch()) console.log(status.state);
 */
export { DEFAULT_CHANGE_OPTIONS } from './changes/change-options.ts';
export { changesBetween } from './changes/changes-between.ts';
export type {
  ApplicantChanges,
  FigureMove,
  Identification,
  ReportChanges,
  ReportedAddress,
  ReportedName,
  StatusMove,
  Tradeline,
  TradelineChange,
  UnreadableField,
} from './changes/report-changes.ts';
export type { SealedChanges } from './changes/sealed-changes.ts';
export type { CallOptions } from './client/connection/calls.ts';
export { CodecServerError, type CodecServerErrorCode } from './client/connection/codec-server-error.ts';
export type { ConnectOptions } from './client/connection/connect-options.ts';
export {
  AnswerUnreadableError,
  CallAbortedError,
  ClientClosedError,
  DecisionRefusedError,
  InputDiffersError,
  JourneyFailedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  KeysMissingError,
  ResultNotReadyError,
  ShareAfterEndError,
  TemporalRefusedError,
  type TemporalUnavailableCode,
  TemporalUnavailableError,
  TooManyMessagesError,
  UpdateRefusedError,
  WorkerUnavailableError,
} from './client/connection/errors.ts';
export { CreditJourneys, type Started, type StartOptions } from './client/credit-journeys.ts';
export { type ConsentAnswer, JourneyHandle, type Replacing } from './client/runs/journey-handle.ts';
export type { LateConsentAnswer } from './client/runs/late-consent.ts';
export { PortfolioHandle } from './client/runs/portfolio-handle.ts';
export { PullHandle } from './client/runs/pull-handle.ts';
export type { MessageOptions } from './client/runs/run-handle.ts';
export { type ShareConsentAnswer, type ShareConsentMessage, ShareHandle } from './client/runs/share-handle.ts';
export type { WatchOptions } from './client/runs/watch.ts';
export type { CodecServerAccess } from './config/codec-server-access.ts';
export { readResponse } from './gateway/envelope.ts';
export type { GatewayResponse } from './gateway/responses.ts';
export type { AdvanceMessage, PassGateMessage, RepeatStageMessage } from './messages/advance.ts';
export type { ConsentMessage } from './messages/consent.ts';
export type { ExtendMessage, ExtendShareReportMessage } from './messages/extend.ts';
export type { GateInput, LendingJourneyInput } from './messages/inputs/lending-journey.ts';
export type { PortfolioReviewInput } from './messages/inputs/portfolio-review.ts';
export type { CreditReportInput, FailsafeCheckInput, PullInput, PullProduct } from './messages/inputs/pull.ts';
export type { GivenReportInput, ShareReportInput, StoredReportInput } from './messages/inputs/share-report.ts';
export type {
  ChangeCounts,
  ChangeSummary,
  ChangeTotals,
  ComparisonGap,
  StageChanges,
} from './messages/journey/change-summary.ts';
export type {
  HoldStatus,
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
  LateConsentResult,
  RefusedMessage,
  ShareState,
  ShareStatus,
  StageResult,
  StageState,
  StageStatus,
  TerminalState,
  UpdateAnswer,
} from './messages/journey/shapes.ts';
export type {
  PortfolioOutcome,
  PortfolioProgress,
  PortfolioResult,
  PortfolioState,
  PortfolioStatus,
  PortfolioUpdateAnswer,
} from './messages/portfolio/shapes.ts';
export type {
  ConsumerResult,
  PullOutcome,
  PullReferences,
  PullResult,
  PullState,
  PullStatus,
  PullUpdateAnswer,
} from './messages/pull/shapes.ts';
export type { RequestShareMessage, ShareInput } from './messages/request-share.ts';
export type {
  ResolveInquiryMessage,
  ResolvePortfolioMessage,
  ResolvePullMessage,
  ResolveShareReportMessage,
} from './messages/resolve-inquiry.ts';
export type {
  ReportSource,
  ShareReportOutcome,
  ShareReportReferences,
  ShareReportResult,
  ShareReportState,
  ShareReportStatus,
  ShareReportUpdateAnswer,
} from './messages/share/shapes.ts';
export type { WebhookBodies, WebhookEventData, WebhookEventType } from './messages/webhooks/events.ts';
export type {
  PortfolioMessage,
  WithdrawMessage,
  WithdrawPullMessage,
  WithdrawShareReportMessage,
} from './messages/withdraw.ts';
export type { WithdrawShareMessage } from './messages/withdraw-share.ts';
export type { Applicant, FailsafeApplicant } from './model/applicant.ts';
export type { ChangeOptions, FigureThreshold } from './model/change-options.ts';
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
export type { SecondaryUser } from './model/secondary-user.ts';
export type { WorkClass } from './model/work-class.ts';
export { KeyRingError, UndecodablePayloadError, UnknownKeyError } from './protection/errors.ts';
export {
  constructEvent,
  type ReceivedEvent,
  WebhookEventError,
  type WebhookEventErrorCode,
} from './webhooks/construct-event.ts';
