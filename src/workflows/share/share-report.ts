/** `shareReport`: everybody's consent, then one posting. */
import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { PreparedShare } from '../../activities/contract.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import { consentToShare } from '../../messages/consent.ts';
import { type ExtendShareReportMessage, extendShareReport } from '../../messages/extend.ts';
import type { ShareReportInput } from '../../messages/inputs/share-report.ts';
import { resolveShareReport } from '../../messages/resolve-inquiry.ts';
import type { ShareReportOutcome, ShareReportResult, ShareReportStatus } from '../../messages/share/shapes.ts';
import { withdrawShareReport } from '../../messages/withdraw.ts';
import { handleConsents, settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { describeRun } from '../details/run-details.ts';
import { journeyActivities, untilDone } from '../run/activity-stubs.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import type { Extension } from '../run/extensions.ts';
import {
  type Accepted,
  accepted,
  handleQueries,
  handleUnknownSignals,
  handleUpdate,
  refused,
  refuseFor,
} from '../run/messages/message-answers.ts';
import { handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import { extensionDecision, extensionId } from '../run/run-decisions.ts';
import { ReportShare, type ShareReportResumption } from './report-share.ts';
import { SharePosting } from './share-posting.ts';
import { ANSWER_WITHIN_MS, CLAIM_CAME_FIRST, settleAllWithdrawals, settleWithdrawal } from './share-withdrawal.ts';

/** From `recordLateConsent`. It has no content: what counts here is in the ledger. */
const lookUpConsents = defineSignal('lookUpConsents');

function handleShareReportMessages(share: ReportShare): void {
  handleConsents(share, consentToShare);
  const noteNews = () => {
    share.hasNews = true;
  };
  setHandler(lookUpConsents, noteNews, { description: QUERIES.share.lookUpConsents });
  handleExtensions(share);
  handleWithdrawals(share, withdrawShareReport, {
    record: { answer: (isDuplicate) => answerWhenClosed(share, isDuplicate) },
  });
  // No hold of a share allows `amend`: there are no applicants in its request.
  handleDecisions(share, resolveShareReport, async () => undefined);
  handleQueries(share, QUERIES.share);
  handleUnknownSignals(share);
  share.recorder.begin();
}

/**
 * Answers once the ledger keeps the share from ever being sent. While it is on hold or the ledger is away the answer says
 * `recorded: false`: the run ends as `withdrawn` later, or says in its outcome that the claim came first.
 */
async function answerWhenClosed(share: ReportShare, isDuplicate: boolean): Promise<Accepted<ShareReportStatus>> {
  const isKnown = () => share.outcome !== undefined || share.hasNoOutcome || share.holds.list.length > 0;
  await condition(isKnown, ANSWER_WITHIN_MS, { summary: 'answering before the withdrawal is recorded' });
  const { outcome, record } = share;
  if (outcome === 'posted') throw refused(CLAIM_CAME_FIRST);
  return { ...accepted(share, isDuplicate), recorded: outcome === 'withdrawn' || record.withdrawn !== undefined };
}

function handleExtensions(share: ReportShare): void {
  const { record, extensions, decided } = share;
  const extensionObjection = (message: Extension) =>
    extensions.objection(message, share.isWaitingForConsent && !share.isEnding ? record.until : undefined);
  const objection = (message: ExtendShareReportMessage) => {
    const asked = decided.objection([extensionId(message)], message);
    return asked === undefined ? extensionObjection(message) : asked;
  };
  decided.begin(share, (effect) => {
    if (effect.update !== 'extend') throw new Error('a share by itself has no gate');
    const reason = extensionObjection(effect.message);
    const until = reason === null ? extensions.take(effect.message) : undefined;
    if (until === undefined) return reason;
    record.until = until;
    share.events.emit('wait.extended', ['', share.shareId, until], { until });
    return null;
  });
  handleUpdate(share, extendShareReport, 'extend', {
    objection,
    answer: async (message) => {
      // The wait may have ended in this very task.
      refuseFor(objection(message));
      if (extensions.isKnown(message)) return { ...accepted(share, true), recorded: true };
      const decisions = [extensionDecision(share.ownerId, message, new Date().toISOString())];
      return decided.answer(share, { decisions, effect: { update: 'extend', message } });
    },
  });
}

/**
 * One report shared with one secondary user, at any time after it was pulled: from the ledger, or as it is given.
 * Workflow id `share-<shareId>`. Input: `messages/inputs/share-report.ts`; result: `messages/share/shapes.ts`; docs/shares.md.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function shareReport(input: ShareReportInput, past?: ShareReportResumption): Promise<ShareReportResult> {
  return carryRun(DEFINITION, input, past);
}

const DEFINITION: RunDefinition<ReportShare, ShareReportResumption> = {
  State: ReportShare,
  handleMessages: handleShareReportMessages,
  details: (share) => describeRun(share, { endUserCode: share.endUserCode, sharedWith: share.sharedWith }),
  prepare: ({ input }) => {
    const summary = 'checking the input, finding the report';
    const args = { input, firstRunId: workflowInfo().firstExecutionRunId };
    return journeyActivities.prepareShareReport.executeWithOptions({ summary }, [args]);
  },
  onPrepared: (share, { consents }) => {
    share.learn(consents);
    settleEarlyGrants(share);
  },
  work: async (share, run) => {
    const outcome = share.outcome ?? (await carry(share, run));
    share.end(outcome);
    share.publish();
    // Idempotent: the next run does it again.
    await share.handOver.rest(closeDown(share));
    return outcome;
  },
  recordWhatCameLast: async (share) => {
    await share.decided.untilSettled(share);
    // Cancelled after it was withdrawn.
    if (share.endedAs && share.run && share.withdrawal) {
      noteWithdrawal(share);
      await settleAllWithdrawals(share);
    }
    share.hasNoOutcome = share.endedAs !== undefined;
    await recordWhatCameLast(share);
  },
  handedOver: (share) => share.handedOver(),
};

async function carry(share: ReportShare, run: PreparedShare): Promise<ShareReportOutcome> {
  const posting = new SharePosting(share, {
    share: share.record,
    report: run.reference,
    inquiry: share.hostIn(run),
    onWait: () => share.publish(),
    hasNews: () => share.hasNews,
    refresh: () => refresh(share, run),
  });
  const end = await posting.toItsEnd();
  if (end === 'otherReport') throw new Error('a share by itself has one report');
  return end === 'stopped' ? await withdrawn(share) : end;
}

/** Ends as `withdrawn` only once the ledger keeps the share from ever being sent, by any run. */
async function withdrawn(share: ReportShare): Promise<ShareReportOutcome> {
  noteWithdrawal(share);
  // If an earlier run has made an attempt, the ledger lists it for an operator.
  return (await settleWithdrawal(share, share.record)) ? 'withdrawn' : 'abandoned';
}

function noteWithdrawal({ record, withdrawal }: ReportShare): void {
  if (withdrawal && !record.withdrawn) record.withdrawal = { by: withdrawal.by, reason: withdrawal.reason };
}

/** What was said elsewhere about sharing this report reaches the ledger, not this run. */
async function refresh(share: ReportShare, run: PreparedShare): Promise<void> {
  // What comes during the look-up may be too late for it.
  share.hasNews = false;
  const { report, reference, consentTrust } = run;
  const { reportReferenceNumber } = reference;
  const applicantIds = share.applicantsOf();
  const shared = { shareId: share.shareId, ...share.sharedWith };
  const args = { share: shared, report, reportReferenceNumber, applicantIds, consentTrust };
  const summary = 'looking up what was said about sharing this report';
  share.learn(await untilDone('lookUpConsents', { summary }, args));
}
