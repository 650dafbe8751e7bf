/**
 * A share that its platform takes back before it is on the wire. The share's own task asks the
 * ledger, once nothing of the share is in flight: the ledger alone says whether the withdrawal or a claim came first.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { RunWithdrawal } from '../../ledger/records.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { type ConsentHost, drainMessages } from '../consent/consents.ts';
import { type AskedWithdrawal, changeShare, type ShareRecord } from '../consent/share-record.ts';
import { runUntilRecorded } from '../run/activity-stubs.ts';
import { type Accepted, answerUnderway, refuseMessage, toAccepted } from '../run/messages/message-answers.ts';
import { OF_ANOTHER_LEDGER } from '../run/run-decisions.ts';
import type { SharingRun } from './credit-run.ts';

export const CLAIM_CAME_FIRST = refuse('notNow', 'the share may have been sent already: its claim came first');
/** A withdrawal would leave the attempt undecided. */
export const ON_HOLD = refuse('notNow', 'the share is on hold: a person must decide about its inquiry');

/** Whether nothing of the share may be sent: it is taken back, or the ledger is to say so. */
export function isTakenBack({ withdrawal, withdrawn }: ShareRecord): boolean {
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
export function askForWithdrawal(
  run: Pick<ConsentHost, 'inFlight'>,
  share: ShareRecord,
  asked: AskedWithdrawal,
): boolean {
  if (isTakenBack(share)) return false;
  share.withdrawal = asked;
  run.inFlight.recheck();
  return true;
}

/** Asks for the withdrawal, and answers once the ledger has it, or has a claim that was first. */
export async function answerWithdrawal<Status>(
  run: ConsentHost & { status(): Status },
  share: ShareRecord,
  { by, reason }: RunWithdrawal,
): Promise<Accepted<Status>> {
  const isNew = askForWithdrawal(run, share, { by, reason });
  const asked = share.withdrawal;
  return asked ? answerUnderway(run, asked, !isNew) : { ...toAccepted(run, true), recorded: true };
}

/** Refuses a withdrawal that was asked for, after which the share continues unchanged. */
export function refuseWithdrawal(
  run: Pick<SharingRun, 'kind' | 'refuse'>,
  share: ShareRecord,
  refusal: MessageRefusal,
): void {
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
export async function settleWithdrawal(run: SharingRun, share: ShareRecord): Promise<boolean> {
  const { withdrawal: asked } = share;
  if (!asked) return share.withdrawn !== undefined;
  if (!run.config) throw new Error('a withdrawal of a run without a ledger');
  const { shareId } = share.input;
  const withdrawal = { runKey: run.runKey, shareId, by: asked.by, reason: asked.reason };
  const args = { ledgerId: run.config.ledgerId, withdrawal };
  const ask = () => runUntilRecorded('recordShareWithdrawal', { summary: `withdrawing share ${shareId}` }, args);
  const verdict = await run.continuation.waitFor(CancellationScope.nonCancellable(ask));
  if (verdict === 'ledgerChanged') {
    refuseWithdrawal(run, share, OF_ANOTHER_LEDGER);
    return false;
  }
  if (verdict.kind === 'claimed') {
    refuseWithdrawal(run, share, CLAIM_CAME_FIRST);
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
    if (!withdrawal) continue;
    if (run.config) await settleWithdrawal(run, share);
    else {
      withdrawal.verdict = 'inNoLedger';
      delete share.withdrawal;
    }
  }
  await drainMessages(run);
}
