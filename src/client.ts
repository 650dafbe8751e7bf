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
export { CodecServerError, type CodecServerErrorCode } from './client/codec-server-error.ts';
export type { ConnectOptions } from './client/connect-options.ts';
export { CreditJourneys, type StartOptions } from './client/credit-journeys.ts';
export {
  ChangesNotFoundError,
  DecisionRefusedError,
  JourneyDiffersError,
  JourneyDisposedError,
  JourneyFailedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  KeysMissingError,
  PortfolioDiffersError,
  PullDiffersError,
  ReportNotFoundError,
  ShareAfterEndError,
  ShareDiffersError,
  TemporalUnavailableError,
  TooManyMessagesError,
  UpdateRefusedError,
  WorkerUnavailableError,
} from './client/errors.ts';
export { type ConsentAnswer, JourneyHandle } from './client/journey-handle.ts';
export type { LateConsentAnswer, LateConsentResult } from './client/late-consent.ts';
export type { LedgerDecision, LedgerDecisionAnswer } from './client/ledger-decisions.ts';
export type { OpenHold } from './client/open-hold.ts';
export type { HoldsQuery, OpenHolds } from './client/open-holds.ts';
export { PortfolioHandle } from './client/portfolio-handle.ts';
export { type ListedSchedule, PortfolioScheduleError, PortfolioSchedules } from './client/portfolio-schedules.ts';
export { PullHandle, type StoredPullReferences } from './client/pull-handle.ts';
export { type ShareConsentAnswer, type ShareConsentMessage, ShareHandle } from './client/share-handle.ts';
export type { JourneyChanges, JourneyReport, StoredReferences } from './client/stored-report.ts';
export type { WatchOptions } from './client/watch.ts';
export { ConfigError, type ConfigProblem } from './config/environment-reader.ts';
export type { CodecServerAccess } from './config-shape.ts';
export { readResponse } from './gateway/envelope.ts';
export type { GatewayResponse } from './gateway/responses.ts';
export type { UnmatchedConsent } from './ledger/kept-consents.ts';
export type { Applicant, FailsafeApplicant } from './model/applicant.ts';
export type { ChangeOptions, FigureThreshold } from './model/change-options.ts';
export type { ChangeCounts, ChangeSummary, ChangeTotals, ComparisonGap, StageChanges } from './model/change-summary.ts';
export {
  contentDigest,
  type DecisionContent,
  decisionContent,
  type ProvableDecision,
  type ProvableRepeat,
  type RepeatContent,
  repeatContent,
} from './model/decision-content.ts';
export type { PortfolioSchedule } from './model/portfolio-schedule.ts';
export type {
  PortfolioMessage,
  PortfolioOutcome,
  PortfolioProgress,
  PortfolioResult,
  PortfolioReviewInput,
  PortfolioState,
  PortfolioStatus,
  PortfolioUpdateAnswer,
  ResolvePortfolioMessage,
} from './model/portfolio-shapes.ts';
export { InvalidInputError, type Problem } from './model/problems.ts';
export type {
  ConsumerResult,
  CreditReportInput,
  FailsafeCheckInput,
  PullInput,
  PullOutcome,
  PullProduct,
  PullReferences,
  PullResult,
  PullState,
  PullStatus,
  PullUpdateAnswer,
  ResolvePullMessage,
  WithdrawPullMessage,
} from './model/pull-shapes.ts';
export type { ReportOutcome, ReportReference } from './model/report-outcome.ts';
export type { SecondaryUser } from './model/secondary-user.ts';
export type {
  AdvanceMessage,
  ConsentMessage,
  EndWithoutOutcome,
  GateInput,
  HoldStatus,
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
  LendingJourneyInput,
  PassGateMessage,
  RefusedMessage,
  RepeatStageMessage,
  RequestShareMessage,
  ResolveInquiryMessage,
  ShareInput,
  ShareState,
  ShareStatus,
  StageResult,
  StageState,
  StageStatus,
  UpdateAnswer,
  WithdrawMessage,
} from './model/shapes.ts';
export type {
  GivenReportInput,
  ReportSource,
  ResolveShareReportMessage,
  ShareReportInput,
  ShareReportOutcome,
  ShareReportReferences,
  ShareReportResult,
  ShareReportState,
  ShareReportStatus,
  ShareReportUpdateAnswer,
  StoredReportInput,
  WithdrawShareReportMessage,
} from './model/share-shapes.ts';
export type { WorkClass } from './model/work-class.ts';
