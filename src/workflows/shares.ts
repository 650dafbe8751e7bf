import { condition, workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import type { ConsentRecord } from '../ledger/port.ts';
import { parseDurationMs } from '../model/durations.ts';
import type { ReportReference, ShareState } from '../model/shapes.ts';
import { traceNumber } from '../model/trace-number.ts';
import { type InquiryHost, runInquiry } from './inquiry-protocol.ts';
import type { Journey, ShareRecord } from './journey.ts';

const DEFAULT_AWAIT_CONSENT_FOR = 'P30D';

/** How the consents towards a share stand, taken together. */
type Consent = { kind: 'granted'; consents: ConsentRecord[] } | { kind: 'denied' | 'revoked' | 'waiting' };

/**
 * Keeps the search attributes true where nothing but shares is left: whether they wait for consent. One upsert for all
 * that wait at once; of a posting, which takes seconds, it says nothing.
 */
export async function listConsentWaits(journey: Journey, run: PreparedRun): Promise<void> {
  if (!run.listsConsentWaits) return;
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

/** Carries one share to its end: the report it is of, everybody's consent, one posting. */
export async function runShare(journey: Journey, run: PreparedRun, share: ShareRecord): Promise<void> {
  await condition(() => journey.isEnding || journey.reportOf(share.input) !== 'notYet');
  const report = journey.reportOf(share.input);
  if (journey.isEnding || report === 'notYet') journey.changeShare(share, 'abandoned');
  else if (report === null) journey.changeShare(share, 'nothingToShare');
  else journey.changeShare(share, await shareReportOf(journey, run, share, report));
}

async function shareReportOf(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  report: ReportReference,
): Promise<ShareState> {
  const { shareId, awaitConsentFor = DEFAULT_AWAIT_CONSENT_FOR } = share.input;
  const applicantIds = report.applicants.map(({ applicantId }) => applicantId);
  const consent = () => consentTowards(journey, share, applicantIds);
  const waitUntilMs = Date.now() + (parseDurationMs(awaitConsentFor) ?? 0);
  share.since = new Date().toISOString();
  share.until = new Date(waitUntilMs).toISOString();
  for (;;) {
    journey.changeShare(share, 'awaitingConsent');
    const isOver = () => journey.isEnding || consent().kind !== 'waiting';
    if (!isOver()) {
      const leftMs = waitUntilMs - Date.now();
      // Silence means no.
      if (leftMs <= 0) return 'expired';
      const waitingFor = journey.ungranted(share);
      const key = [shareId, ...waitingFor];
      journey.events.emit('consent.missing', key, { shareId, waitingFor, until: share.until ?? '' });
      const summary = `waiting for the consent of ${waitingFor.join(', ')} to share ${shareId} with ${journey.nameOf(share)}`;
      if (!(await condition(isOver, leftMs, { summary }))) return 'expired';
    }
    if (journey.isEnding) return 'abandoned';
    const { kind } = consent();
    if (kind === 'denied' || kind === 'revoked') return kind;
    if (kind === 'waiting') continue;
    journey.changeShare(share, 'posting');
    const end = await postShare(journey, run, share, report, consent);
    if (end !== 'notPermitted') return end;
  }
}

async function postShare(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  report: ReportReference,
  consent: () => Consent,
): Promise<ShareState | 'notPermitted'> {
  const { shareId, endUserCode, endUser } = share.input;
  const permissiblePurposeCode = share.input.permissiblePurposeCode ?? journey.input.permissiblePurposeCodes.SECONDUSE;
  const end = await runInquiry(hostOf(journey, run, share), {
    callerId: journey.journeyId,
    productCode: 'SECONDUSE',
    shareId,
    reference: report,
    ...(endUserCode === undefined ? {} : { endUserCode }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(permissiblePurposeCode === undefined ? {} : { permissiblePurposeCode }),
    onRefused: (refusals) => journey.learnRefusals(refusals),
    permit: () => {
      const now = consent();
      return now.kind === 'granted' ? now.consents : null;
    },
  });
  switch (end.kind) {
    case 'answered': {
      const { reference } = end.answer;
      if (reference) share.reportReferenceNumber = reference.reportReferenceNumber;
      journey.changeShare(share, 'posted');
      tellPosted(journey, share);
      noteRefusalAfterPosting(journey, share, consent());
      return 'posted';
    }
    case 'abandoned':
    case 'stopped':
      return 'abandoned';
    case 'notPermitted':
      return 'notPermitted';
  }
}

function tellPosted(journey: Journey, { input: { shareId }, customerTraceNumber }: ShareRecord): void {
  const trace = customerTraceNumber === undefined ? {} : { customerTraceNumber };
  journey.events.emit('share.posted', [shareId], { shareId, ...trace });
}

/** A refusal that came while the attempt was on the wire changes nothing at the gateway: a person must see it. */
export function noteRefusalAfterPosting(journey: Journey, share: ShareRecord, consent: Consent): void {
  if (share.state !== 'posted' || (consent.kind !== 'revoked' && consent.kind !== 'denied')) return;
  share.attention = 'revokedAfterPosting';
  journey.publish();
}

export function consentTowards(journey: Journey, share: ShareRecord, applicantIds: readonly string[]): Consent {
  const { shareId, consentValidFor } = share.input;
  const validForMs = consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
  const standings = applicantIds.map((applicantId) =>
    journey.consents.standing(shareId, applicantId, { nowMs: Date.now(), validForMs }),
  );
  if (standings.some(({ kind }) => kind === 'denied')) return { kind: 'denied' };
  if (standings.some(({ kind }) => kind === 'revoked')) return { kind: 'revoked' };
  const consents = standings.flatMap((standing) => (standing.kind === 'granted' ? [standing.consent] : []));
  const isWhole = applicantIds.length > 0 && consents.length === applicantIds.length;
  return isWhole ? { kind: 'granted', consents } : { kind: 'waiting' };
}

function hostOf(journey: Journey, run: PreparedRun, share: ShareRecord): InquiryHost {
  return {
    run,
    flights: journey.flights,
    holds: journey.holds,
    isEnding: () => journey.isEnding,
    onProgress: ({ customerTraceNumber, state, waitingFor }) => {
      journey.noteRetry(customerTraceNumber, waitingFor);
      share.customerTraceNumber = customerTraceNumber;
      journey.changeShare(share, state === 'held' ? 'held' : 'posting');
      journey.publish();
    },
  };
}
