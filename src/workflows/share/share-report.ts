/** `shareReport`: everybody's consent, then one posting. */
import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PreparedShare } from '../../activities/contract.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { ShareReportInput, ShareReportOutcome, ShareReportResult } from '../../messages/share/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import { closeUnprepared, settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { ConsentWait } from '../consent/consent-wait.ts';
import { DEFAULT_AWAIT_CONSENT_FOR } from '../consent/posted-share.ts';
import { consentValidForMs } from '../consent/share-consent.ts';
import { showDetails } from '../details/show-details.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquirySpec } from '../inquiry/inquiry-spec.ts';
import { outcomeInLedger } from '../inquiry/outcome-in-ledger.ts';
import { journeyActivities, untilDone } from '../run/activity-stubs.ts';
import { refuseForeignState } from '../run/hand-over.ts';
import { prepareRun } from '../run/prepare-run.ts';
import { terminalStateOf } from '../run/terminal-state.ts';
import { ReportShare, type ShareReportResumption } from './report-share.ts';
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

/** Everybody's consent, then one posting. */
async function carry(share: ReportShare, run: PreparedShare): Promise<ShareReportOutcome> {
  const { awaitConsentFor = DEFAULT_AWAIT_CONSENT_FOR } = share.input;
  const untilMs = parseInstantMs(share.waitFor(parseDurationMs(awaitConsentFor) ?? 0)) ?? 0;
  if (share.carried) {
    // A run before has begun to post it.
    const end = await post(share, run);
    if (end !== 'notPermitted') return end;
    if (share.reportIsGone) return 'reportGone';
  }
  const wait = new ConsentWait(share, share.record, { applicantIds: share.applicantsOf(), untilMs });
  for (;;) {
    share.changeState('awaitingConsent');
    const isOver = () => share.isEnding || share.consent().kind !== 'waiting';
    if (!isOver()) share.publish();
    if (!(await wait.until(isOver))) return 'expired';
    if (share.isEnding) return 'withdrawn';
    const { kind } = share.consent();
    if (kind === 'denied' || kind === 'revoked') return (await wasPosted(share, run)) ? 'posted' : kind;
    if (kind === 'waiting') continue;
    wait.end();
    share.changeState('posting');
    const end = await post(share, run);
    if (end !== 'notPermitted') return end;
    if (share.reportIsGone) return 'reportGone';
  }
}

function specOf({ shareId, sharedWith, ownerId, input }: ReportShare, { reference }: PreparedShare): InquirySpec {
  const { permissiblePurposeCode } = input;
  const validForMs = consentValidForMs(input);
  return {
    callerId: ownerId,
    productCode: 'SECONDUSE',
    shareId,
    reference,
    ...sharedWith,
    permissiblePurposeCode,
    ...(validForMs === undefined ? {} : { consentValidForMs: validForMs }),
  };
}

/** By a run that this one knows nothing of: one that failed, or that a reset has undone. The refusal came afterwards. */
async function wasPosted(share: ReportShare, run: PreparedShare): Promise<boolean> {
  const found = await outcomeInLedger(share.hostIn(run), specOf(share, run));
  if (found?.answer.outcome !== 'record') return false;
  share.inquiry.customerTraceNumber = found.customerTraceNumber;
  share.posted(found.answer.reference?.reportReferenceNumber);
  return true;
}

async function post(share: ReportShare, run: PreparedShare): Promise<ShareReportOutcome | 'notPermitted'> {
  const end = await runInquiry(share.hostIn(run), {
    ...specOf(share, run),
    ...(share.carried ? { resume: share.carried } : {}),
    refresh: () => refresh(share, run),
    onObjection: (objection) => share.heed(objection),
    permit: () => {
      const now = share.consent();
      return now.kind === 'granted' && !share.reportIsGone ? now.consents : null;
    },
  });
  share.carried = undefined;
  switch (end.kind) {
    case 'answered':
      // Only a person's word leads here without a record: any other code than `Record` is a hold.
      if (end.answer.outcome !== 'record') return 'notPosted';
      share.posted(end.answer.reference?.reportReferenceNumber);
      return 'posted';
    case 'abandoned':
      return 'abandoned';
    case 'stopped':
      return 'withdrawn';
    case 'notPermitted':
      return 'notPermitted';
  }
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
