/** `shareReport`: everybody's consent, then one posting. */
import { workflowInfo } from '@temporalio/workflow';
import type { PreparedShare } from '../../activities/contract.ts';
import type { ShareReportInput, ShareReportOutcome, ShareReportResult } from '../../messages/share/shapes.ts';
import { settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { journeyActivities, untilDone } from '../run/activity-stubs.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { ReportShare, type ShareReportResumption } from './report-share.ts';
import { SharePosting } from './share-posting.ts';
import { shareReportDetails } from './share-report-details.ts';
import { handleShareReportMessages } from './share-report-messages.ts';
import { settleAllWithdrawals, settleWithdrawal } from './share-withdrawal.ts';

/**
 * One report shared with one secondary user, at any time after it was pulled: from the ledger, or as it is given.
 * Workflow id `share-<shareId>`. Input, messages and result: `messages/share/shapes.ts`; docs/shares.md.
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
  details: shareReportDetails,
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
