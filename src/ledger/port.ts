/**
 * The ledger's port: the project's own record of what was sent, decided and consented to, outside Temporal.
 * docs/protocol.md and docs/decisions/ledger.md. Two engines implement it and pass one contract suite.
 *
 * Every method throws `LedgerUnavailableError` when the database cannot be reached or does not answer in time; a commit
 * without an answer counts as not done. Throws `LedgerChangedError` where `ledgerId` is not this ledger's. Every method
 * that writes throws `WriterTooOldError` where the ledger asks for a newer program. Two are exceptions: `claim` returns
 * that as a verdict, and `recordOutcome` writes all the same.
 */
import type { ConsentRecord } from '../consent/consent-record.ts';
import type { RestoreState, SeenAttempt } from '../messages/ledger-watch.ts';
import type { AttemptView, InquiryDescription, RefusalBody } from '../model/inquiry.ts';
import type { Environment, ProductCode } from '../model/products.ts';
import type {
  AuditedAttempt,
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShare,
  AuditedShareWithdrawal,
  DecisionsQuery,
  InquiriesQuery,
  NamedRecord,
  RecordsQuery,
  SharesQuery,
} from './audit/audited.ts';
import type { KeptConsents } from './consents/kept-consents.ts';
import type { Work } from './holds/work.ts';
import type { Pauses } from './pauses.ts';
import type {
  ChainReport,
  ClaimRequest,
  ClaimVerdict,
  CloseRequest,
  ConsentsQuery,
  ConsentVerdict,
  DecisionRecord,
  DecisionVerdict,
  DerivedDocument,
  EndingMessage,
  InquiryView,
  OpenInquiriesQuery,
  OpenInquiry,
  OpenWork,
  OutcomeRecord,
  PlannedShare,
  RecordVerdict,
  ReferredInquiry,
  ReportOrigin,
  ReportToCompare,
  RequestDigests,
  RestoreAcceptance,
  RewrapResult,
  RunDecision,
  SeenRecord,
  SeenVerdict,
  ShareFacts,
  ShareWithdrawal,
  ShareWithdrawalVerdict,
  StartFacts,
  StoredDocument,
  StoredReport,
} from './records.ts';
import type { Reading, SealedRefusal } from './reports/reading.ts';
import type { Retention } from './retention/retention.ts';

export interface LedgerIdentity {
  ledgerId: string;
  environment: Environment;
  createdAt: string;
  schemaVersion: number;
}

export interface Ledger {
  readonly identity: LedgerIdentity;

  /** Disposal and legal holds: for operators. */
  readonly retention: Retention;
  readonly kept: KeptConsents;
  /** The stop that holds for every worker at once: for operators. */
  readonly pauses: Pauses;
  /** What people and programs read of what is sealed. */
  readonly reading: Reading;
  /** What needs a person, as rows. */
  readonly work: Work;

  /** HMAC-SHA-256 under the ledger's own digest key, lower-case hex. */
  digest(text: string): string;

  /** Seals the place where a page of a list ends, as text for an address. It opens with the same `bound` alone. */
  sealCursor(place: unknown, bound: string): string;

  /** @throws SealBrokenError where the text was changed, or was sealed with another `bound` */
  openCursor(text: string, bound: string): unknown;

  claim(request: ClaimRequest): Promise<ClaimVerdict>;

  /**
   * Idempotent. `report` is the answer's JSON text. It is sealed first, and written in the same transaction, as is
   * `refusal`.
   */
  recordOutcome(record: OutcomeRecord, report?: string, refusal?: SealedRefusal): Promise<RecordVerdict>;

  /** Seals what the gateway wrote beside a refusal, for `recordOutcome`. Asks the key ring alone. */
  sealRefusal(attempt: ReportOrigin, body: RefusalBody): Promise<SealedRefusal>;

  /**
   * Reads only. `null` where nothing was claimed or abandoned under the trace number. With `digests` it reveals nothing
   * of attempts for another request: it throws `RequestDiffersError`.
   */
  lookUp(ledgerId: string, customerTraceNumber: string, digests?: RequestDigests): Promise<AttemptView | null>;

  /**
   * As `lookUp`, for an attempt that no activity works on any more, as far as its run knows. Where it could still be
   * claimed it is written as closed, so that a late claim loses: its view is `notSent` with `closedAt`. After a gap it
   * writes nothing and throws `LedgerChangedError`.
   */
  closeAttempt(request: CloseRequest): Promise<AttemptView>;

  /**
   * Writes a decision before it takes effect; idempotent by (trace number, decisionId). A `resend` of a claimed attempt
   * n permits attempt n+1, once. `accept` makes attempt n `accepted`; `abandon` closes the inquiry. `repeat` records
   * who wanted this inquiry, and permits nothing: the claim decides as always.
   */
  recordDecision(ledgerId: string, inquiry: InquiryDescription, decision: DecisionRecord): Promise<DecisionVerdict>;

  /**
   * Append-only, idempotent by (journeyId, shareId, applicantId, consentId, decision): an earlier consent under the
   * same key stays. Returns the verdict on each, in the same order.
   */
  recordConsents(ledgerId: string, consents: readonly ConsentRecord[]): Promise<ConsentVerdict[]>;

  /** Marks posted shares that this late consent message concerns for a person's attention; returns how many. */
  flagPostedShares(ledgerId: string, consent: ConsentRecord): Promise<number>;

  /**
   * Reads only: the inquiries that a report's reference, or a confirmation's, came from. Nothing else identifies its
   * owner.
   */
  inquiriesReferredTo(reportReferenceNumber: string): Promise<ReferredInquiry[]>;

  /**
   * Append-only, idempotent by (ownerId, shareId). `false` where another report's share stands under the two: nothing
   * was written.
   */
  recordShare(ledgerId: string, share: PlannedShare): Promise<boolean>;

  /**
   * Closes every number of a share that nothing was sent under yet: from its commit on no claim of the share succeeds.
   * Append-only, idempotent by (ownerId, shareId): an earlier withdrawal stands.
   */
  withdrawShare(ledgerId: string, withdrawal: ShareWithdrawal): Promise<ShareWithdrawalVerdict>;

  /**
   * Append-only, idempotent by (ownerId, decisionId) and content: other content under the two is kept beside the first, since
   * a run that was reset takes the same message anew.
   */
  recordRunDecisions(ledgerId: string, decisions: readonly RunDecision[]): Promise<void>;

  /** Reads only: whether the very same message was recorded before, so that it is answered as before after its run's end. */
  hasEndingMessage(message: EndingMessage): Promise<boolean>;

  /** As `decisionsBetween`: every share that was withdrawn before it was sent. */
  withdrawnSharesBetween(query?: RecordsQuery): AsyncIterable<AuditedShareWithdrawal>;

  /**
   * Reads only: whether the report may still be shared, and every consent about it: to this share, to any share of the
   * report's owner, and to any other share of the report that the ledger knows.
   */
  shareFacts(query: ConsentsQuery): Promise<ShareFacts>;

  /**
   * Reads only, in pages: every share that was, or may have been, posted in a period, oldest first. Each comes with its
   * report and the grants that permitted it.
   */
  sharesBetween(query?: SharesQuery): AsyncIterable<AuditedShare>;

  /** All inquiries of one owner (model/owner-id.ts: a `journeyId`, `pull:<pullId>`), oldest first. */
  inquiriesOf(ownerId: string): Promise<InquiryView[]>;

  /** One inquiry, whether or not it is open; or `null`. */
  inquiry(customerTraceNumber: string): Promise<OpenInquiry | null>;

  /**
   * Reads only: inquiries that need a person, oldest first. That is those whose latest attempt is undecided (unknown,
   * refused, or answered without an outcome), even where no run waits for the decision any more. And those with late
   * news. Never one whose answer may still come in time.
   */
  openInquiries(query?: OpenInquiriesQuery): Promise<OpenInquiry[]>;

  /**
   * Reads only, in pages: every attempt that was claimed in a period, oldest first. Each comes with its purpose, its
   * decisions and consents, and its outcome. Attempts that are claimed meanwhile may be among them.
   */
  inquiriesBetween(query?: InquiriesQuery): AsyncIterable<AuditedAttempt>;

  /**
   * Reads only, in pages: every decision of a person that was recorded in a period, oldest first: about inquiries, `seen`
   * among them, and about runs.
   */
  decisionsBetween(query?: DecisionsQuery): AsyncIterable<AuditedDecision>;

  /** As `decisionsBetween`: every consent, refusals and those under which nothing was sent among them. */
  consentsBetween(query?: RecordsQuery): AsyncIterable<AuditedConsent>;

  /** As `decisionsBetween`: every disposal that was begun or finished, and every legal hold set or released. */
  disposalsBetween(query?: RecordsQuery): AsyncIterable<AuditedDisposal>;

  /**
   * Reads only: what has exactly this name: a trace number, the id of a share, or of a decision. At most 20 of them, by
   * an index. A journey's share is known from its first consent on.
   */
  recordsNamed(name: string): Promise<NamedRecord[]>;

  /** Reads only and unseals nothing: the oldest of each kind of what `openInquiries` lists, at most `limit` of each. */
  oldestOpen(limit: number): Promise<OpenWork[]>;

  /** Takes late news off that list; append-only, idempotent by (customerTraceNumber, decisionId). */
  recordSeen(ledgerId: string, seen: SeenRecord): Promise<SeenVerdict>;

  /**
   * The newest answered report of an owner and product, unsealed; `null` where there is none. It writes down no reader:
   * people and programs have `reading.report`.
   *
   * @throws DisposedError where it was disposed of
   */
  readReport(ownerId: string, productCode: ProductCode, customerTraceNumber?: string): Promise<StoredReport | null>;

  /**
   * The newest answered report of each inquiry, unsealed, and whose `consumerId`s it names; in the order asked for. It
   * writes down no reader: they are compared, and leave no worker.
   */
  reportsToCompare(ledgerId: string, customerTraceNumbers: readonly string[]): Promise<ReportToCompare[]>;

  /**
   * Seals a document, in place of an earlier one of its kind about the same report. `false` where one of the two
   * reports was disposed of: nothing was written.
   */
  keepDerived(ledgerId: string, document: DerivedDocument, text: string): Promise<boolean>;

  /**
   * The newest document of a kind about a caller's reports, unsealed; `null` where there is none. It writes down no
   * reader: people and programs have `reading.changes`.
   *
   * @throws DisposedError where it was disposed of
   */
  readDerived(ownerId: string, kind: DerivedDocument['kind']): Promise<StoredDocument | null>;

  /**
   * Wraps the ledger's own secret and the data key of every report under the key ring's current `ledger` key. The
   * reports themselves are not touched, and concurrent changes stay. May be stopped and run again.
   *
   * @throws SealBrokenError where a wrapped key was changed: nothing after it was wrapped
   */
  rewrapDataKeys(): Promise<RewrapResult>;

  /**
   * Reads only: compares every consent and decision with the chain over them (docs/protection.md). `expectHead` is an
   * earlier head that was kept elsewhere: the chain must pass through it.
   */
  verifyChain(options?: { expectHead?: string }): Promise<ChainReport>;

  /** Reads only: whether the ledger still takes claims and decisions from a program of this version. */
  mayWrite(): Promise<boolean>;

  /**
   * Reports the newest attempt, and whether this is an older copy of the ledger: `lost` was seen and is missing. A new
   * loss is written down, and nothing is claimed from then on.
   *
   * @param seen by the watch over all runs
   */
  watch(ledgerId: string, seen?: SeenAttempt): Promise<RestoreState>;

  /**
   * Reads only: the newest attempt, and what is known to be missing.
   *
   * @param seen by the watch over all runs: also `lost`, where it is missing and no operator has accepted its loss
   */
  restoreState(seen?: SeenAttempt): Promise<RestoreState>;

  /** Reads only: what a run that begins asks, of the run's owner (model/owner-id.ts). */
  startFacts(ownerId: string): Promise<StartFacts>;

  /** Permits claims again, on the basis of this ledger; returns as `lost` what was missing, where that was known. */
  acceptRestore(ledgerId: string, acceptance: RestoreAcceptance): Promise<RestoreState>;

  /** The time of the ledger's clock, as a proof that it answers. Readiness and `doctor` use it. */
  ping(): Promise<{ now: string }>;

  close(): Promise<void>;
}
