/** Inquiries that wait for a person, and the decisions that people take about them. */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { InquiryFailure, RunConfig, UnprovenDecision } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import type { RunHold } from '../../ledger/holds/work.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import { checkReferenceApplicants } from '../../messages/reference-applicants.ts';
import type { ResolveInquiryMessage } from '../../messages/resolve-inquiry.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { computeMemberDigests } from '../../model/decision-content.ts';
import { FAILURES, type HoldAction } from '../../model/failure-types.ts';
import {
  type AttemptView,
  describeSupersedingFact,
  type InquiryDescription,
  type Outcome,
} from '../../model/inquiry.ts';
import { selectShownProblems } from '../../model/problems.ts';
import { checkProviderStatement, checkResendTime } from '../../model/provider-word.ts';
import { type MessageRefusal, refuse, refusePaths } from '../../model/refusals.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { ENDING_RULE, formatInquiryHoldRow, SENDS_NOTHING } from '../../words/holds.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import type { ContinuationWait } from './continuation.ts';
import type { EventsOut } from './events-out.ts';
import type { RunWork } from './run-work.ts';

/** A decision, without the id of the run, which each kind of run names in its own way. */
export type DecisionMessage = Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> & {
  applicants?: FailsafeApplicant[];
};
export type Decision = DecisionMessage & { receivedAt: string };

/**
 * A decision that has taken effect, with digests that recognise a duplicate. The next run gets it, so it has no
 * personal data.
 */
interface SettledDecision {
  customerTraceNumber: string;
  decisionId: string;
  /** Digests of the whole message but its proof, as `computeMemberDigests` makes them. */
  digests: Record<string, string>;
  /** The run's ledger was replaced, so no ledger has the decision. */
  inNoLedger?: true;
  /** Set if the ledger refused the decision: names the answer or decision that superseded it. */
  overtakenBy?: MessageRefusal;
}

/**
 * Limits the decisions handed on to a next run, the latest: a sender soon stops asking whether its decision was taken.
 */
const HANDED_ON = 500;

/** A year: then the timer is set again. */
const ROW_SHOWN_FOR_MS = 365 * 86_400_000;

/** A hold from continue-as-new. It is open before the inquiry runs again. */
interface CarriedHold {
  status: HoldStatus;
  applicantIds: readonly string[];
  inquiry: InquiryDescription;
  /** The ledger had not confirmed the row yet, so the next run opens it. */
  isOpening?: true;
}

/** Holds and decisions of the previous runs. */
export interface HoldsState {
  open?: readonly CarriedHold[];
  settled?: readonly SettledDecision[];
}

interface OpenHold extends CarriedHold {
  /** The number of writes of its row in flight: more than one after a reset. */
  opening: number;
  decision?: Decision;
}

/** The parts of its run that its holds use. */
interface HoldingRun {
  publish(): void;
  readonly events: Pick<EventsOut, 'emit'>;
  readonly continuation: ContinuationWait;
  readonly work: Pick<RunWork, 'openHold' | 'leaveRows'>;
}

export class Holds {
  readonly #open = new Map<string, OpenHold>();
  readonly #settled: SettledDecision[];
  readonly #run: HoldingRun;

  constructor(run: HoldingRun, state: HoldsState = {}) {
    this.#run = run;
    this.#settled = [...(state.settled ?? [])];
    for (const hold of state.open ?? []) this.#open.set(hold.status.customerTraceNumber, { ...hold, opening: 0 });
  }

  /** The decisions that the next run is to know again. */
  get settled(): SettledDecision[] {
    return this.#settled.slice(-HANDED_ON);
  }

  /** Holds for continue-as-new. None of them has a decision in progress. */
  get carried(): CarriedHold[] {
    return [...this.#open.values()].map(({ status, applicantIds, inquiry, isOpening, opening }) => ({
      ...{ status, applicantIds, inquiry },
      ...(isOpening || opening > 0 ? { isOpening: true as const } : {}),
    }));
  }

  get list(): HoldStatus[] {
    return [...this.#open.values()].map(({ status }) => status);
  }

  /** Each hold, with the applicants that it is about, and whether a decision about it is being recorded. */
  get view(): (HoldStatus & { applicantIds: readonly string[]; isDecided: boolean })[] {
    return [...this.#open.values()].map(({ status, applicantIds, decision }) => ({
      ...status,
      applicantIds: [...applicantIds],
      isDecided: decision !== undefined,
    }));
  }

  /**
   * Puts the inquiry on hold until a person has decided. Never times out.
   *
   * @param judged `isTold`: platforms have received the event of this hold already
   */
  async wait(inquiry: InquiryDescription, failure: InquiryFailure, judged: Judged): Promise<Decision> {
    const { customerTraceNumber } = inquiry;
    const carried = judged.isTold ? this.#open.get(customerTraceNumber) : undefined;
    const status = toHoldStatus(inquiry, failure, judged);
    const hold: OpenHold = carried ?? { status, applicantIds: judged.applicantIds, inquiry, opening: 0 };
    this.#open.set(customerTraceNumber, hold);
    if (!carried || carried.isOpening) this.#openRow(hold);
    this.#run.publish();
    if (!judged.isTold) this.#tell(hold.status);
    try {
      await this.#waitUntilDecided(hold);
    } catch (error) {
      this.#open.delete(customerTraceNumber);
      this.#run.work.leaveRows();
      throw error;
    }
    return hold.decision as Decision;
  }

  /**
   * Shows a row in the Temporal UI's timeline meanwhile: a timer has a summary, and costs two events. Its time decides
   * nothing.
   */
  async #waitUntilDecided(hold: OpenHold): Promise<void> {
    const isDecided = () => hold.decision !== undefined;
    const row = { summary: formatInquiryHoldRow(hold.status) };
    for (let isOver = false; !isOver; ) {
      isOver = await this.#run.continuation.wait(isDecided, ROW_SHOWN_FOR_MS, row);
    }
    // The decision closes the ledger's row, so the next run would not find it.
    if (hold.opening > 0) await condition(() => hold.opening === 0);
  }

  /** Asks the ledger for the hold's row. A decision about the hold is recorded after that, and closes the row. */
  #openRow(hold: OpenHold): void {
    delete hold.isOpening;
    hold.opening++;
    this.#run.work.openHold(toRow(hold), () => {
      hold.opening--;
    });
  }

  /**
   * Opens the row of each hold again after a reset, as one that begins now. The ledger may have closed the rows since, by
   * decisions that the run has forgotten.
   */
  onReset(): void {
    const since = new Date().toISOString();
    for (const hold of this.#open.values()) {
      hold.status = { ...hold.status, since };
      // A decision that is being recorded closes the row. If the ledger refuses it, the row is opened then.
      if (!hold.decision) this.#openRow(hold);
    }
    this.#run.work.leaveRows();
  }

  /** Takes the hold off the list, once the ledger has its decision, or no ledger can have it. */
  settle(
    decision: Decision,
    { inNoLedger, overtakenBy }: Pick<SettledDecision, 'inNoLedger' | 'overtakenBy'> = {},
  ): void {
    const { customerTraceNumber, decisionId } = decision;
    const hold = this.#open.get(customerTraceNumber);
    if (!hold) return;
    this.#open.delete(customerTraceNumber);
    const digests = computeMemberDigests(toContent(decision));
    this.#settled.push({ customerTraceNumber, decisionId, digests, ...omitUndefined({ inNoLedger, overtakenBy }) });
    this.#run.publish();
    this.#tell(hold.status, { action: decision.action, isOvertaken: overtakenBy !== undefined });
  }

  /** The ledger refused the decision, so the hold waits for another one, and shows the reason. */
  refuse({ customerTraceNumber, decisionId }: Decision, refusal: MessageRefusal): void {
    const hold = this.#open.get(customerTraceNumber);
    if (!hold) return;
    hold.status = { ...hold.status, refusedDecision: { decisionId, ...refusal, at: new Date().toISOString() } };
    delete hold.decision;
    this.#openRow(hold);
    this.#run.publish();
  }

  /** Emits that a hold began or ended; not who decided, nor why. */
  #tell(status: HoldStatus, decided?: { action: HoldAction; isOvertaken: boolean }): void {
    const { customerTraceNumber, productCode, shareId, failureType, attempts: attempt, allowedActions } = status;
    const { problems, refusalKept } = status;
    const why = { ...(problems ? { problems } : {}), ...(refusalKept ? { refusalKept } : {}) };
    const inquiry = { customerTraceNumber, productCode, ...(shareId === undefined ? {} : { shareId }) };
    const key = [customerTraceNumber, attempt, failureType];
    if (decided) {
      const { action, isOvertaken } = decided;
      const resolved = {
        ...inquiry,
        attempt,
        failureType,
        action,
        ...(isOvertaken ? { overtaken: true as const } : {}),
      };
      // After a reset, the ledger may have advanced before the same decision is recorded. That is another event.
      this.#run.events.emit('hold.resolved', [...key, action, ...(isOvertaken ? ['overtaken'] : [])], resolved);
    } else this.#run.events.emit('inquiry.held', key, { ...inquiry, attempt, failureType, ...why, allowedActions });
  }

  /** Whether this very decision was taken before. */
  isDuplicate(message: DecisionMessage): boolean {
    return this.#compareWithTaken(message)?.length === 0;
  }

  /** Returns the members that differ from the decision taken under its id; `undefined` if none was taken. */
  #compareWithTaken(message: DecisionMessage): string[] | undefined {
    const { customerTraceNumber, decisionId } = message;
    const open = this.#open.get(customerTraceNumber)?.decision;
    if (open?.decisionId === decisionId) return findDifferingPaths(toContent(open), toContent(message));
    const settled = this.#findSettled(message);
    const differing = settled && findDifferingPaths(settled.digests, computeMemberDigests(toContent(message)));
    // The earlier decision under the id had no effect, so the corrected one may take it.
    return settled?.overtakenBy !== undefined && differing?.length ? undefined : differing;
  }

  #findSettled({ customerTraceNumber, decisionId }: DecisionMessage): SettledDecision | undefined {
    return this.#settled.findLast(
      (decision) => decision.customerTraceNumber === customerTraceNumber && decision.decisionId === decisionId,
    );
  }

  /** Whether the decision was taken although no ledger holds it. */
  isInNoLedger(message: DecisionMessage): boolean {
    return this.#findSettled(message)?.inNoLedger === true;
  }

  /** Whether the ledger has not answered about the decision yet. */
  isPending({ customerTraceNumber, decisionId }: DecisionMessage): boolean {
    return this.#open.get(customerTraceNumber)?.decision?.decisionId === decisionId;
  }

  /** Returns why the ledger refused the decision, or `null`. */
  findRefusal(message: DecisionMessage): MessageRefusal | null {
    if (this.isPending(message)) return null;
    const { refusedDecision: refused } = this.#open.get(message.customerTraceNumber)?.status ?? {};
    if (refused?.decisionId === message.decisionId) return refuse(refused.cause, refused.reason);
    return this.#findSettled(message)?.overtakenBy ?? null;
  }

  /** Returns why the decision makes no sense now, or `null`. */
  findProblem(message: DecisionMessage, isEnding: boolean): MessageRefusal | null {
    const hold = this.#open.get(message.customerTraceNumber);
    const differing = this.#compareWithTaken(message);
    if (differing) return refusePaths('/decisionId was used', differing) ?? this.findRefusal(message);
    if (!hold) return refuse('notOnHold', 'no inquiry with this customerTraceNumber is on hold');
    if (hold.decision) return refuse('decided', 'another decision about this hold has been taken');
    const { attempts, allowedActions, failureType } = hold.status;
    if (message.attempt !== attempts) return refuse('notOnHold', `the hold is about attempt ${attempts}`);
    if (!allowedActions.includes(message.action)) {
      return refuse('notNow', `${failureType} allows ${allowedActions.join(', ')}`);
    }
    if (isEnding && !SENDS_NOTHING.includes(message.action)) return refuse('ending', ENDING_RULE);
    const { reference } = message;
    const problem =
      checkProviderStatement(hold.status, message) ??
      checkResendTime(hold.status, message, Date.now()) ??
      (reference ? checkReferenceApplicants(reference.applicants, hold.applicantIds) : null);
    return problem === null ? null : refuse('notNow', problem);
  }

  decide(decision: Decision): void {
    const hold = this.#open.get(decision.customerTraceNumber);
    if (hold) hold.decision = decision;
  }
}

/** Describes the hold for its row. The ledger itself knows the details of an attempt that it has. */
function toRow({ status, inquiry }: OpenHold): RunHold {
  const {
    failureType: reason,
    attempts: attempt,
    since,
    applicantIds,
    httpStatus,
    returnCode,
    returnReasonCode,
  } = status;
  const { otherTraceNumber, resendFrom, problems } = status;
  const answer = { applicantIds, httpStatus, returnCode, returnReasonCode };
  const details = omitUndefined({ ...answer, otherTraceNumber, resendFrom, problems });
  return { inquiry, reason, attempt, since, details };
}

/** Returns the message without its proof, which is about this very content. */
function toContent({ receivedAt: _, proof: __, ...message }: DecisionMessage & Partial<Decision>): object {
  return message;
}

export interface Judged {
  attempt: number;
  applicantIds: readonly string[];
  since: string;
  isTold?: boolean;
}

function toHoldStatus(
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  { attempt, since, applicantIds }: Judged,
): HoldStatus {
  const { httpStatus, refusalKept, returnCode, returnReasonCode, resendFrom, otherTraceNumber } = failure;
  const { problems } = failure;
  const { accountId } = parseRunKey(inquiry.runKey);
  return {
    customerTraceNumber: inquiry.customerTraceNumber,
    productCode: inquiry.productCode,
    ...omitUndefined({ accountId, shareId: inquiry.shareId }),
    profile: inquiry.profile,
    ...omitUndefined({ endUserCode: inquiry.endUserCode, endUser: inquiry.endUser }),
    applicantIds: [...applicantIds],
    failureType: failure.failureType,
    since,
    attempts: attempt,
    ...omitUndefined({ httpStatus, refusalKept, returnCode, returnReasonCode, otherTraceNumber, resendFrom }),
    ...(problems ? { problems: selectShownProblems(problems) } : {}),
    // A share sends a reference, not applicants: there is nothing in it that a person could correct. And a stage has no
    // more trace numbers than two digits count.
    allowedActions: FAILURES[failure.failureType].actions.filter(
      (action) => action !== 'amend' || (inquiry.productCode !== 'SECONDUSE' && inquiry.ordinal < MAX_ORDINAL),
    ),
  };
}

// Writes people's decisions to the ledger. A hold waits until the ledger has one, a repeat until the ledger has it.

type DecisionRecording =
  /** `latest`: the ledger has another resend of the very attempt, which permits the same. */
  | { kind: 'recorded'; accepted: Outcome; inNoLedger?: true; latest?: AttemptView }
  /** The ledger already had an answer or another decision, with which the run continues. */
  | { kind: 'overtaken'; latest: AttemptView }
  /** The ledger refused the decision, so the inquiry still waits for one. */
  | ({ kind: 'refused' } & MessageRefusal)
  | { kind: 'held'; failure: InquiryFailure };

/**
 * Holds the inquiry until the ledger has a decision about it. If the ledger refuses one, the hold stays and shows why.
 */
export async function holdUntilDecided(
  { config, holds }: { config: RunConfig; holds: Holds },
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  judged: Judged,
): Promise<{ decision: Decision; effect: Exclude<DecisionRecording, { kind: 'refused' }> }> {
  let decision = await holds.wait(inquiry, failure, judged);
  for (;;) {
    const effect = await recordJudgedDecision(config, inquiry, failure, decision);
    if (effect.kind !== 'refused') {
      holds.settle(decision, toSettlement(effect));
      return { decision, effect };
    }
    holds.refuse(decision, refuse(effect.cause, effect.reason));
    decision = await holds.wait(inquiry, failure, { ...judged, isTold: true });
  }
}

function toSettlement(effect: Exclude<DecisionRecording, { kind: 'refused' }>): Parameters<Holds['settle']>[1] {
  if (effect.kind === 'held') return {};
  if (effect.latest) {
    return { overtakenBy: refuse('notNow', `nothing was decided: ${describeSupersedingFact(effect.latest)}`) };
  }
  return effect.kind === 'recorded' && effect.inNoLedger ? { inNoLedger: true } : {};
}

/** Writes the decision to the ledger before it takes effect. */
async function recordJudgedDecision(
  config: RunConfig,
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  message: Decision,
): Promise<DecisionRecording> {
  const { decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid } = message;
  const { applicants, proof } = message;
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
  const summary = `recording the decision: ${action}`;
  const args = { ledgerId: config.ledgerId, inquiry, decision, ...omitUndefined({ applicants, proof }) };
  const verdict = await CancellationScope.nonCancellable(() => runUntilRecorded('recordDecision', { summary }, args));
  if (verdict === 'ledgerChanged') {
    // A resend or an abandonment needs no record in another ledger, and the answer says that there is none.
    if (action === 'abandon' || action === 'resend') return { kind: 'recorded', accepted, inNoLedger: true };
    return { kind: 'held', failure: { ...failure, failureType: 'LedgerChanged' } };
  }
  if (verdict.kind === 'recorded') return { kind: 'recorded', accepted };
  if (verdict.kind === 'refused') return verdict;
  // The ledger already has another resend of this very attempt: it permits the next one just as well.
  const { latest } = verdict;
  const isOver = latest.state === 'abandoned' || latest.failureType === 'AnsweredLate';
  const isOpen = latest.attempt === attempt && !latest.answer && !isOver;
  return action === 'resend' && isOpen ? { kind: 'recorded', accepted, latest } : verdict;
}

/** The decision to repeat the pull of an answered stage. */
export interface RepeatDecision {
  decisionId: string;
  by: string;
  reason: string;
  decidedAt: string;
  /** The number of the pull within its stage. */
  occurrence: number;
  proof?: string;
  applicants?: FailsafeApplicant[];
}

/**
 * Records who wanted a repeat before it is made. The record permits nothing: the claim decides.
 *
 * @returns whether it may be made: not where its proof, which was good when the message came, is refused by now
 */
export async function recordRepeat(
  config: RunConfig,
  inquiry: InquiryDescription,
  { proof, applicants, occurrence, ...repeat }: RepeatDecision,
): Promise<boolean> {
  const { customerTraceNumber } = inquiry;
  const decision: UnprovenDecision = {
    ...repeat,
    customerTraceNumber,
    attempt: 0,
    action: 'repeat',
    providerSaid: 'notAsked',
  };
  const proven = omitUndefined({ proof, applicants });
  const args = { ledgerId: config.ledgerId, inquiry, decision, occurrence, ...proven };
  const summary = `recording who wants ${inquiry.productCode} again`;
  const verdict = await CancellationScope.nonCancellable(() => runUntilRecorded('recordDecision', { summary }, args));
  // The claim finds another ledger again, and holds.
  return verdict === 'ledgerChanged' || verdict.kind !== 'refused';
}
