/** `shareReport`: everybody's consent, then one posting. */
import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PreparedShare } from '../../activities/contract.ts';
import type { ShareReportInput, ShareReportOutcome, ShareReportResult } from '../../messages/share/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { closeUnprepared, settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { showDetails } from '../details/show-details.ts';
import { journeyActivities, untilDone } from '../run/activity-stubs.ts';
import { refuseForeignState } from '../run/hand-over.ts';
import { prepareRun } from '../run/prepare-run.ts';
import { terminalStateOf } from '../run/terminal-state.ts';
import { ReportShare, type ShareReportResumption } from './report-share.ts';
import { SharePosting } from './share-posting.ts';
import { shareReportDetails } from './share-report-details.ts';
import { handleShareReportMessages } from './share-report-messages.ts';

/**
 * One report shared with one secondary user, at any time after it was pulled: from the ledger, or as it is given.
 * Workflow id `share-<shareId>`. Input, messages and result: `messages/share/shapes.ts`; docs/shares.md.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function shareReport(input: ShareReportInput, past?: ShareReportResumption): Promise<ShareReportResult> {
  refuseForeignState(past);
  const share = new ReportShare(input, past);
  handleShareReportMessages(share);
  share.recorder.begin();
  showDetails(() => shareReportDetails(share));
  return share.handOver.carry(() => toItsEnd(share), {
    state: () => share.handedOver(),
    continueWith: (state) => continueAsNew<typeof shareReport>(input, state),
  });
}

async function toItsEnd(share: ReportShare): Promise<ShareReportResult> {
  const run = share.prepared ?? (await prepare(share).catch((refusal) => closeUnprepared(share, refusal)));
  try {
    const outcome = share.outcome ?? (await carry(share, run));
    share.end(outcome);
    share.publish();
    // Idempotent: the next run does it again.
    await share.handOver.rest(closeDown(share));
    await tellEnded(share, outcome);
    await recordWhatCameLast(share);
    return share.result(outcome);
  } catch (error) {
    share.endedAs = terminalStateOf(error);
    if (share.endedAs) {
      await recordWhatCameLast(share);
      await tellEnded(share, share.endedAs);
      await recordWhatCameLast(share);
    }
    throw error;
  }
}

/** Waits for the hand-over alone, never for an endpoint. */
async function tellEnded({ events }: ReportShare, outcome: Ended<ShareReportOutcome>): Promise<void> {
  events.emit('share.ended', [outcome], { outcome });
  await events.flush();
}

async function prepare(share: ReportShare): Promise<PreparedShare> {
  const { input } = share;
  const { prepareShareReport } = journeyActivities;
  const summary = 'checking the input, finding the report';
  const prepared = await share.handOver.rest(
    prepareRun(
      input,
      () =>
        prepareShareReport.executeWithOptions({ summary }, [{ input, firstRunId: workflowInfo().firstExecutionRunId }]),
      (refusal) => {
        share.endedUnchecked = true;
        share.endedAs = terminalStateOf(refusal);
      },
    ),
  );
  share.begin(prepared);
  share.learn(prepared.consents);
  settleEarlyGrants(share);
  return prepared;
}

async function carry(share: ReportShare, run: PreparedShare): Promise<ShareReportOutcome> {
  const posting = new SharePosting(share, {
    share: share.record,
    report: run.reference,
    inquiry: share.hostIn(run),
    onWait: () => share.publish(),
    refresh: () => refresh(share, run),
  });
  const end = await posting.toItsEnd();
  if (end === 'otherReport') throw new Error('a share by itself has one report');
  return end === 'stopped' ? 'withdrawn' : end;
}

/** What was said elsewhere about sharing this report reaches the ledger, not this run. */
async function refresh(share: ReportShare, run: PreparedShare): Promise<void> {
  const { report, reference, consentTrust } = run;
  const { reportReferenceNumber } = reference;
  const applicantIds = share.applicantsOf();
  const shared = { shareId: share.shareId, ...share.sharedWith };
  const args = { share: shared, report, reportReferenceNumber, applicantIds, consentTrust };
  const summary = 'looking up what was said about sharing this report';
  share.learn(await untilDone('lookUpConsents', { summary }, args));
}
