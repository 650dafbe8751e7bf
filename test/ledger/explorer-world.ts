/**
 * The world that the explorer walks through: one trace number, the ledger's rows about it, the run that owns it, and
 * the attempts in flight on two workers. Worlds are plain values that are never changed in place.
 */

import type { KnownAttempt, KnownDecision, KnownInquiry } from '../../src/ledger/claim.ts';
import type { DecisionRecord, OutcomeRecord } from '../../src/ledger/records.ts';
import type { FailureType, HoldAction } from '../../src/model/failure-types.ts';
import type { Answer } from '../../src/model/inquiry.ts';

/** A request: `B` is for a corrected applicant under the same trace number, `C` is `A` for another customer. */
export type Request = 'A' | 'B' | 'C';

/** A row of `attempts`, with the request that it sent. `answerInMs` is 1 while an answer may come, then 0. */
export interface Row extends KnownAttempt {
  of: Request;
  failureType?: FailureType;
  /** The answer of the gateway. */
  answer?: Answer;
  /** The answer that an operator accepted instead. */
  accepted?: Answer;
}

/** The database behind the configured address; `copy` distinguishes a restored one from the original. */
export interface LedgerCopy extends KnownInquiry {
  ledgerId: 'L' | 'F';
  copy: number;
  attempts: readonly Row[];
  decisions: readonly (KnownDecision & Pick<DecisionRecord, 'failureType'>)[];
  /** The repeat that the unique key over the inquiry without its customer has for this number, once claimed. */
  permittedRepeat?: number;
  /** The rows under the trace number of `C`. */
  beside?: LedgerCopy;
}

/** How an attempt ended on its worker. */
export interface End {
  name: string;
  state: OutcomeRecord['state'];
  failureType?: FailureType;
  answer?: Answer;
}

/** One execution of `submitInquiry` on a worker. */
export interface Execution {
  of: Request;
  ledgerId: 'L' | 'F';
  attempt: number;
  phase: 'started' | 'claimed' | 'ended' | 'recorded';
  /** Set once its `sendBy` is over: it can only give up. */
  isLate: boolean;
  /** Temporal still waits for its result. */
  isWanted: boolean;
  /** Set for a worker of the previous version, which has no disposal. */
  isOlder?: boolean;
  /** The copy of the ledger that it claimed in. */
  copy: number;
  end?: End;
}

export interface Failure {
  failureType: FailureType;
  attempt: number;
  claimed: boolean;
}

export interface Hold {
  failure: Failure;
  /** The attempt that a decision is about. */
  judged: number;
  /** The run's counter while it is held. */
  next: number;
}

export interface Decision extends Pick<DecisionRecord, 'decisionId' | 'attempt' | 'failureType'> {
  action: HoldAction;
}

/** A step that is not recorded in the ledger yet. */
export type Unrecorded = { kind: 'answered'; attempt: number; answer: Answer } | { kind: 'failed'; failure: Failure };

export type Phase =
  /** An attempt is scheduled; no worker has it. */
  | { kind: 'queued' }
  /** A worker took the attempt: it runs there, or is lost. */
  | { kind: 'running' }
  | { kind: 'lookUp' }
  /** Before a hold without a claim, the run looks for an attempt in the ledger. */
  | { kind: 'asking'; failure: Failure }
  | { kind: 'waiting'; attempt: number }
  | { kind: 'recording'; step: Unrecorded }
  | { kind: 'held'; hold: Hold }
  | { kind: 'deciding'; hold: Hold; decision: Decision }
  | { kind: 'ended'; how: 'answered' | 'abandoned' | 'amended' | 'withdrawn' | 'beyondTheBound' };

/** The workflow's run, reduced to the state that determines its next step. */
export interface Run {
  of: Request;
  ledgerId: 'L' | 'F';
  /** The number of its next attempt. */
  attempt: number;
  phase: Phase;
  /** The points that a reset can return to: scheduled attempts, and holds. */
  scheduled: readonly number[];
  holds: readonly { hold: Hold; decision?: Decision }[];
  /** Set once nothing more may be sent for the run. */
  isWithdrawn?: true;
}

/** How often each fault may still happen in this world. */
export interface Budget {
  crashes: number;
  resets: number;
  decisions: number;
  /** Time-outs of an execution that continues on its worker. */
  timeOuts: number;
  /** New starts after a termination or a lost history, for the same or for corrected applicants. */
  restarts: number;
  swaps: number;
  /** Disposals of the ledger's content although a run continues or is started again. */
  disposals: number;
  /** Requests of the run for one attempt too many. */
  miscounts: number;
  /** Withdrawals of the run while its worker is partitioned. */
  withdrawals: number;
  /** Pauses by an operator; the resumes need no counting. */
  pauses: number;
}

export interface World {
  ledger: LedgerCopy;
  run: Run;
  executions: readonly Execution[];
  budget: Budget;
  /** The sends that are still allowed: 1, plus one for each resend and each answer "not processed", less the sends. */
  slack: number;
}

/** The versions of workers and tables: the current version adds the disposal and its rule. */
export const OLDER_WRITER = 1;
export const CURRENT_WRITER = 2;

export const NO_ROWS: LedgerCopy = {
  ledgerId: 'L',
  oldestWriter: OLDER_WRITER,
  copy: 0,
  digest: null,
  abandoned: false,
  attempts: [],
  decisions: [],
};

export function firstWorld(budget: Budget): World {
  return {
    ledger: NO_ROWS,
    run: newRun('A', 'L'),
    executions: [],
    budget,
    slack: 1,
  };
}

export function newRun(of: Request, ledgerId: 'L' | 'F'): Run {
  return { of, ledgerId, attempt: 1, phase: { kind: 'queued' }, scheduled: [1], holds: [] };
}
