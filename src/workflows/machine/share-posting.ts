/** One share, of a journey or by itself: its report, the consent of the report's applicants, one posting. */

import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { GrantKey } from '../../consent/consent-record.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import { toConsentValidForMs } from '../../messages/request-share.ts';
import { type Outcome, pickTerms } from '../../model/inquiry.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { describeSecondaryUser } from '../../model/stage-end-user.ts';
import { describeInquiry } from '../../model/trace-number.ts';
import { type AskedWithdrawal, changeShare, type JointConsent, type ShareRecord } from '../consent/share-record.ts';
import { lookAgain, waitOut } from '../inquiry/attempt.ts';
import { runInquiry, selectTransientAttributes } from '../inquiry/inquiry-protocol.ts';
import type { InquiryProgress, InquirySpec } from '../inquiry/inquiry-spec.ts';
import { runUntilRecorded } from '../run/activity-stubs.ts';
import { answerUnderway, refuseMessage, toAccepted } from '../run/message-answers.ts';
import { findEndOfWait, OF_ANOTHER_LEDGER } from '../run/run-decisions.ts';
import type { SharingRun } from './credit-run.ts';

const DEFAULT_AWAIT_CONSENT_FOR = 'P30D';

type ShareOutcome = Exclude<ShareState, 'awaitingConsent' | 'posting' | 'held'>;

/** `stopped`: the run is ending, and nothing is in flight. */
type ShareEnd = ShareOutcome | 'stopped';

/**
 * Ends of a share without an attempt of this run. A run that failed, or that a reset has undone, may have posted it all
 * the same: the ledger knows.
 */
const WITHOUT_AN_ATTEMPT: readonly ShareEnd[] = ['denied', 'revoked', 'expired', 'reportGone', 'stopped'];

/** Carries one share to its end: its report, the consent of each applicant, one posting. */
export function executeShare(run: SharingRun, share: ShareRecord): Promise<ShareOutcome> {
  return new SharePosting(run, share).runToEnd();
}

class SharePosting {
  readonly #run: SharingRun;
  readonly #share: ShareRecord;
  /** Absent until it exists. */
  #report: ReportReference | undefined;
  /** The instant by which predicates judge the age of grants: when the share last began to wait. */
  #nowMs = Date.now();

  constructor(run: SharingRun, share: ShareRecord) {
    this.#run = run;
    this.#share = share;
  }

  /** Waits for consent again if the claim says that a grant is missing or too old. */
  async runToEnd(): Promise<ShareOutcome> {
    const share = this.#share;
    // The other messages of the workflow task come first.
    await this.#run.continuation.wait(() => true);
    if (share.report) this.#takeReport(this.#run.findKnownReport(share) ?? share.report);
    // A run before may have begun to post it.
    for (let isBegun = share.inquiry !== undefined; ; isBegun = false) {
      const unposted = isBegun ? null : await this.#awaitConsent();
      let end = unposted ?? (await this.#post());
      if (end === 'notPermitted') {
        // The ledger's last answer permits it, and the claim does not: the ledger knows more by now.
        if (this.#findGrants(Date.now()) !== null) this.#run.consents.forget(share);
        if (!this.#run.consents.isReportGone(share) || isTakenBack(share)) continue;
        end = 'reportGone';
      }
      if (this.#report && WITHOUT_AN_ATTEMPT.includes(end) && (await this.#wasPosted(this.#report))) end = 'posted';
      if (end === 'expired') this.#run.consents.noteTooOld(share);
      // It may have been withdrawn while a request was in flight.
      if (share.withdrawal) {
        if (end === 'posted') refuseWithdrawal(this.#run, share, CLAIM_CAME_FIRST);
        if (await settleWithdrawal(this.#run, share)) end = 'withdrawn';
      }
      return end === 'stopped' ? 'abandoned' : end;
    }
  }

  /** Begins the wait for the consents to a report. */
  #takeReport(report: ReportReference): void {
    const share = this.#share;
    const { shareId, awaitConsentFor = DEFAULT_AWAIT_CONSENT_FOR } = share.input;
    if (this.#report && this.#report !== report) delete share.until;
    this.#report = report;
    this.#run.consents.applyStanding(share);
    if (share.until === undefined) share.since = new Date().toISOString();
    const untilMs = Date.now() + (parseDurationMs(awaitConsentFor) ?? 0);
    share.until ??= findEndOfWait(this.#run.state.extensions, { shareId }, untilMs);
  }

  /** `null` once each applicant has consented; else the share's end. */
  async #awaitConsent(): Promise<ShareEnd | null> {
    const run = this.#run;
    const share = this.#share;
    const { continuation, consents, decided } = run;
    // Consents may have come before the share was requested.
    const isAnswered = () => consents.isAnswered(share.input.shareId);
    const isRecording = () => !isAnswered() || decided.isBusy || consents.isRecording(share.input.shareId);
    let isConfirmed = false;
    for (;;) {
      this.#nowMs = Date.now();
      changeShare(share, 'awaitingConsent');
      consents.write();
      if (isTakenBack(share)) {
        if (await settleWithdrawal(run, share)) return 'withdrawn';
        continue;
      }
      const report = run.findReport(share);
      const isOver = () => isTakenBack(share) || run.isEnding || run.findReport(share) !== report;
      if (report === 'notYet' || report === null) {
        if (run.isEnding) return 'stopped';
        if (report === null) return 'nothingToShare';
        // A repeat of its stage brings another one.
        delete share.until;
        await continuation.wait(isOver);
        continue;
      }
      if (report !== this.#report || share.until === undefined) this.#takeReport(report);
      if (run.isEnding) return 'stopped';
      const { kind } = this.#judgeConsent();
      if (kind === 'denied' || kind === 'revoked') return kind;
      if (kind === 'granted') {
        // The ledger holds the share's trace number to this report's request.
        share.report = report;
        delete share.toldMissing;
        changeShare(share, 'posting');
        return null;
      }
      const leftMs = (parseInstantMs(share.until ?? '') ?? 0) - this.#nowMs;
      // An extended wait, or one for another report, ends with a question of its own.
      if (leftMs > 0) isConfirmed = false;
      const isDisturbed = () => isOver() || this.#judgeConsent().kind !== 'waiting';
      if (leftMs > 0 && isAnswered()) await this.#waitForConsent(leftMs, () => isDisturbed() || !isAnswered());
      // The ledger may not have answered yet, or not recorded that the wait was extended, or a consent.
      else if (isRecording()) {
        await continuation.wait(() => isDisturbed() || (leftMs > 0 ? isAnswered() : !isRecording()));
      }
      // Silence means no, if the ledger confirms it: the run may have missed that another run recorded a consent. Another
      // ledger cannot confirm it, and the wait ends all the same.
      else if (isConfirmed) return 'expired';
      else {
        isConfirmed = true;
        consents.markStale([share.input.shareId]);
      }
    }
  }

  async #waitForConsent(leftMs: number, isOver: () => boolean): Promise<void> {
    const { input, until, toldMissing: told = [] } = this.#share;
    const { shareId } = input;
    const { missing: waitingFor, endsInMs } = this.#judgeConsent();
    this.#share.toldMissing = waitingFor;
    if (waitingFor.some((applicantId) => !told.includes(applicantId))) {
      this.#run.events.emit('consent.missing', [shareId, ...waitingFor], { shareId, waitingFor, until: until ?? '' });
    }
    this.#run.publish();
    // A grant that comes meanwhile may be the next to become too old.
    const hasChanged = () =>
      toConsentValidForMs(input) !== undefined && this.#judgeConsent().missing.join() !== waitingFor.join();
    const called = `${shareId} with ${describeSecondaryUser(input)}`;
    const summary = `waiting for the consent of ${waitingFor.join(', ')} to share ${called}`;
    const isDisturbed = () => isOver() || hasChanged() || this.#share.until !== until;
    await this.#run.continuation.wait(isDisturbed, Math.min(leftMs, endsInMs), { summary });
  }

  async #post(): Promise<ShareEnd | 'notPermitted'> {
    const share = this.#share;
    const end = await runInquiry(this.#run, {
      ...this.#toSpec(),
      findGrants: (nowMs) => this.#findGrants(nowMs),
      grantsEndInMs: (nowMs) => this.#judgeConsent(nowMs).endsInMs,
    });
    delete share.inquiry;
    if (end.kind !== 'answered') return end.kind;
    // Without a record, only an operator's decision leads here: any code other than `Record` is a hold.
    if (end.answer.outcome !== 'record') return 'notPosted';
    this.#notePosting(end.answer);
    return 'posted';
  }

  /** Whether it was posted, such as by an earlier run. */
  async #wasPosted(report: ReportReference): Promise<boolean> {
    const run = this.#run;
    const inquiry = describeInquiry({ ...run.accepted, workflowType: workflowInfo().workflowType }, this.#toSpec(), 0);
    const content = { inquiry, reference: report };
    let step = await lookAgain(run, content, 1);
    // Another run's attempt may still be answered.
    while (step.kind === 'wait') step = await waitOut(run, content, step);
    if (step.kind !== 'answered' || step.answer.kind !== 'outcome' || step.answer.outcome !== 'record') return false;
    this.#share.report = report;
    this.#share.customerTraceNumber = inquiry.customerTraceNumber;
    this.#notePosting(step.answer);
    return true;
  }

  #notePosting({ reference, remarks }: Outcome): void {
    const share = this.#share;
    if (reference) share.reportReferenceNumber = reference.reportReferenceNumber;
    if (remarks) share.remarks = remarks;
    changeShare(share, 'posted');
    const { shareId } = share.input;
    const { customerTraceNumber } = share;
    this.#run.events.emit('share.posted', [shareId], { shareId, customerTraceNumber });
    this.#run.consents.flagIfRefused(share);
  }

  #judgeConsent(nowMs = this.#nowMs): JointConsent {
    return this.#run.consents.judge(this.#share, nowMs);
  }

  /** The grants that permit the share, as far as the run knows; `null` if it may not be posted. */
  #findGrants(nowMs: number): GrantKey[] | null {
    const { kind, grants } = this.#judgeConsent(nowMs);
    const isBarred = this.#run.consents.isReportGone(this.#share) || isTakenBack(this.#share);
    return kind === 'granted' && !isBarred ? grants : null;
  }

  #toSpec(): InquirySpec {
    const share = this.#share;
    const { input } = share;
    return {
      runKey: this.#run.runKey,
      productCode: 'SECONDUSE',
      shareId: input.shareId,
      reference: this.#report,
      ...pickTerms({ permissiblePurposeCode: this.#run.sharePurposeCode, ...input }),
      consentValidForMs: toConsentValidForMs(input),
      part: share,
      onProgress: (progress) => this.#noteProgress(progress),
    };
  }

  #noteProgress(progress: InquiryProgress): void {
    const share = this.#share;
    const { customerTraceNumber, attempts, state } = progress;
    Object.assign(share, { customerTraceNumber, attempts });
    changeShare(share, state === 'held' ? 'held' : 'posting');
    if (state === 'held') refuseWithdrawal(this.#run, share, ON_HOLD);
    this.#run.publish(selectTransientAttributes(this.#run.accepted, progress));
  }
}

// A share that its platform takes back before it is on the wire. The share's own task asks the ledger, once nothing of
// the share is in flight: the ledger alone says whether the withdrawal or a claim came first.

const CLAIM_CAME_FIRST = refuse('notNow', 'the share may have been sent already: its claim came first');
/** A withdrawal would leave the attempt undecided. */
const ON_HOLD = refuse('notNow', 'the share is on hold: a person must decide about its inquiry');

/** Whether nothing of the share may be sent: it is taken back, or the ledger is to say so. */
function isTakenBack({ withdrawal, withdrawn }: ShareRecord): boolean {
  return withdrawal !== undefined || withdrawn !== undefined;
}

/** Returns why this message cannot withdraw the share, or `null`; also `null` if it already did. */
export function checkReportWithdrawal(share: ShareRecord, { by, reason }: RunWithdrawal): MessageRefusal | null {
  const { state, withdrawal, withdrawn } = share;
  const before = withdrawal ?? withdrawn;
  // A withdrawal that only the ledger knows is not compared.
  if (before?.by !== undefined) {
    return refuseDifference('the share was withdrawn', { by: before.by, reason: before.reason }, { by, reason });
  }
  if (before) return null;
  if (state === 'held') return ON_HOLD;
  return state === 'awaitingConsent' || state === 'posting' ? null : refuse('notNow', `the share has ended: ${state}`);
}

/** Asks for the withdrawal that `checkReportWithdrawal` permits; returns `false` if one was asked for before. */
export function askForWithdrawal(run: SharingRun, share: ShareRecord, asked: AskedWithdrawal): boolean {
  if (isTakenBack(share)) return false;
  share.withdrawal = asked;
  run.inFlight.recheck();
  return true;
}

/** Asks for the withdrawal, and answers once the ledger has it, or has a claim that was first. */
export async function answerWithdrawal(run: SharingRun, share: ShareRecord, { by, reason }: RunWithdrawal) {
  const isNew = askForWithdrawal(run, share, { by, reason });
  const asked = share.withdrawal;
  return asked ? answerUnderway(run, asked, !isNew) : { ...toAccepted(run, true), recorded: true };
}

/** Refuses a withdrawal that was asked for, after which the share continues unchanged. */
function refuseWithdrawal(run: Pick<SharingRun, 'kind' | 'refuse'>, share: ShareRecord, refusal: MessageRefusal): void {
  const { withdrawal: asked } = share;
  if (!asked) return;
  delete share.withdrawal;
  asked.verdict = refusal;
  if (asked.isAnswered) refuseMessage(run, run.kind === 'share' ? 'withdraw' : 'withdrawShare', refusal.reason);
}

/**
 * Has the ledger decide about the withdrawal that was asked for, however long that takes; returns whether the share is
 * withdrawn. Nothing of the share may be in flight.
 */
async function settleWithdrawal(run: SharingRun, share: ShareRecord): Promise<boolean> {
  const { withdrawal: asked } = share;
  if (!asked) return share.withdrawn !== undefined;
  const { shareId } = share.input;
  const withdrawal = { runKey: run.runKey, shareId, by: asked.by, reason: asked.reason };
  const args = { ledgerId: run.accepted.ledgerId, withdrawal };
  const ask = () => runUntilRecorded('recordShareWithdrawal', { summary: `withdrawing share ${shareId}` }, args);
  const verdict = await run.continuation.waitFor(CancellationScope.nonCancellable(ask));
  if (verdict === 'ledgerChanged' || verdict.kind === 'claimed') {
    refuseWithdrawal(run, share, verdict === 'ledgerChanged' ? OF_ANOTHER_LEDGER : CLAIM_CAME_FIRST);
    return false;
  }
  const { by, reason } = verdict.standing;
  share.withdrawn = { by, reason };
  delete share.withdrawal;
  asked.verdict = 'recorded';
  changeShare(share, 'withdrawn');
  return true;
}

/** Settles the withdrawals of a run that ends, for shares that no task carries any more; then its last consents. */
export async function drainShares(run: SharingRun): Promise<void> {
  for (const share of run.shares.values()) {
    const { withdrawal } = share;
    if (withdrawal && run.config) await settleWithdrawal(run, share);
    else if (withdrawal) {
      withdrawal.verdict = 'inNoLedger';
      delete share.withdrawal;
    }
  }
  await run.consents.drain();
}
