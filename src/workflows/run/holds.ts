/** Inquiries that wait for a person, and the decisions that people take about them. */
import { CancellationScope } from '@temporalio/workflow';
import type { InquiryFailure, RunConfig, UnprovenDecision } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import type { RunHold } from '../../ledger/holds/work.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { ResolveInquiryMessage } from '../../messages/resolve-inquiry.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { computeMemberDigests } from '../../model/decision-content.ts';
import { FAILURES, type HoldAction } from '../../model/failure-types.ts';
import { describeSupersedingFact, type InquiryDescription, type Outcome } from '../../model/inquiry.ts';
import { selectShownProblems } from '../../model/problems.ts';
import { judgeDecision } from '../../model/provider-word.ts';
import { type MessageRefusal, refuse, refusePaths } from '../../model/refusals.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { ENDING_RULE, formatInquiryHoldRow, SENDS_NOTHING } from '../../words/holds.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import type { ContinuationWait } from './continuation.ts';
import type { EventsOut } from './events-out.ts';
import { isRefused, type Underway, type Verdict } from './messages/message-answers.ts';
import type { RunWork } from './run-work.ts';

/** A decision, without the id of the run, which each kind of run names in its own way. */
export type DecisionMessage = Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> & {
  applicants?: FailsafeApplicant[];
};
export type Decision = DecisionMessage & { receivedAt: string };

/** A decision that a message brought. */
interface TakenDecision extends Underway {
  message: Decision;
}

/** One that has an end. The next run gets it, so it is short and has nothing personal. */
interface SettledDecision extends Underway {
  customerTraceNumber: string;
  decisionId: string;
  /** Digests of the message's members, but not of its proof. */
  digests: Record<string, string>;
}

/**
 * Limits the decisions handed on to a next run, the latest: a sender soon stops asking whether its decision was taken.
 */
const HANDED_ON = 500;

/** A year: then the timer is set again. */
const ROW_SHOWN_FOR_MS = 365 * 86_400_000;

/** Holds and decisions of the previous runs. */
export interface HoldsState {
  /** No decision about them is in progress. */
  open?: readonly HoldStatus[];
  settled?: readonly SettledDecision[];
}

interface OpenHold {
  status: HoldStatus;
  /** The ledger is to be asked for its row. */
  isUnopened?: boolean;
  decision?: TakenDecision;
}

/** The parts of its run that its holds use. */
interface HoldingRun {
  publish(): void;
  readonly config: RunConfig | undefined;
  readonly events: Pick<EventsOut, 'emit'>;
  readonly continuation: ContinuationWait;
  readonly work: Pick<RunWork, 'mayLeaveRows'>;
}

export class Holds {
  readonly #open = new Map<string, OpenHold>();
  /** Decisions that have taken effect, or that another one has overtaken. */
  readonly #settled: SettledDecision[];
  readonly #run: HoldingRun;
  /** The number of rows that are being written. */
  #opening = 0;

  constructor(run: HoldingRun, { open = [], settled = [] }: HoldsState = {}) {
    this.#run = run;
    this.#settled = [...settled];
    for (const status of open) this.#open.set(status.customerTraceNumber, { status });
  }

  /** State for continue-as-new. */
  get carried(): HoldsState {
    return { open: this.list, settled: this.#settled.slice(-HANDED_ON) };
  }

  get list(): HoldStatus[] {
    return [...this.#open.values()].map(({ status }) => status);
  }

  /** Each hold, with whether a decision about it is being recorded. */
  get view(): (HoldStatus & { isDecided: boolean })[] {
    return [...this.#open.values()].map(({ status, decision }) => ({ ...status, isDecided: decision !== undefined }));
  }

  /** Whether the ledger is being asked for a row, or to record a decision. */
  get isBusy(): boolean {
    return this.#opening > 0 || [...this.#open.values()].some(({ decision, isUnopened }) => decision || isUnopened);
  }

  /**
   * Puts the inquiry on hold until a person has decided. Never times out. A hold of the run before stays
   * open, and so does one whose decision the ledger has refused.
   */
  async wait(inquiry: InquiryDescription, failure: InquiryFailure, judged: Judged): Promise<TakenDecision> {
    const { customerTraceNumber } = inquiry;
    const known = this.#open.get(customerTraceNumber);
    const hold: OpenHold = known ?? { status: toHoldStatus(inquiry, failure, judged), isUnopened: true };
    this.#open.set(customerTraceNumber, hold);
    this.#run.publish();
    if (!known) this.#tell(hold.status);
    try {
      return await this.#waitUntilDecided(hold, inquiry);
    } catch (error) {
      this.#open.delete(customerTraceNumber);
      this.#run.work.mayLeaveRows = true;
      throw error;
    }
  }

  /**
   * Shows a row in the Temporal UI's timeline meanwhile: a timer has a summary, and costs two events. Its time decides
   * nothing.
   */
  async #waitUntilDecided(hold: OpenHold, inquiry: InquiryDescription): Promise<TakenDecision> {
    const isDisturbed = () => hold.decision !== undefined || hold.isUnopened === true;
    for (;;) {
      if (hold.decision) return hold.decision;
      if (hold.isUnopened) {
        await this.#openRow(hold, inquiry);
        // A decision that came meanwhile is recorded, also where the run was cancelled after it.
        continue;
      }
      const summary = formatInquiryHoldRow(hold.status);
      await this.#run.continuation.wait(isDisturbed, ROW_SHOWN_FOR_MS, { summary });
    }
  }

  /** Asks the ledger for the hold's row. A decision about the hold is recorded after that, and closes the row. */
  async #openRow(hold: OpenHold, inquiry: InquiryDescription): Promise<void> {
    const { config } = this.#run;
    hold.isUnopened = false;
    if (!config) return;
    const summary = `${inquiry.productCode} · opening the row of its hold`;
    const args = { ledgerId: config.ledgerId, hold: toRow(hold, inquiry) };
    this.#opening++;
    try {
      // The run does not write into another ledger, so only its status shows the hold.
      await CancellationScope.nonCancellable(() => runUntilRecorded('openHold', { summary }, args));
    } finally {
      this.#opening--;
    }
  }

  /**
   * Opens the row of each hold again after a reset, as one that begins now. The ledger may have closed the rows since, by
   * decisions that the run has forgotten. A decision that is being recorded closes the row; if the ledger refuses it,
   * the row is opened then.
   */
  onReset(): void {
    const since = new Date().toISOString();
    for (const hold of this.#open.values())
      Object.assign(hold, { status: { ...hold.status, since }, isUnopened: true });
    this.#run.work.mayLeaveRows = true;
  }

  /** Takes the hold off the list, once the ledger has its decision, or no ledger can have it. */
  settle(taken: TakenDecision, verdict: Verdict): void {
    const { customerTraceNumber, decisionId, action } = taken.message;
    const hold = this.#open.get(customerTraceNumber);
    taken.verdict = verdict;
    if (!hold) return;
    this.#open.delete(customerTraceNumber);
    const digests = computeMemberDigests(toContent(taken.message));
    this.#settled.push({ customerTraceNumber, decisionId, digests, verdict });
    this.#run.publish();
    this.#tell(hold.status, { action, ...(isRefused(verdict) ? { overtaken: true } : {}) });
  }

  /** The ledger refused the decision, so the hold waits for another one, and shows the reason. */
  refuse(taken: TakenDecision, refusal: MessageRefusal): void {
    const { customerTraceNumber, decisionId } = taken.message;
    const hold = this.#open.get(customerTraceNumber);
    taken.verdict = refusal;
    if (!hold) return;
    hold.status = { ...hold.status, refusedDecision: { decisionId, ...refusal, at: new Date().toISOString() } };
    delete hold.decision;
  }

  /** Emits that a hold began or ended; not who decided, nor why. */
  #tell(status: HoldStatus, decided?: { action: HoldAction; overtaken?: true }): void {
    const { customerTraceNumber, productCode, shareId, failureType, attempts: attempt, allowedActions } = status;
    const { problems, refusalKept } = status;
    const inquiry = { customerTraceNumber, productCode, ...omitUndefined({ shareId }), attempt, failureType };
    const key = [customerTraceNumber, attempt, failureType];
    if (!decided) {
      const held = { ...inquiry, ...omitUndefined({ problems, refusalKept }), allowedActions };
      this.#run.events.emit('inquiry.held', key, held);
      return;
    }
    // After a reset, the ledger may have advanced before the same decision is recorded. That is another event.
    const resolved = [...key, decided.action, ...(decided.overtaken ? ['overtaken'] : [])];
    this.#run.events.emit('hold.resolved', resolved, { ...inquiry, ...decided });
  }

  /** Returns the decision that was taken under the message's id. One that had no effect gives its id to another. */
  #findTaken(message: DecisionMessage): TakenDecision | SettledDecision | undefined {
    const { customerTraceNumber: inquiry, decisionId } = message;
    const { decision } = this.#open.get(inquiry) ?? {};
    if (decision?.message.decisionId === decisionId) return decision;
    const settled = this.#settled.findLast(
      (known) => known.customerTraceNumber === inquiry && known.decisionId === decisionId,
    );
    return settled && isRefused(settled.verdict) && findDifferences(settled, message).length > 0 ? undefined : settled;
  }

  /** Returns why the decision makes no sense now, or `null`. */
  findProblem(message: DecisionMessage, isEnding: boolean): MessageRefusal | null {
    const hold = this.#open.get(message.customerTraceNumber);
    const taken = this.#findTaken(message);
    if (taken) {
      const differing = refusePaths('/decisionId was used', findDifferences(taken, message));
      return differing ?? (isRefused(taken.verdict) ? taken.verdict : null);
    }
    if (!hold) return refuse('notOnHold', 'no inquiry with this customerTraceNumber is on hold');
    if (hold.decision) return refuse('decided', 'another decision about this hold has been taken');
    if (isEnding && !SENDS_NOTHING.includes(message.action)) return refuse('ending', ENDING_RULE);
    const { attempts: attempt, failureType: reason } = hold.status;
    return judgeDecision({ ...hold.status, attempt, reason, heldBy: 'run' }, message, Date.now());
  }

  /** Takes a decision that `findProblem` permits, or returns it where it was taken before. */
  take(message: DecisionMessage): { taken: Underway; isDuplicate: boolean } {
    const known = this.#findTaken(message);
    if (known) return { taken: known, isDuplicate: true };
    const taken: TakenDecision = { message: { ...message, receivedAt: new Date().toISOString() } };
    const hold = this.#open.get(message.customerTraceNumber);
    if (hold) hold.decision = taken;
    return { taken, isDuplicate: false };
  }
}

/** Describes the hold for its row. The ledger itself knows the details of an attempt that it has. */
function toRow({ status }: OpenHold, inquiry: InquiryDescription): RunHold {
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

function findDifferences(known: TakenDecision | SettledDecision, message: DecisionMessage): string[] {
  const content = toContent(message);
  return 'digests' in known
    ? findDifferingPaths(known.digests, computeMemberDigests(content))
    : findDifferingPaths(toContent(known.message), content);
}

export interface Judged {
  attempt: number;
  applicantIds: readonly string[];
  since: string;
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

type DecisionEffect =
  | { kind: 'recorded'; accepted: Outcome }
  /** The ledger already had an answer or another decision, with which the run continues. */
  | { kind: 'overtaken' }
  | { kind: 'held'; failure: InquiryFailure };

/**
 * Holds the inquiry until the ledger has a decision about it. If the ledger refuses one, the hold stays and shows why.
 */
export async function holdUntilDecided(
  { config, holds }: { config: RunConfig; holds: Holds },
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  judged: Judged,
): Promise<{ decision: Decision; effect: DecisionEffect }> {
  for (;;) {
    const taken = await holds.wait(inquiry, failure, judged);
    const { verdict, effect } = await recordJudgedDecision(config, inquiry, failure, taken.message);
    if (effect) {
      holds.settle(taken, verdict);
      return { decision: taken.message, effect };
    }
    holds.refuse(taken, verdict);
  }
}

/** Writes the decision to the ledger before it takes effect. A decision without an effect is refused. */
async function recordJudgedDecision(
  config: RunConfig,
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  message: Decision,
): Promise<{ verdict: Verdict; effect: DecisionEffect } | { verdict: MessageRefusal; effect?: never }> {
  const { decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid } = message;
  const { applicants, proof } = message;
  const answer: Outcome = {
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
    ...(action === 'accept' ? { answer } : {}),
    ...(message.confirmConsumerIds ? { confirmConsumerIds: true } : {}),
  };
  const summary = `recording the decision: ${action}`;
  const args = { ledgerId: config.ledgerId, inquiry, decision, ...omitUndefined({ applicants, proof }) };
  const recorded = await CancellationScope.nonCancellable(() => runUntilRecorded('recordDecision', { summary }, args));
  const accepted = { kind: 'recorded', accepted: answer } as const;
  if (recorded === 'ledgerChanged') {
    // A resend or an abandonment needs no record in another ledger, and the answer says that there is none.
    const isTaken = action === 'abandon' || action === 'resend';
    const held = { kind: 'held', failure: { ...failure, failureType: 'LedgerChanged' } } as const;
    return { verdict: 'inNoLedger', effect: isTaken ? accepted : held };
  }
  if (recorded.kind === 'recorded') return { verdict: 'recorded', effect: accepted };
  if (recorded.kind === 'refused') return { verdict: refuse(recorded.cause, recorded.reason) };
  const { latest } = recorded;
  const verdict = refuse('notNow', `nothing was decided: ${describeSupersedingFact(latest)}`);
  // The ledger already has another resend of this very attempt: it permits the next one just as well.
  const isOver = latest.state === 'abandoned' || latest.failureType === 'AnsweredLate';
  const isOpen = latest.attempt === attempt && !latest.answer && !isOver;
  return { verdict, effect: action === 'resend' && isOpen ? accepted : { kind: 'overtaken' } };
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
