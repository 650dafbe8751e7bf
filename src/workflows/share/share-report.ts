/** `shareReport`: the consent of all applicants, then one posting. */
import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ShareConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import { consentToShare } from '../../messages/consent.ts';
import { extendShareReport } from '../../messages/extend.ts';
import type { ShareReportInput } from '../../messages/inputs/share-report.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import { resolveShareReport } from '../../messages/resolve-inquiry.ts';
import type {
  ShareReportOutcome,
  ShareReportReferences,
  ShareReportResult,
  ShareReportState,
  ShareReportStatus,
} from '../../messages/share/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { type WithdrawShareReportMessage, withdrawShareReport } from '../../messages/withdraw.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { type SecondaryUser, toSecondaryUser } from '../../model/stage-end-user.ts';
import { type CarriedConsents, Consents, closeDown, drainMessages, handleConsents } from '../consent/consents.ts';
import { listUngranted, type ShareRecord, toTraceNumber } from '../consent/share-record.ts';
import { SingleInquiry, type SingleInquiryRunState } from '../inquiry/single-inquiry.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import {
  type Accepted,
  createRefusal,
  handleQueries,
  handleUnknownSignals,
  toAccepted,
} from '../run/messages/message-answers.ts';
import { tellIfConsent } from '../run/messages/refused-messages.ts';
import { handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import {
  ANSWER_WITHIN_MS,
  type Extension,
  Extensions,
  handleExtensions,
  takeRecordedExtension,
} from '../run/run-decisions.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';
import { SharePosting } from './share-posting.ts';
import { CLAIM_CAME_FIRST, settleAllWithdrawals, settleWithdrawal } from './share-withdrawal.ts';

/** State that a share by itself hands over to its next run (continue-as-new). */
export interface ShareReportRunState extends SingleInquiryRunState<WithdrawShareReportMessage, ShareConfig> {
  share: ShareRecord;
  /** The outcome, once only consents are left to be recorded. */
  outcome?: ShareReportOutcome;
  consents: CarriedConsents;
  extensions: readonly Extension[];
}

export class ReportShare extends SingleInquiry<
  ShareReportInput,
  ShareConfig,
  ShareReportOutcome,
  WithdrawShareReportMessage
> {
  readonly kind = 'share';
  readonly consents: Consents;
  readonly record: ShareRecord;
  readonly extensions: Extensions;
  /** The one share, for the code that receives consents. */
  readonly shares: ReadonlyMap<string, ShareRecord> & Map<string, ShareRecord>;
  readonly productCode = 'SECONDUSE';
  /** Whether the run ends without an outcome and its requests to the ledger are settled. */
  hasNoOutcome = false;

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param state from continue-as-new
   */
  constructor(input: ShareReportInput, state?: ShareReportRunState) {
    super(input, state);
    this.consents = new Consents(this, state?.consents);
    const { shareId, consentValidFor, awaitConsentFor, permissiblePurposeCode } = this.input;
    const share: ShareInput = {
      ...{ shareId, permissiblePurposeCode, ...this.sharedWith },
      ...omitUndefined({ consentValidFor, awaitConsentFor }),
    };
    this.record = state?.share ?? { input: share, state: 'awaitingConsent' };
    this.shares = new Map([[shareId, this.record]]);
    this.outcome = state?.outcome;
    this.extensions = new Extensions(state?.extensions);
  }

  override toState(): ShareReportRunState {
    return {
      ...super.toState(),
      share: this.record,
      ...omitUndefined({ outcome: this.outcome }),
      consents: this.consents.carried,
      extensions: this.extensions.carried,
    };
  }

  get shareId(): string {
    return this.id;
  }

  /** The value of a consent's `journeyId`. */
  get journeyId(): string {
    return this.runKey;
  }

  get endUserCode(): string | undefined {
    return this.input.endUserCode;
  }

  get sharedWith(): SecondaryUser {
    return toSecondaryUser(this.input);
  }

  get isWaitingForConsent(): boolean {
    return this.config !== undefined && this.outcome === undefined && this.record.state === 'awaitingConsent';
  }

  endOfWait(): string | undefined {
    return this.isWaitingForConsent ? this.record.until : undefined;
  }

  extendWait(_: object, until: string): void {
    this.record.until = until;
  }

  override get customerTraceNumber(): string | undefined {
    return this.record.customerTraceNumber;
  }

  override get attention(): 'revokedAfterPosting' | undefined {
    return this.record.attention;
  }

  protected override get waitsFor(): WaitsFor | null {
    return this.isWaitingForConsent ? 'consents' : super.waitsFor;
  }

  tellEnded(outcome: Ended<ShareReportOutcome>): void {
    const { shareId, record } = this;
    const { replacedBy } = record.withdrawn ?? {};
    const ended = { shareId, outcome, ...toTraceNumber(record), ...(replacedBy === undefined ? {} : { replacedBy }) };
    this.events.emit('share.ended', [outcome], ended);
  }

  override refuse(refused: RefusedMessage): void {
    super.refuse(refused);
    tellIfConsent(this, refused);
  }

  /** Empty before the report is found: only the report says whose consent is needed. */
  listApplicants(): string[] {
    return this.config?.reference.applicants.map(({ applicantId }) => applicantId) ?? [];
  }

  get applicantIds(): string[] {
    return this.listApplicants();
  }

  reportTerms() {
    if (!this.config) return {};
    const { report, reference } = this.config;
    const reportRunKey = report.kind === 'ledger' ? report.runKey : undefined;
    return { reportReferenceNumber: reference.reportReferenceNumber, ...omitUndefined({ reportRunKey }) };
  }

  knowsApplicant(applicantId: string): boolean {
    return this.config === undefined || this.listApplicants().includes(applicantId);
  }

  get consentsMissing(): string[] {
    return listUngranted(this.consents, this.record, this.listApplicants(), Date.now());
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
      environment: this.config?.environment ?? null,
      state: shown,
      ...omitUndefined({ waitingFor: words, report: this.config?.report }),
      consentsMissing,
      ...(isWaiting && until !== undefined ? { until } : {}),
      ...(withdrawn?.replacedBy === undefined ? {} : { replacedBy: withdrawn.replacedBy }),
      attempts,
      ...omitUndefined({ customerTraceNumber, reportReferenceNumber, remarks, attention }),
      ...rest,
    };
  }

  references(): ShareReportReferences {
    const { shareId, config } = this;
    const { reportReferenceNumber } = this.record;
    return {
      shareId,
      ...omitUndefined({ report: config?.reference, reportReferenceNumber }),
    };
  }

  result(outcome: ShareReportOutcome): ShareReportResult {
    const { shareId, config, sharedWith, inquiry, customerTraceNumber } = this;
    if (!config) throw new Error('a result before the report was found');
    const { reportReferenceNumber, attention, remarks } = this.record;
    const { attempts } = inquiry;
    return {
      shareId,
      environment: config.environment,
      outcome,
      report: config.report,
      sharedWith,
      attempts,
      ...omitUndefined({ customerTraceNumber, reportReferenceNumber, remarks, attention }),
    };
  }
}

/** From `recordLateConsent`. It has no content: what counts here is in the ledger. */
const lookUpConsents = defineSignal('lookUpConsents');

function handleShareReportMessages(share: ReportShare): void {
  handleConsents(share, consentToShare);
  setHandler(lookUpConsents, () => share.consents.noteNews(), { description: QUERIES.share.lookUpConsents });
  share.decided.begin(share, (effect) => {
    if (effect.update !== 'extend') throw new Error('a share by itself has no gate');
    return takeRecordedExtension(share, effect.message);
  });
  handleExtensions(share, extendShareReport, (message) => message);
  handleWithdrawals(share, withdrawShareReport, {
    record: { answer: (isDuplicate) => answerWhenClosed(share, isDuplicate) },
  });
  // No hold of a share allows `amend`: there are no applicants in its request.
  handleDecisions(share, resolveShareReport, async () => undefined);
  handleQueries(share, QUERIES.share);
  handleUnknownSignals(share);
  share.consents.begin();
}

/**
 * Answers once the ledger keeps the share from ever being sent. While it is on hold or the ledger is away the answer
 * says `recorded: false`: the run ends as `withdrawn` later, or its outcome says that the claim came first.
 */
async function answerWhenClosed(share: ReportShare, isDuplicate: boolean): Promise<Accepted<ShareReportStatus>> {
  const isKnown = () => share.outcome !== undefined || share.hasNoOutcome || share.holds.list.length > 0;
  await condition(isKnown, ANSWER_WITHIN_MS, { summary: 'answering before the withdrawal is recorded' });
  const { outcome, record } = share;
  if (outcome === 'posted') throw createRefusal(CLAIM_CAME_FIRST);
  return { ...toAccepted(share, isDuplicate), recorded: outcome === 'withdrawn' || record.withdrawn !== undefined };
}

/**
 * Shares one report with one secondary user, at any time after the pull: from the ledger, or as given. Workflow id
 * `share-<shareId>`. Input: `messages/inputs/share-report.ts`; result: `messages/share/shapes.ts`; docs/shares.md.
 *
 * @param state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function shareReport(input: ShareReportInput, state?: ShareReportRunState): Promise<ShareReportResult> {
  return runWorkflow(DEFINITION, input, state);
}

const DEFINITION: RunDefinition<ReportShare, ShareReportRunState> = {
  State: ReportShare,
  handleMessages: handleShareReportMessages,
  details: ({ endUserCode, sharedWith }) => ({ endUserCode, sharedWith }),
  prepare: ({ input }) => {
    const summary = 'checking the input, finding the report';
    const args = { input, firstRunId: workflowInfo().firstExecutionRunId };
    return journeyActivities.prepareShareReport.executeWithOptions({ summary }, [args]);
  },
  onReset: ({ consents }) => consents.noteNews(),
  onPrepared: (share, { standing }) => share.consents.learn(share.shareId, standing),
  work: async (share, config) => {
    const outcome = share.outcome ?? (await carry(share, config));
    share.end(outcome);
    share.publish();
    // Idempotent: the next run does it again.
    await share.continuation.waitFor(closeDown(share));
    return outcome;
  },
  drainMessages: async (share) => {
    // Cancelled after it was withdrawn.
    if (share.endedAs && share.config && share.withdrawal) {
      noteWithdrawal(share);
      await settleAllWithdrawals(share);
    }
    share.hasNoOutcome = share.endedAs !== undefined;
    await drainMessages(share);
  },
};

async function carry(share: ReportShare, config: ShareConfig): Promise<ShareReportOutcome> {
  const posting = new SharePosting(share, {
    share: share.record,
    report: config.reference,
    inquiry: share.hostIn(config),
  });
  const end = await posting.toItsEnd();
  if (end === 'otherReport') throw new Error('a share by itself has one report');
  return end === 'stopped' ? await endWithdrawn(share) : end;
}

/** Ends as `withdrawn` only once the ledger keeps the share from ever being sent, by any run. */
async function endWithdrawn(share: ReportShare): Promise<ShareReportOutcome> {
  noteWithdrawal(share);
  // If an earlier run has made an attempt, the ledger lists it for an operator.
  return (await settleWithdrawal(share, share.record)) ? 'withdrawn' : 'abandoned';
}

function noteWithdrawal({ record, withdrawal }: ReportShare): void {
  if (withdrawal && !record.withdrawn) record.withdrawal = { by: withdrawal.by, reason: withdrawal.reason };
}
