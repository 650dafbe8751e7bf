/** Inquiries that wait for a person, and the decisions that people take about them. */
import { CancellationScope } from '@temporalio/workflow';
import type { InquiryFailure, RunConfig, UnprovenDecision } from '../../activities/contract.ts';
import { pick } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
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
import { ENDING_RULE, formatHoldRow, formatInquiryName, SENDS_NOTHING } from '../../words/holds.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import type { Continuation } from './continuation.ts';
import type { EventsOut } from './events-out.ts';
import { isRefused, type Underway, type Verdict } from './message-answers.ts';
import { OF_ANOTHER_LEDGER } from './run-decisions.ts';

/** A decision, without the id of the run, which each kind of run names in its own way. */
export type DecisionMessage = Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> & {
  applicants?: FailsafeApplicant[];
};
export type Decision = DecisionMessage & { receivedAt: string };

/** A decision that a message brought. The run keeps it once it has an end, so it is short and has nothing personal. */
interface KnownDecision extends Underway {
  customerTraceNumber: string;
  decisionId: string;
  /** Digests of the message's members, but not of its proof, which is about this very content. */
  digests: Record<string, string>;
}

type TakenDecision = KnownDecision & { message: Decision };

/**
 * Limits the settled decisions that a run remembers, the latest: a sender soon stops asking whether its decision was
 * taken.
 */
const MOST_SETTLED = 500;

/** A year: then the timer is set again. */
const ROW_SHOWN_FOR_MS = 365 * 86_400_000;

/** Plain data for continue-as-new. */
export interface HoldsState {
  open: OpenHold[];
  /** Decisions that have taken effect, or that another one has overtaken. */
  settled: KnownDecision[];
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
  readonly accepted: RunConfig;
  readonly state: { mayLeaveRows?: boolean };
  readonly events: Pick<EventsOut, 'emit'>;
  readonly continuation: Pick<Continuation, 'wait'>;
}

type Judged = Pick<HoldStatus, 'attempts' | 'applicantIds' | 'since'>;

type DecisionEffect =
  | { kind: 'recorded'; accepted: Outcome }
  /** The ledger already had an answer or another decision, with which the run continues. */
  | { kind: 'overtaken' };

export class Holds {
  readonly #run: HoldingRun;
  readonly #state: HoldsState;

  constructor(run: HoldingRun, state: HoldsState) {
    this.#run = run;
    this.#state = state;
  }

  get list(): HoldStatus[] {
    return this.#state.open.map(({ status }) => status);
  }

  /** Each hold, with whether a decision about it is being recorded. */
  get view(): (HoldStatus & { isDecided: boolean })[] {
    return this.#state.open.map(({ status, decision }) => ({ ...status, isDecided: decision !== undefined }));
  }

  #find(customerTraceNumber: string): OpenHold | undefined {
    return this.#state.open.find(({ status }) => status.customerTraceNumber === customerTraceNumber);
  }

  /**
   * Puts the inquiry on hold until the ledger has a decision about it. Never times out. If the ledger refuses one, the
   * hold stays and shows why. A hold of the run before stays open.
   */
  async waitForDecision(
    inquiry: InquiryDescription,
    failure: InquiryFailure,
    judged: Judged,
  ): Promise<{ decision: Decision; effect: DecisionEffect }> {
    const known = this.#find(inquiry.customerTraceNumber);
    const hold: OpenHold = known ?? { status: toHoldStatus(inquiry, failure, judged), isUnopened: true };
    if (!known) this.#state.open.push(hold);
    this.#run.publish();
    if (!known) this.#tell(hold.status);
    for (;;) {
      const taken = await this.#waitForMessage(hold, inquiry);
      const { verdict, effect } = await recordDecision(this.#run.accepted, inquiry, failure, taken.message);
      if (effect) {
        this.settle(taken, verdict);
        return { decision: taken.message, effect };
      }
      taken.verdict = verdict;
      const { decisionId } = taken;
      hold.status = { ...hold.status, refusedDecision: { decisionId, ...verdict, at: new Date().toISOString() } };
      delete hold.decision;
    }
  }

  /**
   * Shows a row in the Temporal UI's timeline meanwhile: a timer has a summary, and costs two events. Its time decides
   * nothing.
   */
  async #waitForMessage(hold: OpenHold, inquiry: InquiryDescription): Promise<TakenDecision> {
    const isDisturbed = () => hold.decision !== undefined || hold.isUnopened === true;
    try {
      for (;;) {
        if (hold.decision) return hold.decision;
        if (hold.isUnopened) {
          await this.#openRow(hold, inquiry);
          // A decision that came meanwhile is recorded, also where the run was cancelled after it.
          continue;
        }
        const summary = formatHoldRow(hold.status.failureType, formatInquiryName(hold.status));
        await this.#run.continuation.wait(isDisturbed, ROW_SHOWN_FOR_MS, { summary });
      }
    } catch (error) {
      this.#state.open = this.#state.open.filter((other) => other !== hold);
      this.#run.state.mayLeaveRows = true;
      throw error;
    }
  }

  /**
   * Asks the ledger for the hold's row. A decision about the hold is recorded after that, and closes the row. The ledger
   * itself knows the details of an attempt that it has.
   */
  async #openRow(hold: OpenHold, inquiry: InquiryDescription): Promise<void> {
    hold.isUnopened = false;
    const { failureType: reason, attempts: attempt, since, ...status } = hold.status;
    const { applicantIds, httpStatus, returnCode, returnReasonCode, otherTraceNumber, resendFrom, problems } = status;
    const answer = { applicantIds, httpStatus, returnCode, returnReasonCode };
    const details = { ...answer, otherTraceNumber, resendFrom, problems };
    const { ledgerId } = this.#run.accepted;
    const summary = `${inquiry.productCode} · opening the row of its hold`;
    const args = { ledgerId, hold: { inquiry, reason, attempt, since, details } };
    // The run does not write into another ledger, so only its status shows the hold.
    await CancellationScope.nonCancellable(() => runUntilRecorded('openHold', { summary }, args));
  }

  /**
   * Opens the row of each hold again after a reset, as one that begins now. The ledger may have closed the rows since, by
   * decisions that the run has forgotten. A decision that is being recorded closes the row; if the ledger refuses it,
   * the row is opened then.
   */
  onReset(): void {
    const since = new Date().toISOString();
    for (const hold of this.#state.open) Object.assign(hold, { status: { ...hold.status, since }, isUnopened: true });
    this.#run.state.mayLeaveRows = true;
  }

  /** Takes the hold off the list, once the ledger has its decision, or no ledger can have it. */
  settle(taken: TakenDecision, verdict: Verdict): void {
    taken.verdict = verdict;
    const { message, isAnswered: _, ...settled } = taken;
    const hold = this.#find(taken.customerTraceNumber);
    if (!hold) return;
    this.#state.open = this.#state.open.filter((other) => other !== hold);
    this.#state.settled.push(settled);
    if (this.#state.settled.length > MOST_SETTLED) this.#state.settled.shift();
    this.#run.publish();
    this.#tell(hold.status, { action: message.action, overtaken: isRefused(verdict) || undefined });
  }

  /** Emits that a hold began or ended; not who decided, nor why. */
  #tell(status: HoldStatus, decided?: { action: HoldAction; overtaken?: true }): void {
    const { customerTraceNumber, productCode, shareId, failureType, attempts: attempt, allowedActions } = status;
    const { problems, refusalKept } = status;
    const inquiry = { customerTraceNumber, productCode, shareId, attempt, failureType };
    const key = [customerTraceNumber, attempt, failureType];
    if (!decided) {
      this.#run.events.emit('inquiry.held', key, { ...inquiry, problems, refusalKept, allowedActions });
      return;
    }
    // After a reset, the ledger may have advanced before the same decision is recorded. That is another event.
    const resolved = [...key, decided.action, ...(decided.overtaken ? ['overtaken'] : [])];
    this.#run.events.emit('hold.resolved', resolved, { ...inquiry, ...decided });
  }

  /** Returns the decision that was taken under the message's id. One that had no effect gives its id to another. */
  #findTaken(message: DecisionMessage): KnownDecision | undefined {
    const { customerTraceNumber, decisionId } = message;
    const { decision } = this.#find(customerTraceNumber) ?? {};
    if (decision?.decisionId === decisionId) return decision;
    const settled = this.#state.settled.findLast(
      (known) => known.customerTraceNumber === customerTraceNumber && known.decisionId === decisionId,
    );
    return settled && isRefused(settled.verdict) && findDifferences(settled, message).length > 0 ? undefined : settled;
  }

  /** Returns why the decision makes no sense now, or `null`. */
  findProblem(message: DecisionMessage, isEnding: boolean): MessageRefusal | null {
    const hold = this.#find(message.customerTraceNumber);
    const taken = this.#findTaken(message);
    if (taken) {
      const differing = refusePaths('/decisionId was used', findDifferences(taken, message));
      return differing ?? (isRefused(taken.verdict) ? taken.verdict : null);
    }
    if (!hold) return refuse('notOnHold', 'no inquiry with this customerTraceNumber is on hold');
    if (hold.decision) return refuse('decided', 'another decision about this hold has been taken');
    const { attempts: attempt, failureType: reason, allowedActions } = hold.status;
    const isPossible = message.attempt === attempt && allowedActions.includes(message.action);
    if (isPossible && isEnding && !SENDS_NOTHING.includes(message.action)) return refuse('ending', ENDING_RULE);
    return judgeDecision({ ...hold.status, attempt, reason, heldBy: 'run' }, message, Date.now());
  }

  /** Takes a decision that `findProblem` permits, or returns it where it was taken before. */
  take(message: DecisionMessage): { taken: Underway; isDuplicate: boolean } {
    const known = this.#findTaken(message);
    if (known) return { taken: known, isDuplicate: true };
    const { customerTraceNumber, decisionId } = message;
    const taken: TakenDecision = {
      customerTraceNumber,
      decisionId,
      digests: digestContent(message),
      message: { ...message, receivedAt: new Date().toISOString() },
    };
    const hold = this.#find(customerTraceNumber);
    if (hold) hold.decision = taken;
    return { taken, isDuplicate: false };
  }
}

function digestContent({ proof: _, ...content }: DecisionMessage): Record<string, string> {
  return computeMemberDigests(content);
}

function findDifferences({ digests }: KnownDecision, message: DecisionMessage): string[] {
  return findDifferingPaths(digests, digestContent(message));
}

function toHoldStatus(inquiry: InquiryDescription, failure: InquiryFailure, judged: Judged): HoldStatus {
  const { productCode, runKey, ordinal } = inquiry;
  const { failureType, problems } = failure;
  return {
    ...pick(inquiry, ['customerTraceNumber', 'productCode', 'shareId', 'profile', 'endUserCode', 'endUser']),
    accountId: parseRunKey(runKey).accountId,
    failureType,
    ...judged,
    ...pick(failure, ['httpStatus', 'refusalKept', 'returnCode', 'returnReasonCode', 'otherTraceNumber', 'resendFrom']),
    problems: problems && selectShownProblems(problems),
    // A share sends a reference, not applicants: there is nothing in it that a person could correct. And a stage has no
    // more trace numbers than two digits count.
    allowedActions: FAILURES[failureType].actions.filter(
      (action) => action !== 'amend' || (productCode !== 'SECONDUSE' && ordinal < MAX_ORDINAL),
    ),
  };
}

/** Writes the decision to the ledger before it takes effect. A decision without an effect is refused. */
async function recordDecision(
  { ledgerId }: RunConfig,
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  { reference, outcome = 'noReport', applicants, proof, receivedAt: decidedAt, ...message }: Decision,
): Promise<{ verdict: Verdict; effect: DecisionEffect } | { verdict: MessageRefusal; effect?: never }> {
  const { attempt, action } = message;
  const answer: Outcome = { kind: 'outcome', outcome, reference };
  const decision: UnprovenDecision = {
    ...pick(message, ['decisionId', 'customerTraceNumber', 'by', 'reason', 'providerSaid', 'confirmConsumerIds']),
    attempt,
    action,
    failureType: failure.failureType,
    decidedAt,
    answer: action === 'accept' ? answer : undefined,
  };
  const summary = `recording the decision: ${action}`;
  const args = { ledgerId, inquiry, decision, applicants, proof };
  const recorded = await CancellationScope.nonCancellable(() => runUntilRecorded('recordDecision', { summary }, args));
  const accepted = { kind: 'recorded', accepted: answer } as const;
  if (recorded === 'ledgerChanged') {
    // A resend or an abandonment needs no record in another ledger, and the answer says that there is none.
    const isTaken = action === 'abandon' || action === 'resend';
    return isTaken ? { verdict: 'inNoLedger', effect: accepted } : { verdict: OF_ANOTHER_LEDGER };
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
