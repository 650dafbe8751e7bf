/** One share, of a journey or by itself: its report, the consent of the report's applicants, one posting. */

import { workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { ShareObjection } from '../../consent/consent-record.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import { toConsentValidForMs } from '../../messages/request-share.ts';
import { type Outcome, pickTerms } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { describeSecondaryUser } from '../../model/stage-end-user.ts';
import { describeInquiry } from '../../model/trace-number.ts';
import {
  changeShare,
  type JointConsent,
  judgeConsents,
  noteRefusalAfterPosting,
  type ShareRecord,
} from '../consent/share-record.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryContext, InquirySpec } from '../inquiry/inquiry-spec.ts';
import { lookAgain, waitOut } from '../inquiry/ledger-look-ups.ts';
import { findEndOfWait } from '../run/run-decisions.ts';
import type { SharingRun } from './credit-run.ts';
import { CLAIM_CAME_FIRST, isTakenBack, ON_HOLD, refuseWithdrawal, settleWithdrawal } from './share-withdrawal.ts';

const DEFAULT_AWAIT_CONSENT_FOR = 'P30D';

/**
 * `stopped`: the run is ending, and nothing is in flight. `otherReport`: nothing was posted, and the consents stay as
 * they are.
 */
type ShareEnd = Exclude<ShareOutcome, 'nothingToShare'> | 'stopped' | 'otherReport';

type ShareOutcome = Exclude<ShareState, 'awaitingConsent' | 'posting' | 'held'>;

/**
 * Ends of a share without an attempt of this run. A run that failed, or that a reset has undone, may have posted it all
 * the same: the ledger knows.
 */
const WITHOUT_AN_ATTEMPT: ReadonlySet<string> = new Set<ShareEnd>([
  'denied',
  'revoked',
  'expired',
  'reportGone',
  'stopped',
]);

/** Carries one share to its end: its report, the consent of each applicant, one posting. */
export async function executeShare(run: SharingRun, config: RunConfig, share: ShareRecord): Promise<ShareOutcome> {
  const { consents, continuation } = run;
  const isReady = () => share.withdrawal !== undefined || run.isEnding || run.findReport(share) !== 'notYet';
  // Consents may have come before the share was requested. A run that is about to continue as new leaves the look-up to
  // the next run.
  const hasNews = () => !consents.has(share.input.shareId) && !continuation.isDue;
  for (;;) {
    await continuation.wait(() => isReady() || hasNews());
    if (!isReady()) {
      await consents.lookUp(share);
      continue;
    }
    if (share.withdrawal && !share.inquiry) {
      if (await settleWithdrawal(run, share)) return 'withdrawn';
      continue;
    }
    const report = run.findReport(share);
    if (report === 'notYet') return 'abandoned';
    if (report === null) return run.isEnding ? 'abandoned' : 'nothingToShare';
    consents.applyStanding(share);
    const end = await new SharePosting(run, config, share, report).runToEnd();
    if (end === 'stopped') return 'abandoned';
    if (end !== 'otherReport') return end;
    delete share.until;
  }
}

class SharePosting {
  readonly #run: SharingRun;
  readonly #config: RunConfig;
  readonly #share: ShareRecord;
  readonly #report: ReportReference;
  readonly #applicantIds: readonly string[];
  /** The instant by which predicates judge the age of grants: when the share last began to wait. */
  #nowMs = Date.now();

  constructor(run: SharingRun, config: RunConfig, share: ShareRecord, report: ReportReference) {
    this.#run = run;
    this.#config = config;
    this.#share = share;
    this.#report = report;
    this.#applicantIds = report.applicants.map(({ applicantId }) => applicantId);
  }

  /** Waits for consent again if the claim says that a grant is missing or too old. */
  async runToEnd(): Promise<ShareEnd> {
    const share = this.#share;
    const { awaitConsentFor = DEFAULT_AWAIT_CONSENT_FOR } = share.input;
    if (share.until === undefined) share.since = new Date().toISOString();
    const { shareId } = share.input;
    share.until ??= findEndOfWait(
      this.#run.extensions,
      { shareId },
      Date.now() + (parseDurationMs(awaitConsentFor) ?? 0),
    );
    // A run before may have begun to post it.
    for (let isBegun = share.inquiry !== undefined; ; isBegun = false) {
      const unposted = isBegun ? null : await this.#awaitConsent();
      let end = unposted ?? (await this.#post());
      if (end === 'notPermitted') {
        if (!share.reportIsGone || isTakenBack(share)) continue;
        end = 'reportGone';
      }
      if (WITHOUT_AN_ATTEMPT.has(end) && (await this.#wasPosted())) end = 'posted';
      if (end === 'expired') this.#run.consents.noteTooOld(share);
      return share.withdrawal ? await this.#settleEnd(end) : end;
    }
  }

  /** Settles the end of a share that may have been withdrawn while a request was in flight. */
  async #settleEnd(end: ShareEnd): Promise<ShareEnd> {
    if (end === 'otherReport') return end;
    if (end === 'posted') refuseWithdrawal(this.#run, this.#share, CLAIM_CAME_FIRST);
    return (await this.#isWithdrawn()) ? 'withdrawn' : end;
  }

  #isWithdrawn(): Promise<boolean> {
    return settleWithdrawal(this.#run, this.#share);
  }

  /** `null` once each applicant has consented; else the share's end. */
  async #awaitConsent(): Promise<ShareEnd | null> {
    const run = this.#run;
    const share = this.#share;
    // A repeat of its stage brings another one.
    const isOtherReport = () => run.findReport(share) !== this.#report;
    for (;;) {
      this.#nowMs = Date.now();
      changeShare(share, 'awaitingConsent');
      const isOver = () =>
        isTakenBack(share) || run.isEnding || isOtherReport() || this.#judgeConsent().kind !== 'waiting';
      // Silence means no.
      const isTimeOver = !(await this.#wait(isOver));
      if (isTimeOver && this.#judgeConsent().kind === 'waiting') return 'expired';
      if (isTakenBack(share)) {
        if (await this.#isWithdrawn()) return 'withdrawn';
        continue;
      }
      if (run.isEnding) return 'stopped';
      const { kind } = this.#judgeConsent();
      if (kind === 'denied' || kind === 'revoked') return kind;
      if (isOtherReport()) return 'otherReport';
      if (kind === 'waiting') continue;
      // The ledger holds the share's trace number to this report's request.
      share.report = this.#report;
      delete share.toldMissing;
      changeShare(share, 'posting');
      return null;
    }
  }

  /** Resolves to `true` once `isOver` says so, to `false` when the share's time is over. */
  async #wait(isOver: () => boolean): Promise<boolean> {
    const { continuation, consents, decided } = this.#run;
    const { input } = this.#share;
    // A run that is about to continue as new leaves the look-up to the next run.
    const hasNews = () => !consents.has(input.shareId) && !continuation.isDue;
    for (;;) {
      this.#nowMs = Date.now();
      if (isOver()) return true;
      if (hasNews()) {
        await consents.lookUp(this.#share);
        continue;
      }
      const { until = '' } = this.#share;
      const leftMs = (parseInstantMs(until) ?? 0) - this.#nowMs;
      // The ledger has not recorded yet that the share's wait was extended.
      const isBeingExtended = () => decided.isAboutShare(input.shareId);
      if (leftMs <= 0 && isBeingExtended()) {
        await continuation.wait(() => isOver() || hasNews() || !isBeingExtended());
        continue;
      }
      // Silence means no.
      if (leftMs <= 0) return false;
      const { missing: waitingFor, endsInMs } = this.#judgeConsent();
      this.#tellMissing(waitingFor);
      this.#run.publish();
      // A grant that comes meanwhile may be the next to become too old.
      const hasChanged = () =>
        toConsentValidForMs(input) !== undefined && this.#judgeConsent().missing.join() !== waitingFor.join();
      const called = `${input.shareId} with ${describeSecondaryUser(input)}`;
      const summary = `waiting for the consent of ${waitingFor.join(', ')} to share ${called}`;
      const isDisturbed = () => isOver() || hasNews() || hasChanged() || this.#share.until !== until;
      await continuation.wait(isDisturbed, Math.min(leftMs, endsInMs), { summary });
    }
  }

  #tellMissing(waitingFor: string[]): void {
    const { toldMissing: told = [], until = '' } = this.#share;
    const isNews = waitingFor.some((applicantId) => !told.includes(applicantId));
    this.#share.toldMissing = waitingFor;
    if (!isNews) return;
    const { shareId } = this.#share.input;
    this.#run.events.emit('consent.missing', [shareId, ...waitingFor], { shareId, waitingFor, until });
  }

  async #post(): Promise<ShareEnd | 'notPermitted'> {
    const share = this.#share;
    const end = await runInquiry(this.#createHost(), {
      ...this.#toSpec(),
      ...omitUndefined({ resume: share.inquiry }),
      onObjection: (objection) => this.#applyObjection(objection),
      permit: (nowMs) => {
        const consent = this.#judgeConsent(nowMs);
        const isPermitted = consent.kind === 'granted' && !share.reportIsGone && !isTakenBack(share);
        return isPermitted ? consent.grants : null;
      },
      permitEndsInMs: (nowMs) => this.#judgeConsent(nowMs).endsInMs,
    });
    delete share.inquiry;
    if (end.kind !== 'answered') return end.kind;
    // Without a record, only an operator's decision leads here: any code other than `Record` is a hold.
    if (end.answer.outcome !== 'record') return 'notPosted';
    this.#notePosting(end.answer);
    return 'posted';
  }

  /** Whether it was posted, such as by an earlier run. */
  async #wasPosted(): Promise<boolean> {
    const host = this.#createHost();
    const inquiry = describeInquiry({ ...host.config, workflowType: workflowInfo().workflowType }, this.#toSpec(), 0);
    const content = { inquiry, reference: this.#report };
    let step = await lookAgain(host, content, 1);
    // Another run's attempt may still be answered.
    while (step.kind === 'wait') step = await waitOut(host, content, step);
    if (step.kind !== 'answered' || step.answer.kind !== 'outcome' || step.answer.outcome !== 'record') return false;
    this.#share.report = this.#report;
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
    noteRefusalAfterPosting(this.#run, share, this.#run.consents.isRefused(share));
  }

  /** Applies the ledger's objection to the claim. Then the share asks the ledger again for the consents in force. */
  #applyObjection({ withdrawn, reportGone, grants }: ShareObjection): void {
    for (const { applicantId, consentId, fault } of grants) {
      const known = this.#run.consents.standing(this.#share, applicantId, 0);
      // An applicant who has refused needs no notice.
      if (fault === 'refused' || known.stands !== 'granted' || known.grant.consentId !== consentId) continue;
      this.#run.consents.fault({ ...known.grant, fault });
    }
    if (withdrawn) this.#share.withdrawn = {};
    if (reportGone) this.#share.reportIsGone = true;
    this.#run.consents.forget(this.#share.input.shareId);
  }

  #judgeConsent(nowMs = this.#nowMs): JointConsent {
    return judgeConsents(this.#run.consents, this.#share, this.#applicantIds, nowMs);
  }

  #toSpec(): InquirySpec {
    const { input } = this.#share;
    const validForMs = toConsentValidForMs(input);
    return {
      runKey: this.#run.runKey,
      productCode: 'SECONDUSE',
      shareId: input.shareId,
      reference: this.#report,
      ...pickTerms({ permissiblePurposeCode: this.#run.sharePurposeCode, ...input }),
      ...omitUndefined({ consentValidForMs: validForMs }),
    };
  }

  #createHost(): InquiryContext {
    const share = this.#share;
    return {
      ...this.#run.createHost(this.#config),
      onStanding: (standing) => {
        share.inquiry = standing;
      },
      onProgress: (progress) => {
        const { customerTraceNumber, attempts, state } = progress;
        Object.assign(share, { customerTraceNumber, attempts });
        changeShare(share, state === 'held' ? 'held' : 'posting');
        if (state === 'held') refuseWithdrawal(this.#run, share, ON_HOLD);
        this.#run.showProgress(this.#config, progress);
      },
    };
  }
}
