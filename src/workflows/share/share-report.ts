/** `shareReport`: the consent of all applicants, then one posting. */
import type { ShareConfig } from '../../activities/contract.ts';
import type { ShareReportInput } from '../../messages/inputs/share-report.ts';
import type {
  ShareReportOutcome,
  ShareReportReferences,
  ShareReportResult,
  ShareReportStatus,
} from '../../messages/share/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { pickTerms } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { toSecondaryUser } from '../../model/stage-end-user.ts';
import { handleConsents } from '../consent/consents.ts';
import { changeShare, isOpen, type ShareRecord } from '../consent/share-record.ts';
import { CreditRun, type CreditRunState, createCreditRunState, type StepRecord } from '../machine/credit-run.ts';
import {
  answerWithdrawal,
  askForWithdrawal,
  checkReportWithdrawal,
  drainShares,
  executeShare,
} from '../machine/share-posting.ts';
import { runActivities } from '../run/activity-stubs.ts';
import { handleUpdate } from '../run/message-answers.ts';
import { handleExtensions, takeExtension } from '../run/run-decisions.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';

export type ShareReportRunState = CreditRunState<ShareConfig, StepRecord<'SECONDUSE'>>;

export class ReportShare extends CreditRun<ShareReportInput, ShareReportRunState, ShareReportOutcome, 'SECONDUSE'> {
  readonly kind = 'share';

  /** @param state from continue-as-new */
  constructor(input: ShareReportInput, state?: ShareReportRunState) {
    super(input, state ?? createCreditRunState([]));
    const { shareId, consentValidFor, awaitConsentFor } = this.input;
    this.takeShare({ shareId, ...pickTerms(this.input), consentValidFor, awaitConsentFor });
  }

  get record(): ShareRecord {
    return this.shares.get(this.id) as ShareRecord;
  }

  override findReport(): ReportReference | 'notYet' {
    return this.config?.reference ?? 'notYet';
  }

  /** Empty until the report is found, which names the applicants that must consent. */
  override get applicantIds(): string[] {
    return this.listApplicants(this.record);
  }

  override knowsApplicant(applicantId: string): boolean {
    return this.config === undefined || super.knowsApplicant(applicantId);
  }

  override toReportTerms(share: ShareRecord) {
    const reportRunKey = this.config?.report.kind === 'ledger' ? this.config.report.runKey : undefined;
    return { ...super.toReportTerms(share), reportRunKey };
  }

  emitEnded(outcome: Ended<ShareReportOutcome>): void {
    const { customerTraceNumber } = this.record;
    this.events.emit('share.ended', [outcome], { shareId: this.id, outcome, customerTraceNumber });
  }

  protected override nameWait(share: ShareRecord): string | undefined {
    const missing = this.listMissing(share);
    return missing.length > 0 ? `the consent of ${missing.join(', ')}` : undefined;
  }

  status(): ShareReportStatus {
    const { stateAndWait: standing, record, shareStatuses } = this;
    const [{ waitingFor = [], until = undefined, ...share } = {}] = shareStatuses;
    const isWaiting = standing.state === 'waitingForConsent';
    return {
      shareId: this.id,
      ...share,
      attempts: record.attempts ?? 0,
      ...this.commonStatus,
      ...standing,
      state: standing.state as ShareReportStatus['state'],
      consentsMissing: isWaiting ? waitingFor : [],
      until: isWaiting ? until : undefined,
      report: this.config?.report,
    };
  }

  get details() {
    return { endUserCode: this.input.endUserCode, sharedWith: toSecondaryUser(this.input) };
  }

  override references(): ShareReportReferences {
    const { reportReferenceNumber } = this.record;
    return { shareId: this.id, report: this.config?.reference, reportReferenceNumber };
  }

  result(outcome: ShareReportOutcome): ShareReportResult {
    const { customerTraceNumber, reportReferenceNumber, attention, remarks, attempts = 0 } = this.record;
    const { environment, report } = this.accepted;
    return {
      shareId: this.id,
      environment,
      outcome,
      report,
      sharedWith: toSecondaryUser(this.input),
      attempts,
      customerTraceNumber,
      reportReferenceNumber,
      remarks,
      attention,
    };
  }
}

function handleShareReportMessages(share: ReportShare): void {
  handleConsents(share);
  handleExtensions(share);
  // The run is withdrawn as a journey's share is: it ends once the ledger keeps the share from ever being sent.
  handleUpdate(share, 'withdraw', {
    check: (message) => checkReportWithdrawal(share.record, message),
    answer: (message) => answerWithdrawal(share, share.record, message),
    ask: ({ by, reason }) => askForWithdrawal(share, share.record, { by, reason, isAnswered: true }),
  });
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

const DEFINITION: RunDefinition<ReportShare> = {
  State: ReportShare,
  handleMessages: handleShareReportMessages,
  prepare: ({ input }) => {
    const summary = 'checking the input, finding the report';
    return runActivities.prepareShareReport.executeWithOptions({ summary }, [{ input }]);
  },
  takeEffect: (share, effect) => {
    if (effect.update !== 'extend') throw new Error('a share by itself has no gate');
    return takeExtension(share, effect.message);
  },
  work: async (share) => {
    const { record } = share;
    if (isOpen(record)) changeShare(record, await executeShare(share, record));
    const outcome = record.state as ShareReportOutcome;
    share.end(outcome);
    await share.waitUntilMessagesSettled();
    return outcome;
  },
  drainMessages: drainShares,
};
