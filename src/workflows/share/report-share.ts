/** State of one `shareReport` run: its input, the report, the consents and the outcome so far. No waiting. */
import type { FoundConsents, PreparedShare } from '../../activities/contract.ts';
import type { CarriedRefusal } from '../../consent/applicants-word.ts';
import type { CarriedConsent } from '../../consent/carried-consent.ts';
import { ConsentBook } from '../../consent/consent-book.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { ShareReportInput } from '../../messages/inputs/share-report.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type {
  ShareReportOutcome,
  ShareReportReferences,
  ShareReportResult,
  ShareReportState,
  ShareReportStatus,
} from '../../messages/share/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { WithdrawShareReportMessage } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { type SecondaryUser, secondaryUserOf } from '../../model/secondary-user.ts';
import { ConsentChecks } from '../consent/consent-checks.ts';
import { ConsentRecorder, carriedConsents } from '../consent/consent-recording.ts';
import { ungranted } from '../consent/share-consent.ts';
import { type ShareRecord, traceNumberOf } from '../consent/share-record.ts';
import { SingleInquiry, type SingleInquiryResumption } from '../inquiry/single-inquiry.ts';
import { type Extension, Extensions } from '../run/extensions.ts';
import { tellIfConsent } from '../run/messages/refused-messages.ts';

/** What a share by itself hands over to its next run (continue-as-new). */
export interface ShareReportResumption extends SingleInquiryResumption<WithdrawShareReportMessage, PreparedShare> {
  share: ShareRecord;
  /** What has come of it, where nothing but consents is left to be recorded. */
  outcome?: ShareReportOutcome;
  consents: CarriedConsent[];
  elsewhere: CarriedRefusal[];
  hasNews?: true;
  extensions: readonly Extension[];
}

export class ReportShare extends SingleInquiry<
  ShareReportInput,
  PreparedShare,
  ShareReportOutcome,
  WithdrawShareReportMessage
> {
  readonly consents: ConsentBook;
  readonly checks = new ConsentChecks();
  readonly recorder: ConsentRecorder;
  readonly record: ShareRecord;
  /** Its wait for consent was made longer. */
  readonly extensions: Extensions;
  /** The one share, where the code that receives consents looks for it. */
  readonly shares: ReadonlyMap<string, ShareRecord> & Map<string, ShareRecord>;
  readonly productCode = 'SECONDUSE';
  /** Whether the ledger has been given something about this share since the run has last asked it. */
  hasNews: boolean;
  /** Whether the run ends without an outcome, and what was asked of the ledger is settled. */
  hasNoOutcome = false;

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param past what the run before has handed over
   */
  constructor(input: ShareReportInput, past?: ShareReportResumption) {
    super(input, past);
    const consents = past?.consents ?? [];
    this.consents = new ConsentBook(consents, past?.elsewhere);
    this.recorder = new ConsentRecorder(this, consents);
    const { shareId, consentValidFor, awaitConsentFor, permissiblePurposeCode } = this.input;
    const share: ShareInput = {
      ...{ shareId, permissiblePurposeCode, ...this.sharedWith },
      ...(consentValidFor === undefined ? {} : { consentValidFor }),
      ...(awaitConsentFor === undefined ? {} : { awaitConsentFor }),
    };
    this.record = past?.share ?? { input: share, state: 'awaitingConsent' };
    this.shares = new Map([[shareId, this.record]]);
    this.outcome = past?.outcome;
    this.hasNews = past?.hasNews ?? false;
    this.extensions = new Extensions(past?.extensions);
  }

  /** What the next run begins with. */
  handedOver(): ShareReportResumption {
    // What the ledger said at the start is in the book by now.
    const run = this.run && { ...this.run, consents: { own: [], elsewhere: [] } };
    return {
      ...this.carriedOver(),
      ...(run ? { run } : {}),
      share: this.record,
      ...(this.outcome === undefined ? {} : { outcome: this.outcome }),
      consents: carriedConsents(this),
      elsewhere: this.consents.elsewhere,
      ...(this.hasNews ? { hasNews: true } : {}),
      extensions: this.extensions.carried,
    };
  }

  protected withdrawalOf(withdrawal: RunWithdrawal): WithdrawShareReportMessage {
    return { shareId: this.shareId, ...withdrawal };
  }

  get shareId(): string {
    return this.input.shareId;
  }

  get ownerId(): string {
    return ownerIdOf('share', this.shareId);
  }

  /** What a consent's `journeyId` says. */
  get journeyId(): string {
    return this.ownerId;
  }

  get endUserCode(): string | undefined {
    return this.input.endUserCode;
  }

  get sharedWith(): SecondaryUser {
    return secondaryUserOf(this.input);
  }

  get isWaitingForConsent(): boolean {
    return this.run !== undefined && this.outcome === undefined && this.record.state === 'awaitingConsent';
  }

  override get customerTraceNumber(): string | undefined {
    return this.record.customerTraceNumber;
  }

  override get attention(): 'revokedAfterPosting' | undefined {
    return this.record.attention;
  }

  protected override get namedAs() {
    return { ...this.sharedWith, shareId: this.shareId };
  }

  protected override get stage(): string {
    return this.isWaitingForConsent ? 'awaitingConsent' : this.productCode;
  }

  protected override get waitsFor(): WaitsFor | null {
    return this.isWaitingForConsent ? 'consents' : super.waitsFor;
  }

  protected get subject() {
    return { shareId: this.shareId };
  }

  tellEnded(outcome: Ended<ShareReportOutcome>): void {
    const { shareId, record } = this;
    const { replacedBy } = record.withdrawn ?? {};
    const ended = { shareId, outcome, ...traceNumberOf(record), ...(replacedBy === undefined ? {} : { replacedBy }) };
    this.events.emit('share.ended', [outcome], ended);
  }

  override refuse(refused: RefusedMessage): void {
    super.refuse(refused);
    tellIfConsent(this, refused);
  }

  /** What the ledger has by now. */
  learn(standing: FoundConsents): void {
    this.record.reportIsGone = standing.reportGone ?? false;
    if (standing.withdrawn) this.record.withdrawn = standing.withdrawn;
    for (const record of this.consents.learn(this.shareId, standing)) this.recorder.noteRecorded(record);
  }

  /** Empty before the report is found: only the report says whose consent is needed. */
  applicantsOf(): string[] {
    return this.run?.reference.applicants.map(({ applicantId }) => applicantId) ?? [];
  }

  knowsApplicant(applicantId: string): boolean {
    return this.run === undefined || this.applicantsOf().includes(applicantId);
  }

  get consentsMissing(): string[] {
    return ungranted(this.consents, this.record.input, this.applicantsOf(), Date.now());
  }

  status(): ShareReportStatus {
    const { state, waitingFor, attempts, customerTraceNumber, ...rest } = this.inquiryStatus();
    const { reportReferenceNumber, attention, remarks, until, withdrawn } = this.record;
    const isWaiting = state === 'running' && this.isWaitingForConsent;
    const consentsMissing = isWaiting ? this.consentsMissing : [];
    const words = isWaiting && consentsMissing.length > 0 ? `the consent of ${consentsMissing.join(', ')}` : waitingFor;
    const shown: ShareReportState = isWaiting ? 'waitingForConsent' : state;
    return {
      shareId: this.shareId,
      environment: this.run?.environment ?? null,
      state: shown,
      ...(words === undefined ? {} : { waitingFor: words }),
      ...(this.run ? { report: this.run.report } : {}),
      consentsMissing,
      ...(isWaiting && until !== undefined ? { until } : {}),
      ...(withdrawn?.replacedBy === undefined ? {} : { replacedBy: withdrawn.replacedBy }),
      attempts,
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...(reportReferenceNumber === undefined ? {} : { reportReferenceNumber }),
      ...(remarks === undefined ? {} : { remarks }),
      ...(attention === undefined ? {} : { attention }),
      ...rest,
    };
  }

  references(): ShareReportReferences {
    const { shareId, run } = this;
    const { reportReferenceNumber } = this.record;
    return {
      shareId,
      ...(run ? { report: run.reference } : {}),
      ...(reportReferenceNumber === undefined ? {} : { reportReferenceNumber }),
    };
  }

  result(outcome: ShareReportOutcome): ShareReportResult {
    const { shareId, run, sharedWith, inquiry, customerTraceNumber } = this;
    if (!run) throw new Error('a result before the report was found');
    const { reportReferenceNumber, attention, remarks } = this.record;
    const { attempts } = inquiry;
    return {
      shareId,
      environment: run.environment,
      outcome,
      report: run.report,
      sharedWith,
      attempts,
      ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
      ...(reportReferenceNumber === undefined ? {} : { reportReferenceNumber }),
      ...(remarks === undefined ? {} : { remarks }),
      ...(attention === undefined ? {} : { attention }),
    };
  }
}
