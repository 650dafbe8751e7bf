/**
 * Types of the activities' arguments and results. None has a token, a secret or a report. Some have applicants, since
 * an attempt cannot be made without them.
 */
import type { ConsentRecord, ShareObjection, StandingConsents } from '../consent/consent-record.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { HeardConsent, HearingRun, ToldConsents } from '../ledger/consents/kept-consents.ts';
import type { WorkNote } from '../ledger/holds/work.ts';
import type {
  DecisionRecord,
  DecisionVerdict,
  OutcomeRecord,
  RecordVerdict,
  RunDecision,
  RunWithdrawal,
  ShareWithdrawal,
  ShareWithdrawalVerdict,
} from '../ledger/records.ts';
import type { CarriedRefusal } from '../ledger/reports/reports.ts';
import type { RepeatStageMessage } from '../messages/advance.ts';
import type { ConsentMessage } from '../messages/consent.ts';
import type { LendingJourneyInput } from '../messages/inputs/lending-journey.ts';
import type { PortfolioFormat, PortfolioReviewInput } from '../messages/inputs/portfolio-review.ts';
import type { PullInput } from '../messages/inputs/pull.ts';
import type { ShareReportInput } from '../messages/inputs/share-report.ts';
import type { StageChanges } from '../messages/journey/change-summary.ts';
import type { RecordedConsent } from '../messages/journey/shapes.ts';
import type { RestoreState, SeenAttempt } from '../messages/ledger-watch.ts';
import type { PortfolioRow, RowResult } from '../messages/portfolio/shapes.ts';
import type { RequestShareMessage } from '../messages/request-share.ts';
import type { ReportSource } from '../messages/share/shapes.ts';
import type { WebhookEvent } from '../messages/webhooks/events.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import type { FailureType } from '../model/failure-types.ts';
import type { Answer, AttemptView, InquiryContent, InquiryDescription, ProtocolSettings } from '../model/inquiry.ts';
import type { Problem } from '../model/problems.ts';
import type { Environment, ProductCode, StageCode } from '../model/products.ts';
import type { ReportReference } from '../model/report-outcome.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { SecondaryUser } from '../model/stage-end-user.ts';
import type { Place, PortfolioExamination } from '../portfolio/examine-portfolio.ts';
import type { FileMark } from '../portfolio/files.ts';
import type { ProofVerdict } from '../protection/proofs.ts';

/** What a run fixes at its start and checks every attempt against. */
export interface RunIdentity {
  environment: Environment;
  profile: string;
  customerId: string;
  profileFingerprint: string;
  ledgerId: string;
  /** The profile's word at the run's start, so that a request and its digest keep one spelling. Absent: as given. */
  accents?: 'transliterate';
  /** The newest attempt of any run that this one has seen: a ledger that lacks it is an older copy. */
  seen?: SeenAttempt;
}

export interface PreparedRun extends RunIdentity {
  settings: ProtocolSettings;
  /** Those that are registered on this server; upserting another would park the run for ever. */
  searchAttributes: SearchAttributeName[];
  /** What makes a grant count. */
  consentTrust: GatewayProfile['consentTrust'];
  /** Attempts begin on the workflow queue, where a worker dispatches them to itself. Absent: on the gateway queue. */
  submitsOnWorkflowQueue?: true;
  /** Where the pages of docs/runbook are served. */
  runbookUrl?: string;
  /** The profile has endpoints for events. Absent where it has none. */
  sendsEvents?: true;
  /** Result of the preflight: the run meets `refused` and `unavailable` again, visibly, before the first attempt. */
  token: 'ready' | 'unavailable' | 'refused';
}

/** What a `lendingJourney` run learns at its start beside that. */
export interface PreparedJourney extends PreparedRun {
  /** Consents from before the run. Absent where the ledger did not answer, or has more than a start should carry. */
  heard?: HeardConsent[];
}

/** What a `shareReport` run fixes at its start beside that. */
export interface PreparedShare extends PreparedRun {
  report: ReportSource;
  reference: ReportReference;
  consents: FoundConsents;
}

/** What the ledger has about sharing one report with one secondary user. */
export interface FoundConsents extends StandingConsents {
  /** The report was disposed of, or came under a legal hold, since the share was started. */
  reportGone?: true;
  withdrawn?: NonNullable<ShareObjection['withdrawn']>;
}

export interface LookUpConsentsArgs {
  share: SecondaryUser & { shareId: string };
  report: ReportSource;
  reportReferenceNumber: string;
  /** Of the report. */
  applicantIds: readonly string[];
  consentTrust: GatewayProfile['consentTrust'];
}

export interface SubmitInquiryArgs extends InquiryContent {
  run: RunIdentity;
  /** The attempt that is to be made. */
  attempt: number;
  settings: ProtocolSettings;
  consents: ConsentRecord[];
  /** SECONDUSE: how old a grant may be when the attempt is claimed. Default: any age. */
  consentValidForMs?: number;
  /** After a 401: only a token fetched after this instant will do. */
  tokenFetchedAfter?: string;
  /** A stage's report is compared with this earlier one, once its outcome is recorded. */
  compareWith?: ComparedReport;
  /** The activity was scheduled on the workflow queue. */
  onWorkflowQueue?: true;
}

export interface AnsweredAttempt {
  attempt: number;
  answer: Answer;
  /** Whether the ledger has it. */
  recorded: boolean;
  requestedAt?: string;
  /** Absent where the comparison was not asked for, or did not come about in time. */
  changes?: StageChanges;
}

export type SubmitInquiryResult =
  /** Answered now, or by an earlier attempt that the ledger knows of. */
  | ({ kind: 'answered'; seen: SeenAttempt } & AnsweredAttempt)
  /** Nothing was claimed: this worker has no permit for it, and the gateway queue is to have it. */
  | { kind: 'elsewhere' }
  /** Nothing was sent: this is how the latest attempt stands in the ledger. */
  | { kind: 'latest'; latest: AttemptView }
  /** Nothing was claimed or sent: the ledger has it that the run was withdrawn. */
  | ({ kind: 'withdrawn' } & RunWithdrawal)
  /** Nothing was claimed or sent: a consent or another row in the ledger does not permit the share. */
  | ({ kind: 'notPermitted' } & ShareObjection);

/** `details[0]` of every failure that `submitInquiry` throws. */
export interface SubmitFailureDetails {
  attempt: number;
  /** Whether this attempt stands in the ledger, so that the next one has the next number. */
  claimed: boolean;
  /** Whether the ledger knows how it ended. */
  recorded: boolean;
  httpStatus?: number;
  retryAfterMs?: number;
  requestedAt?: string;
  /** The ledger keeps what the gateway wrote beside that status. */
  refusalKept?: true;
  /** The same, sealed, where the ledger does not have it yet: it goes there with the outcome. */
  refusal?: CarriedRefusal;
  /** With `OutcomeUnknown`: from when the ledger takes a `resend`. */
  resendFrom?: string;
  /** Of the attempt that was claimed. */
  seen?: SeenAttempt;
  /** With `AnotherNumber`: the one that the ledger has the inquiry under. */
  otherTraceNumber?: string;
  /** With `InvalidInput`. */
  problems?: Problem[];
}

/** Has the content, since the ledger gives an outcome only to the request that it was made for. */
export interface LookUpInquiryArgs extends InquiryContent {
  run: Pick<RunIdentity, 'ledgerId' | 'accents'>;
}

interface CloseAttemptArgs extends LookUpInquiryArgs {
  /** The attempt whose activity was lost or cancelled. */
  attempt: number;
  /** When that was scheduled, by Temporal's clock, RFC 3339. */
  begunAt: string;
}

export interface ComparedReport {
  productCode: StageCode;
  customerTraceNumber: string;
}

interface CompareReportsArgs {
  run: Pick<RunIdentity, 'profile' | 'ledgerId'>;
  earlier: ComparedReport;
  later: ComparedReport;
}

/** As a run has it. Whether it is proven is judged where it is recorded. */
export type UnprovenDecision = Omit<DecisionRecord, 'provenBy'>;

export interface DecisionProof {
  /** Compact JWS. */
  jws: string;
  /** Of `amend` and of a repeat: the ledger keeps none, and the proof is about them. */
  applicants?: FailsafeApplicant[];
  /** Of a review's row that takes the decision about another row: what that one was about. */
  askedAbout?: { customerTraceNumber: string; attempt: number };
}

export interface RecordDecisionArgs {
  ledgerId: string;
  inquiry: InquiryDescription;
  decision: UnprovenDecision;
  /** Of `repeat`: which pull of the stage it is to be. */
  occurrence?: number;
  proof?: DecisionProof;
}

export interface RecordConsentsArgs extends Omit<ToldConsents, 'consents'> {
  ledgerId?: string;
  consents: ConsentRecord[];
}

/** `index`: of the consent in the list that was to be recorded. */
export interface RecordConsentsResult {
  /** The ledger has other content under the same key, and keeps that. */
  knownOtherwise: { index: number; paths: string[] }[];
  /** Refusals that were recorded without the proof that they brought, and why. */
  unproved: { index: number; reason: string }[];
}

/** The activities as a workflow calls them. */
export interface JourneyActivities {
  /** `firstRunId`: of the run's chain. */
  prepareJourney(args: { input: LendingJourneyInput; firstRunId: string }): Promise<PreparedJourney>;
  preparePull(args: { input: PullInput }): Promise<PreparedRun>;
  /** `firstRunId`: of the run's chain. */
  prepareShareReport(args: { input: ShareReportInput; firstRunId: string }): Promise<PreparedShare>;
  /** Reads only; called before each attempt, since consents that another run received do not reach this one. */
  lookUpConsents(args: LookUpConsentsArgs): Promise<FoundConsents>;
  /** By the table of the reports (interface 2.3), or of FAILSAFE where the product is that (4.3). */
  checkApplicants(args: { profile: string; applicants: FailsafeApplicant[]; productCode?: ProductCode }): Promise<void>;
  /** A share that is requested of a running journey; paths as its message has them. */
  checkShare(args: {
    profile: string;
    message: RequestShareMessage;
    /** The journey's purpose code for SECONDUSE, which a share without one of its own has. */
    journeyPurposeCode?: string;
  }): Promise<void>;
  acquireToken(args: { profile: string; fetchedAfter?: string }): Promise<{ fetchedAt: string; expiresAt: string }>;
  /** Reads only, builds and validates nothing; any worker can do it. */
  lookUpInquiry(args: LookUpInquiryArgs): Promise<AttemptView | null>;
  /**
   * As `lookUpInquiry`, after an activity that was lost or cancelled: where the attempt could still be claimed it is closed,
   * so that a late claim loses.
   */
  closeAttempt(args: CloseAttemptArgs): Promise<AttemptView>;
  /** Reads the newest attempt of all, and records where one that was seen is missing (docs/protocol.md). */
  lookAtLedger(args: { ledgerId: string; seen?: SeenAttempt }): Promise<RestoreState>;
  /** What `submitInquiry` could not record. */
  recordOutcome(record: OutcomeRecord & { refusal?: CarriedRefusal }): Promise<RecordVerdict>;
  compareReports(args: CompareReportsArgs): Promise<StageChanges>;
  /** Refused where its proof is, or where the inquiry's profile asks for one: then the ledger is not asked. */
  recordDecision(args: RecordDecisionArgs): Promise<DecisionVerdict>;
  /** Of a repeat, before it is accepted; fails as `InvalidInput`. Judged as of `receivedAt`. */
  checkRepeatProof(args: { profile: string; message: RepeatStageMessage; receivedAt: string }): Promise<void>;
  /** Without `ledgerId`, into the worker's own ledger. The proofs of grants were checked before, those of refusals are here. */
  recordConsents(args: RecordConsentsArgs): Promise<RecordConsentsResult>;
  /** Closes a share's numbers in the ledger, unless an attempt of it may have been sent. */
  recordShareWithdrawal(args: { ledgerId: string; withdrawal: ShareWithdrawal }): Promise<ShareWithdrawalVerdict>;
  /** What a run waits for by itself, and what it waits for no longer. */
  noteWork(args: { ledgerId: string; note: WorkNote }): Promise<void>;
  /** What people decided about the calling run, before it takes effect. */
  recordRunDecisions(args: { ledgerId: string; decisions: RunDecision[] }): Promise<void>;
  /** Consents from before this run; the ledger records that the run has heard them. */
  hearConsents(args: { ledgerId: string; run: HearingRun }): Promise<HeardConsent[]>;
  /** Judged as of `receivedAt`: asked again, it says the same. */
  checkConsentProof(args: { consent: ConsentMessage; receivedAt: string }): Promise<ProofVerdict>;
  /**
   * A grant is refused as `InvalidInput` where its proof is, or where a profile that it may concern asks for one; any
   * consent where the ledger has another content under its key.
   */
  recordLateConsentMessage(args: { consent: ConsentMessage; receivedAt: string }): Promise<RecordedConsent>;
  /** Hands events of the calling run to its delivery run, which is started where there is none. In the given order. */
  queueWebhooks(args: { profile: string; events: WebhookEvent[] }): Promise<{ queued: number }>;
}

/** On the webhooks queue; repeated by Temporal until the event is given up. */
export interface WebhookActivities {
  /** Sends one event to one endpoint, once for each time that it is run. */
  deliverWebhook(args: DeliverWebhookArgs): Promise<{ httpStatus: number }>;
}

interface DeliverWebhookArgs {
  profile: string;
  endpoint: string;
  event: WebhookEvent;
}

export interface GatewayActivities {
  submitInquiry(args: SubmitInquiryArgs): Promise<SubmitInquiryResult>;
}

/** How a journey's first activity ended: what it does not do, the run does by itself. */
export interface BegunJourney {
  /** Absent where only `prepareJourney`, which Temporal repeats, can find it out. */
  prepared?: PreparedJourney;
  /** Absent where nothing was claimed. `lost`: only the ledger can say. */
  first?: SubmitInquiryResult | { kind: 'lost' };
}

/** `details[0]` of an `InvalidInput` that a start's check throws. */
export interface RefusedInput {
  problems: readonly Problem[];
  /** The worker that checked lacks the profile: another worker may have it. */
  askOthers?: true;
}

/** `details[0]` of what `beginJourney` throws, other than `InvalidInput` of its check. */
export type BeginFailureDetails = SubmitFailureDetails & { prepared: PreparedJourney };

/** On the workflow queue alone. */
export interface EagerActivities {
  /**
   * `prepareJourney`, and the first attempt of the first stage; never repeated. Before it claims, Temporal has the
   * configuration, as the details of a heartbeat ({@link PreparedJourney} without `heard`).
   */
  beginJourney(args: {
    input: LendingJourneyInput;
    firstRunId: string;
    inquiry: { productCode: StageCode };
    attempt: 1;
  }): Promise<BegunJourney>;
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
  /** What is wrong with the input, or with the answer. */
  problems?: readonly Problem[];
}

// What the workflow `portfolioReview` and its activities say to each other. Types only.

/** Which file, how its lines are read, and how it is known to be the one that was examined. */
export interface KnownFile extends Pick<PortfolioExamination, 'digest' | 'mark' | 'columns' | 'badLines'> {
  /** The end user's, as `portfolioFolder` names it. */
  folder: string;
  file: string;
  format: PortfolioFormat;
}

export interface ExaminedFile extends Omit<PortfolioExamination, keyof KnownFile> {
  known: KnownFile;
}

interface RowsRead {
  rows: PortfolioRow[];
  /** Where the next ones begin; absent at the file's end. */
  next?: Place;
  /** As it is now: other than it was where an unchanged file was found under another mark. */
  mark: FileMark;
}

/** A review, and the file that its results are written beside. */
interface ReviewFile extends Pick<KnownFile, 'folder' | 'file'> {
  reviewId: string;
}

export interface PortfolioActivities {
  preparePortfolio(args: { input: PortfolioReviewInput }): Promise<PreparedRun>;
  /** Reads the whole file, and writes the bad rows' report. */
  examinePortfolio(args: { input: PortfolioReviewInput }): Promise<ExaminedFile>;
  /** `inFull`: the whole file is compared by its digest, even if its mark is the same. */
  readPortfolioRows(args: { known: KnownFile; from: Place; limit: number; inFull: boolean }): Promise<RowsRead>;
  /** Rows that were begun before; without places it only looks whether the file is the same, in full. */
  readPortfolioRowsAt(args: { known: KnownFile; places: (Place & { accountId: string })[] }): Promise<RowsRead>;
  writePortfolioResults(args: ReviewFile & { part: number; results: RowResult[] }): Promise<void>;
  /** Makes one file of the parts. */
  finishPortfolioResults(args: ReviewFile & { parts: number }): Promise<void>;
}
