import { condition, workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import type { Outcome } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { secondaryUserOf } from '../../model/secondary-user.ts';
import { traceNumber } from '../../model/trace-number.ts';
import { ConsentWait } from '../consent/consent-wait.ts';
import { DEFAULT_AWAIT_CONSENT_FOR, noteRefusalAfterPosting, tellPosted } from '../consent/posted-share.ts';
import { type Consent, consentTowards, consentValidForMs } from '../consent/share-consent.ts';
import { heed } from '../consent/share-objections.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryHost, InquirySpec } from '../inquiry/inquiry-spec.ts';
import { outcomeInLedger } from '../inquiry/outcome-in-ledger.ts';
import type { Journey } from './journey.ts';

/**
 * Shows in the search attributes that only consents to shares are missing. All shares that wait at once cost one
 * upsert. A posting takes seconds and is not shown.
 */
export async function listConsentWaits(journey: Journey, run: PreparedRun): Promise<void> {
  const { workflowType } = workflowInfo();
  for (;;) {
    await condition(() => journey.stagesAreSettled && journey.sharesInWait.length > 0);
    for (const share of journey.sharesInWait) {
      const { shareId } = share.input;
      const inquiry = {
        workflowType,
        callerId: journey.journeyId,
        productCode: 'SECONDUSE',
        shareId,
        ordinal: 0,
      } as const;
      share.plannedTraceNumber ??= traceNumber({ ...run, ...inquiry });
    }
    journey.publish('awaitingConsent');
    await condition(() => journey.openUntil !== undefined && journey.sharesAreSettled);
    journey.publish(journey.stages.at(-1)?.status.productCode);
  }
}

/** Carries one share to its end: its report, the consent of each applicant, one posting. */
export async function runShare(journey: Journey, run: PreparedRun, share: ShareRecord): Promise<void> {
  for (;;) {
    await journey.handOver.wait(() => journey.isEnding || journey.reportOf(share) !== 'notYet');
    const report = journey.reportOf(share);
    // A share that an earlier run has begun comes to its own end.
    if (report === 'notYet' || (journey.isEnding && !share.inquiry)) return journey.changeShare(share, 'abandoned');
    if (report === null) return journey.changeShare(share, 'nothingToShare');
    const end = await shareReportOf(journey, run, share, report);
    if (end !== 'otherReport') return journey.changeShare(share, end);
    delete share.until;
  }
}

/** `otherReport`: its stage was repeated, or is to be, before anything was posted. The consents stay as they are. */
async function shareReportOf(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  report: ReportReference,
): Promise<ShareState | 'otherReport'> {
  const { shareId, awaitConsentFor = DEFAULT_AWAIT_CONSENT_FOR } = share.input;
  const applicantIds = report.applicants.map(({ applicantId }) => applicantId);
  const consent = () => consentTowards(journey.consents, share.input, applicantIds);
  if (share.until === undefined) share.since = new Date().toISOString();
  share.until ??= new Date(Date.now() + (parseDurationMs(awaitConsentFor) ?? 0)).toISOString();
  const untilMs = parseInstantMs(share.until) ?? 0;
  const isOther = () => journey.reportOf(share) !== report;
  if (share.inquiry) {
    const end = await postShare(journey, run, share, report, consent);
    if (end !== 'notPermitted') return end;
    if (share.reportIsGone) return 'reportGone';
  }
  const wait = new ConsentWait(journey, share, { applicantIds, untilMs, called: `${shareId} ` });
  for (;;) {
    journey.changeShare(share, 'awaitingConsent');
    const isOver = () => journey.isEnding || isOther() || consent().kind !== 'waiting';
    if (!(await wait.until(isOver))) return 'expired';
    if (journey.isEnding) return 'abandoned';
    const { kind } = consent();
    if (kind === 'denied' || kind === 'revoked') {
      return (await wasPosted(journey, run, share, { report, consent })) ? 'posted' : kind;
    }
    if (isOther()) return 'otherReport';
    if (kind === 'waiting') continue;
    // The ledger holds the share's trace number to this report's request.
    share.report = report;
    wait.end();
    journey.changeShare(share, 'posting');
    const end = await postShare(journey, run, share, report, consent);
    if (end !== 'notPermitted') return end;
    if (share.reportIsGone) return 'reportGone';
  }
}

async function postShare(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  report: ReportReference,
  consent: () => Consent,
): Promise<ShareState | 'notPermitted'> {
  const end = await runInquiry(hostOf(journey, run, share), {
    ...specOf(journey, share, report),
    ...(share.inquiry ? { resume: share.inquiry } : {}),
    onObjection: (objection) => heed(journey, share, objection),
    permit: () => {
      const now = consent();
      return now.kind === 'granted' && !share.reportIsGone ? now.consents : null;
    },
  });
  delete share.inquiry;
  switch (end.kind) {
    case 'answered': {
      // Only a person's decision leads here without a record: any other code than `Record` is a hold.
      if (end.answer.outcome !== 'record') return 'notPosted';
      notePosting(journey, share, end.answer, consent());
      return 'posted';
    }
    case 'abandoned':
    case 'stopped':
      return 'abandoned';
    case 'notPermitted':
      return 'notPermitted';
  }
}

function specOf(journey: Journey, share: ShareRecord, report: ReportReference): InquirySpec {
  const validForMs = consentValidForMs(share.input);
  const permissiblePurposeCode = share.input.permissiblePurposeCode ?? journey.input.permissiblePurposeCodes.SECONDUSE;
  return {
    callerId: journey.journeyId,
    productCode: 'SECONDUSE',
    shareId: share.input.shareId,
    reference: report,
    ...secondaryUserOf(share.input),
    ...(validForMs === undefined ? {} : { consentValidForMs: validForMs }),
    ...(permissiblePurposeCode === undefined ? {} : { permissiblePurposeCode }),
  };
}

/**
 * Whether an earlier run posted the share while each grant stood. A reset brings the later refusal back together with
 * the grants. This run has then lost the posting; the ledger still has it.
 */
async function wasPosted(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  { report, consent }: { report: ReportReference; consent: () => Consent },
): Promise<boolean> {
  const mayHaveBeen = report.applicants.every(({ applicantId }) =>
    journey.consents.everGranted(share.input.shareId, applicantId),
  );
  if (!mayHaveBeen) return false;
  const found = await outcomeInLedger(hostOf(journey, run, share), specOf(journey, share, report));
  if (found?.answer.outcome !== 'record') return false;
  share.report = report;
  share.customerTraceNumber = found.customerTraceNumber;
  notePosting(journey, share, found.answer, consent());
  return true;
}

function notePosting(journey: Journey, share: ShareRecord, { reference }: Outcome, consent: Consent): void {
  if (reference) share.reportReferenceNumber = reference.reportReferenceNumber;
  journey.changeShare(share, 'posted');
  const { customerTraceNumber } = share;
  const { shareId } = share.input;
  tellPosted(journey, { shareId, ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }) });
  noteRefusalAfterPosting(journey, share, consent);
}

function hostOf(journey: Journey, run: PreparedRun, share: ShareRecord): InquiryHost {
  return {
    run,
    inFlight: journey.inFlight,
    holds: journey.holds,
    isEnding: () => journey.isEnding,
    handOver: journey.handOver,
    onStanding: (standing) => {
      share.inquiry = standing;
    },
    onProgress: ({ customerTraceNumber, state, waitingFor }) => {
      journey.noteRetry(customerTraceNumber, waitingFor);
      share.customerTraceNumber = customerTraceNumber;
      journey.changeShare(share, state === 'held' ? 'held' : 'posting');
      journey.publish();
    },
  };
}
