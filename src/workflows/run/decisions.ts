/** Writes people's decisions to the ledger. A hold waits until the ledger has one, a repeat until the ledger has it. */
import { CancellationScope } from '@temporalio/workflow';
import type { DecisionProof, InquiryFailure, PreparedRun, UnprovenDecision } from '../../activities/contract.ts';
import { type AttemptView, type InquiryDescription, type Outcome, whatStands } from '../../model/inquiry.ts';
import { untilDone } from './activity-stubs.ts';
import { applicationFailureOf } from './application-failure.ts';
import type { Judged } from './hold-status.ts';
import type { Decision, Holds } from './holds.ts';

export type DecisionRecording =
  /** `latest`: the ledger has another resend of the very attempt, which permits the same. */
  | { kind: 'recorded'; accepted: Outcome; inNoLedger?: true; latest?: AttemptView }
  /** The ledger already had an answer or another decision: the run goes on with that. */
  | { kind: 'overtaken'; latest: AttemptView }
  /** The ledger has refused it: the inquiry still waits for a decision. */
  | { kind: 'refused'; reason: string }
  | { kind: 'held'; failure: InquiryFailure };

/**
 * Holds the inquiry until the ledger has a decision about it. One that the ledger refuses leaves it held, and shows why.
 */
export async function holdUntilDecided(
  { run, holds }: { run: PreparedRun; holds: Holds },
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  judged: Judged,
): Promise<{ decision: Decision; effect: Exclude<DecisionRecording, { kind: 'refused' }> }> {
  let decision = await holds.wait(inquiry, failure, judged);
  for (;;) {
    const effect = await recordTheDecision(run, inquiry, failure, decision);
    if (effect.kind !== 'refused') {
      holds.settle(decision, settledBy(effect));
      return { decision, effect };
    }
    const isTold = holds.refuse(decision, effect.reason);
    decision = await holds.wait(inquiry, failure, { ...judged, isTold, isRefused: true });
  }
}

function settledBy(effect: Exclude<DecisionRecording, { kind: 'refused' }>): Parameters<Holds['settle']>[1] {
  if (effect.kind === 'held') return {};
  if (effect.latest) return { overtakenBy: `nothing was decided: ${whatStands(effect.latest)}` };
  return effect.kind === 'recorded' && effect.inNoLedger ? { inNoLedger: true } : {};
}

/** Writes the decision to the ledger before it takes effect. */
async function recordTheDecision(
  run: PreparedRun,
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  message: Decision,
): Promise<DecisionRecording> {
  const { decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid } = message;
  const accepted: Outcome = {
    kind: 'outcome',
    outcome: message.outcome ?? 'noReport',
    ...(message.reference ? { reference: message.reference } : {}),
  };
  const decision: UnprovenDecision = {
    decisionId,
    customerTraceNumber,
    attempt,
    action,
    by,
    reason,
    providerSaid,
    failureType: failure.failureType,
    decidedAt: message.receivedAt,
    ...(action === 'accept' ? { answer: accepted } : {}),
    ...(message.confirmConsumerIds ? { confirmConsumerIds: true } : {}),
  };
  try {
    const verdict = await CancellationScope.nonCancellable(() =>
      untilDone(
        'recordDecision',
        { summary: `recording the decision: ${action}` },
        { ledgerId: run.ledgerId, inquiry, decision, ...proofOf(message) },
      ),
    );
    if (verdict.kind === 'recorded') return { kind: 'recorded', accepted };
    if (verdict.kind === 'refused') return verdict;
    // The ledger already has another resend of this very attempt: it permits the next one just as well.
    const { latest } = verdict;
    const isOver = latest.state === 'abandoned' || latest.failureType === 'AnsweredLate';
    const isOpen = latest.attempt === attempt && !latest.answer && !isOver;
    return action === 'resend' && isOpen ? { kind: 'recorded', accepted, latest } : verdict;
  } catch (error) {
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    // Nothing is written into a ledger that is not the run's. To look again and to give up need no record in it, and the
    // answer says that there is none.
    if (action === 'abandon' || action === 'resend') return { kind: 'recorded', accepted, inNoLedger: true };
    return { kind: 'held', failure: { ...failure, failureType: 'LedgerChanged' } };
  }
}

/** Only the proof of an amendment is about applicants: without one they go nowhere but to their inquiry. */
function proofOf({ proof, applicants, askedAbout }: Decision): { proof?: DecisionProof } {
  if (proof === undefined) return {};
  return { proof: { jws: proof, ...(applicants ? { applicants } : {}), ...(askedAbout ? { askedAbout } : {}) } };
}

/** Who wanted an answered stage pulled once more, and why. */
export interface RepeatDecision {
  decisionId: string;
  by: string;
  reason: string;
  decidedAt: string;
  /** Which pull of the stage it is to be. */
  occurrence: number;
  proof?: DecisionProof;
}

/**
 * Records who wanted a repeat before it is made. The record permits nothing: the claim decides.
 *
 * @returns whether it may be made: not where its proof, which was good when the message came, is refused by now
 */
export async function recordRepeat(
  run: PreparedRun,
  inquiry: InquiryDescription,
  { proof, occurrence, ...repeat }: RepeatDecision,
): Promise<boolean> {
  const { customerTraceNumber } = inquiry;
  const decision: UnprovenDecision = {
    ...repeat,
    customerTraceNumber,
    attempt: 0,
    action: 'repeat',
    providerSaid: 'notAsked',
  };
  const args = { ledgerId: run.ledgerId, inquiry, decision, occurrence, ...(proof ? { proof } : {}) };
  try {
    const verdict = await CancellationScope.nonCancellable(() =>
      untilDone('recordDecision', { summary: `recording who wants ${inquiry.productCode} again` }, args),
    );
    return verdict.kind !== 'refused';
  } catch (error) {
    // Nothing is written into a ledger that is not the run's; the claim finds that again, and holds.
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    return true;
  }
}
