/**
 * The JSON that callers in any language send and receive: one object per message (README, "Shapes").
 * Types only. Instants are RFC 3339 with offset, durations ISO 8601 in days and time, dates YYYY-MM-DD.
 */

import type { Applicant } from '../../model/applicant.ts';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import type { Environment, ProductCode, StageCode } from '../../model/products.ts';
import type { ProviderSaid } from '../../model/provider-word.ts';
import type { ReportOutcome, ReportReference } from '../../model/report-outcome.ts';
import type { SecondaryUser } from '../../model/secondary-user.ts';
import type { StageChanges } from './change-summary.ts';

export interface ShareInput extends SecondaryUser {
  shareId: string;
  /** Default: the journey's `permissiblePurposeCodes.SECONDUSE`. */
  permissiblePurposeCode?: string;
  /** The stage whose report is shared: its newest, if the stage was repeated. Default: the last stage with a record. */
  reportOf?: StageCode;
  /** How long the share waits for consent once its report exists. Default P30D. */
  awaitConsentFor?: string;
  /** How old a grant may be when an attempt is scheduled. Default: any age. */
  consentValidFor?: string;
}

export interface GateInput {
  pass?: 'manual' | 'auto';
  /** Default P30D. */
  expiresAfter?: string;
}

/** Input of the workflow `lendingJourney`. */
export interface LendingJourneyInput {
  journeyId: string;
  /** Name of a gateway profile. Default `default`. */
  profile?: string;
  endUserCode: string;
  permissiblePurposeCodes: Partial<Record<StageCode | 'SECONDUSE', string>>;
  applicants: Applicant[];
  stages?: StageCode[];
  gates?: Partial<Record<'PREAPP' | 'PRECLOSE', GateInput>>;
  onNoRecord?: 'stop' | 'continue';
  shares?: ShareInput[];
  /** How long the journey stays open for further shares after everything else has ended. Default: not at all. */
  sharesOpenFor?: string;
  /** How long it stays open for a repeat of its last stage, counted anew after each repeat. Default: not at all. */
  repeatsOpenFor?: string;
  /**
   * How old the latest report may be when a gate is passed; with an older one a person must accept its age. Default:
   * any age.
   */
  maxReportAge?: string;
}

export interface ConsentMessage {
  journeyId: string;
  shareId: string;
  applicantId: string;
  consentId: string;
  decision: 'granted' | 'denied' | 'revoked';
  decidedAt: string;
  /**
   * The sender gave no time: `decidedAt` is when the message was sent. A repeated message keeps the time of the first.
   */
  decidedNow?: true;
  secondaryUser: SecondaryUser;
  /** Required for a grant; never personal. */
  evidence?: { method: string; textVersion: string; capturedAt: string; reference: string };
  /** Compact JWS over `{ "consent": <all of the above>, "exp": <seconds since 1970>, "iat"?: … }`. */
  proof?: string;
}

/** Passes the gate before a stage. */
export interface PassGateMessage {
  journeyId: string;
  to: StageCode;
  /** All applicants from this stage on. */
  applicants?: Applicant[];
  /** Accepts a latest report that is older than `maxReportAge`; needs `by` and `reason`. */
  acceptAge?: true;
  by?: string;
  reason?: string;
}

/** Repeats the stage that was answered last: one further inquiry, by a person's decision. */
export interface RepeatStageMessage {
  journeyId: string;
  repeat: StageCode;
  /** The pull's number within its stage: 2 for the first repeat. The same number again makes no further inquiry. */
  occurrence: number;
  by: string;
  reason: string;
  /** All applicants from this pull on. */
  applicants?: Applicant[];
  /** Compact JWS over `{ "decision": <see RepeatContent>, "exp": <seconds since 1970>, "iat": … }`. */
  proof?: string;
}

export type AdvanceMessage = PassGateMessage | RepeatStageMessage;

export interface WithdrawMessage {
  journeyId: string;
  by: string;
  reason: string;
}

export interface RequestShareMessage {
  journeyId: string;
  share: ShareInput;
}

export interface ResolveInquiryMessage {
  journeyId: string;
  decisionId: string;
  customerTraceNumber: string;
  /** The attempt that the decision is about, as the hold names it. */
  attempt: number;
  action: HoldAction;
  by: string;
  reason: string;
  providerSaid: ProviderSaid;
  /** For `accept`. */
  outcome?: ReportOutcome;
  /** For `accept` with `outcome: "record"`. */
  reference?: ReportReference;
  /**
   * For `accept` with a reference whose `consumerId`s the ledger knows only from other people's inquiries: confirms
   * that they are right.
   */
  confirmConsumerIds?: true;
  /** For `amend`. */
  applicants?: Applicant[];
  /** Compact JWS over `{ "decision": <see DecisionContent>, "exp": <seconds since 1970>, "iat": … }`. */
  proof?: string;
}

export type StageState = 'pending' | 'running' | 'held' | ReportOutcome | 'expired' | 'skipped' | 'abandoned';

export interface StageStatus {
  productCode: StageCode;
  /** From 2: a repeat, listed after the pull that it repeats. */
  occurrence?: number;
  state: StageState;
  attempts: number;
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  /** For a preclose report that was compared with the journey's previous report. */
  changes?: StageChanges;
}

export type ShareState =
  | 'awaitingConsent'
  | 'posting'
  | 'held'
  | 'posted'
  /** On hold, then accepted by a person as not posted. */
  | 'notPosted'
  | 'denied'
  | 'expired'
  | 'revoked'
  | 'nothingToShare'
  /** Its report was disposed of, or came under a legal hold, before it was posted. */
  | 'reportGone'
  | 'abandoned';

export interface ShareStatus {
  shareId: string;
  state: ShareState;
  /** `applicantId` of each applicant without a standing grant. */
  waitingFor: string[];
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  /** Set when something about a posted share needs a person, such as a revocation after posting. */
  attention?: 'revokedAfterPosting';
}

export interface HoldStatus {
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
  failureType: FailureType;
  since: string;
  /** The number of the latest attempt, which a decision names. */
  attempts: number;
  httpStatus?: number;
  returnCode?: string;
  /** For `AnotherNumber`: the trace number under which the ledger has this inquiry for another customer. */
  otherTraceNumber?: string;
  /**
   * For `OutcomeUnknown`: the first request may still arrive until this instant, and no `resend` is taken before. RFC
   * 3339.
   */
  resendFrom?: string;
  allowedActions: HoldAction[];
  /** The latest decision that the ledger has refused, and why. The hold still waits for a decision. */
  refusedDecision?: { decisionId: string; reason: string; at: string };
}

export interface RefusedMessage {
  message: string;
  at: string;
  reason: string;
  consentId?: string;
}

/** The end of a run without an outcome, and so without a result. */
export type TerminalState = 'cancelled' | 'failed';

export type JourneyState =
  | 'running'
  | 'waitingAtGate'
  | 'waitingForConsent'
  | 'held'
  | 'completed'
  | 'stopped'
  | 'expired'
  | 'withdrawn'
  | 'abandoned'
  | TerminalState;

/** Consents to shares that have not been requested yet. */
export interface EarlyConsents {
  count: number;
  /** The first 20 of them. */
  shareIds: string[];
}

/** Answer of the query `status`: nothing personal. */
export interface JourneyStatus {
  journeyId: string;
  environment: Environment | null;
  state: JourneyState;
  /** What the journey waits for, in words: the gate (`PREAPP`), the share (`share S1`) or the retry. */
  waitingFor?: string;
  /** At a gate: the stage whose report is older than `maxReportAge`. `advance` then needs a repeat or `acceptAge`. */
  reportTooOld?: StageCode;
  stages: StageStatus[];
  shares: ShareStatus[];
  holds: HoldStatus[];
  /**
   * Consents that are kept until their share is requested. Absent where there are none. A misspelt `shareId` shows
   * here.
   */
  earlyConsents?: EarlyConsents;
  /** The last 50. */
  refusedMessages: RefusedMessage[];
  refusedMessagesTotal: number;
}

export type JourneyOutcome = 'completed' | 'stopped' | 'expired' | 'withdrawn' | 'abandoned';

export interface StageResult extends StageStatus {
  reference?: ReportReference;
}

/** Result of the workflow `lendingJourney`. */
export interface JourneyResult {
  journeyId: string;
  environment: Environment;
  outcome: JourneyOutcome;
  stages: StageResult[];
  shares: ShareStatus[];
}

/** Answer of the query `references`; `consumerId` is personal. */
export interface JourneyReferences {
  journeyId: string;
  references: { productCode: StageCode; occurrence?: number; reference: ReportReference }[];
  shares: { shareId: string; reportReferenceNumber: string }[];
}

/** Answer of every update: the message was accepted. It does not say that the gateway has answered. */
export interface UpdateAnswer {
  accepted: true;
  duplicate: boolean;
  status: JourneyStatus;
  /**
   * Answer to a consent or a decision. `false`: the ledger could not be reached. The run keeps the message and tries
   * again.
   */
  recorded?: boolean;
  /** Answer to a consent only: its share has not been requested yet. The consent is kept. */
  unmatched?: 'share';
}
