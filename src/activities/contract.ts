/**
 * Types of the activities' arguments and results. None contains a token, a secret or a report. Some contain applicants,
 * since an attempt needs them.
 */

import type { ConsentRecord, FaultyGrant, GrantFault, GrantKey } from '../consent/consent-record.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { CloseRequest, DecisionRecord, OutcomeRecord, RunWithdrawal } from '../ledger/records.ts';
import type { SealedRefusal } from '../ledger/reports/reports.ts';
import type { PortfolioFormat } from '../messages/inputs/portfolio-review.ts';
import type { StageChanges } from '../messages/journey/change-summary.ts';
import type { Stands } from '../messages/journey/shapes.ts';
import type { ReportSource } from '../messages/share/shapes.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import type { FailureType } from '../model/failure-types.ts';
import type { Answer, AttemptView, InquiryContent, InquiryDescription, ProtocolSettings } from '../model/inquiry.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import type { Problem } from '../model/problems.ts';
import type { Environment, StageCode } from '../model/products.ts';
import type { MessageRefusal } from '../model/refusals.ts';
import type { ReportReference } from '../model/report-outcome.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { SecondaryUser } from '../model/stage-end-user.ts';
import type { PortfolioExamination } from '../portfolio/portfolio-file.ts';

/** The facts that a run fixes at its start and checks every attempt against. */
export interface RunIdentity {
  environment: Environment;
  profile: string;
  customerId: string;
  profileFingerprint: string;
  ledgerId: string;
  /** The profile's setting at the run's start, so that a request and its digest keep one spelling. Absent: as given. */
  accents?: 'transliterate';
  /** The newest attempt of any run that this run has seen. A ledger that lacks it is an older copy. */
  highWaterMark?: HighWaterMark;
}

export interface RunConfig extends RunIdentity {
  settings: ProtocolSettings;
  /** The attributes that this server has registered. Upserting another would block the run for ever. */
  searchAttributes: SearchAttributeName[];
  /** The conditions under which a grant counts. */
  consentTrust: GatewayProfile['consentTrust'];
  /** Attempts begin on the workflow queue, where a worker dispatches them to itself. Absent: on the gateway queue. */
  submitsOnWorkflowQueue?: true;
  /** The base URL of the pages of docs/runbook. */
  runbookUrl?: string;
  /** The profile has endpoints for events. */
  sendsEvents?: true;
}

/** The facts that a `shareReport` run also fixes at its start. */
export interface ShareConfig extends RunConfig {
  report: ReportSource;
  reference: ReportReference;
}

/** A share for which a run asks the ledger which consents are in force. */
export interface ShareQuestion extends SecondaryUser {
  shareId: string;
  /** Maximum age of a grant. Default: any age. */
  validForMs?: number;
  /** Absent while there is no report. */
  reportReferenceNumber?: string;
  /** The owner that the ledger had the report under. */
  reportRunKey?: string;
}

export interface SubmitInquiryArgs extends InquiryContent {
  run: RunIdentity;
  attempt: number;
  settings: ProtocolSettings;
  consents: GrantKey[];
  /** SECONDUSE: the maximum age of a grant when the attempt is claimed. Default: any age. */
  consentValidForMs?: number;
  /** After a 401: the attempt needs a token that was fetched after this instant. */
  tokenFetchedAfter?: string;
  /** A stage's report is compared with this earlier one after its outcome is recorded. */
  compareWith?: ComparedReport;
  /** The activity was scheduled on the workflow queue. */
  onWorkflowQueue?: true;
}

export interface AnsweredAttempt {
  attempt: number;
  answer: Answer;
  recorded: boolean;
  requestedAt?: string;
  /** The comparison with the earlier report. Absent if none was requested, or if this attempt did not make it. */
  changes?: StageChanges;
}

export type SubmitInquiryResult =
  /** The outcome of this attempt, or of an earlier one that the ledger has. */
  | ({ kind: 'answered'; highWaterMark: HighWaterMark } & AnsweredAttempt)
  /** This worker has no slot for the attempt and claimed nothing: the run uses the gateway queue. */
  | { kind: 'noSlot' }
  /** The ledger's latest attempt of the inquiry. This activity sent nothing. */
  | ({ kind: 'latest'; latest: AttemptView } & Pick<AnsweredAttempt, 'changes'>)
  /** The ledger has a withdrawal of the run. The activity claimed and sent nothing. */
  | ({ kind: 'withdrawn' } & RunWithdrawal)
  /** A consent or another row in the ledger does not permit the share. The activity claimed and sent nothing. */
  | { kind: 'notPermitted' };

/** `details[0]` of every failure that `submitInquiry` throws. */
export interface SubmitFailureDetails {
  attempt: number;
  /** Whether the ledger has this attempt, so that the next one has the next number. */
  claimed: boolean;
  /** Whether the ledger has the attempt's outcome. */
  recorded: boolean;
  httpStatus?: number;
  retryAfterMs?: number;
  requestedAt?: string;
  /** The ledger keeps the gateway's text beside that status. */
  refusalKept?: true;
  /** The sealed text, if the ledger does not have it yet. The run records it with the outcome. */
  refusal?: SealedRefusal;
  /** With `OutcomeUnknown`: the instant from which the ledger takes a `resend`. */
  resendFrom?: string;
  /** The claimed attempt. */
  highWaterMark?: HighWaterMark;
  /** With `AnotherNumber`: the number under which the ledger has the inquiry. */
  otherTraceNumber?: string;
  /** With `InvalidInput`. */
  problems?: Problem[];
}

/** Has the content, since the ledger gives an outcome only to the request that received it. */
export interface LookUpInquiryArgs extends InquiryContent {
  run: Pick<RunIdentity, 'ledgerId' | 'accents'>;
}

/** `attempt`: the one whose activity was lost or cancelled. */
export type CloseAttemptArgs = LookUpInquiryArgs & Pick<CloseRequest, 'attempt' | 'begunAt'>;

export type CarriedOutcome = OutcomeRecord & { refusal?: SealedRefusal };

export interface ComparedReport {
  productCode: StageCode;
  customerTraceNumber: string;
}

/** A decision as a run has it. The activity that records it judges whether it is proven. */
export type UnprovenDecision = Omit<DecisionRecord, 'provenBy'>;

export interface RecordDecisionArgs {
  ledgerId: string;
  inquiry: InquiryDescription;
  decision: UnprovenDecision;
  /** For `repeat`: the number of the further pull of the stage. */
  occurrence?: number;
  /** For `amend` and a repeat: checked, and signed by the proof. The ledger keeps none. */
  applicants?: FailsafeApplicant[];
  /** Compact JWS. */
  proof?: string;
}

/** A run's consents, and its questions about shares. */
export interface RecordConsentsArgs {
  /** Default: the worker's own ledger. */
  ledgerId?: string | undefined;
  /** The newest attempt that the run has seen. */
  highWaterMark?: HighWaterMark | undefined;
  runKey: string;
  /** The first run of the chain. */
  firstRunId: string;
  /** The applicants whose consents and denials can count for the shares. */
  applicantIds: readonly string[];
  /** Default: `namespace`. */
  consentTrust?: GatewayProfile['consentTrust'] | undefined;
  /**
   * All shares that the run knows, where it asks about some without an answer. Its start then owns the grants that no
   * start has received, and the list of unmatched consents loses those to the shares.
   */
  shareIds?: readonly string[] | undefined;
  consents: ConsentRecord[];
  /** The shares of the consents and grants, as far as the run knows them, and those that it asks about. */
  shares: readonly ShareQuestion[];
  /** Grants that the run has found invalid. */
  faultyGrants: readonly FaultyGrant[];
}

/** The result of recording one consent. */
export type ConsentTaken =
  /**
   * `isKnown`: the ledger had it before; then `fault` says why a grant permits nothing. `doubt`: why a refusal was
   * recorded without its proof.
   */
  | { kind: 'recorded'; isKnown: boolean; fault?: GrantFault; doubt?: string; stands?: Stands }
  | ({ kind: 'refused' } & MessageRefusal)
  /** The keys that its proof needs cannot be read now. */
  | { kind: 'unjudged' };

/** `details[0]` of an `InvalidInput` from the check of a start. */
export interface RefusedInput {
  problems: readonly Problem[];
  /** The worker that checked lacks the profile: another worker may have it. */
  askOthers?: true;
}

/** A failure of the inquiry protocol as the workflow holds it. */
export interface InquiryFailure
  extends Pick<
    SubmitFailureDetails,
    'attempt' | 'claimed' | 'httpStatus' | 'retryAfterMs' | 'refusalKept' | 'resendFrom' | 'otherTraceNumber'
  > {
  failureType: FailureType;
  returnCode?: string;
  returnReasonCode?: string;
  /** The problems of the input, or of the answer. */
  problems?: readonly Problem[];
}

/** Identifies an examined file, and says how its lines are read. */
export interface KnownFile extends Pick<PortfolioExamination, 'digest' | 'mark' | 'columns' | 'badLines'> {
  /** The end user's folder, as `toPortfolioFolder` names it. */
  folder: string;
  file: string;
  format: PortfolioFormat;
}

export interface ExaminedFile extends Omit<PortfolioExamination, keyof KnownFile> {
  known: KnownFile;
}
