/**
 * The world that the explorer walks through: one trace number, the ledger's rows about it, the run that owns it, and
 * the attempts in flight on two workers. Plain values that are never changed in place, and one short key for each.
 */

import type { KnownAttempt, KnownDecision, KnownInquiry } from '../../src/ledger/claim.ts';
import type { DecisionRecord, OutcomeRecord } from '../../src/ledger/records.ts';
import type { FailureType, HoldAction } from '../../src/model/failure-types.ts';
import type { Answer } from '../../src/model/inquiry.ts';

/** Whose request it is: `B` is that of a corrected applicant under the same trace number, `C` is `A` for another customer. */
export type Request = 'A' | 'B' | 'C';

/** A row of `attempts`, with whose request was sent under it. `answerInMs` is 1 while an answer may come, then 0. */
export interface Row extends KnownAttempt {
  of: Request;
  failureType?: FailureType;
  /** What came. */
  answer?: Answer;
  /** What a person said instead. */
  accepted?: Answer;
}

/** What the database behind the configured address holds; `copy` tells a restored one from the one before. */
export interface LedgerCopy extends KnownInquiry {
  ledgerId: 'L' | 'F';
  copy: number;
  attempts: readonly Row[];
  decisions: readonly (KnownDecision & Pick<DecisionRecord, 'failureType'>)[];
  /** What the key over the inquiry without its customer holds of this number, once it was claimed. */
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
  /** Past its `sendBy`: it can only give up. */
  isLate: boolean;
  /** Temporal still waits for its result. */
  isWanted: boolean;
  /** On a worker of the version before, which knows no disposal. */
  isOlder?: boolean;
  /** The ledger that it claimed in. */
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
  /** The attempt that a decision judges. */
  judged: number;
  /** The run's counter while it is held. */
  next: number;
}

export interface Decision extends Pick<DecisionRecord, 'decisionId' | 'attempt' | 'failureType'> {
  action: HoldAction;
}

/** A step that the ledger has not heard of yet. */
export type Unrecorded = { kind: 'answered'; attempt: number; answer: Answer } | { kind: 'failed'; failure: Failure };

export type Phase =
  /** An attempt is scheduled; no worker has it. */
  | { kind: 'queued' }
  /** A worker had it: it runs there, or is lost. */
  | { kind: 'running' }
  | { kind: 'lookUp' }
  /** Before a hold of what claimed nothing: whether the ledger has an attempt all the same. */
  | { kind: 'asking'; failure: Failure }
  | { kind: 'waiting'; attempt: number }
  | { kind: 'recording'; step: Unrecorded }
  | { kind: 'held'; hold: Hold }
  | { kind: 'deciding'; hold: Hold; decision: Decision }
  | { kind: 'ended'; how: 'answered' | 'abandoned' | 'amended' | 'withdrawn' | 'beyondTheBound' };

/** The workflow's run, as far as its state decides what it does next. */
export interface Run {
  of: Request;
  ledgerId: 'L' | 'F';
  /** The attempt that it makes next. */
  attempt: number;
  phase: Phase;
  /** Where a reset could take it back to: attempts that it has scheduled, holds that it was in. */
  scheduled: readonly number[];
  holds: readonly { hold: Hold; decision?: Decision }[];
  /** Nothing more is to be sent for it. */
  isWithdrawn?: true;
}

/** What may still happen in this world. */
export interface Budget {
  crashes: number;
  resets: number;
  decisions: number;
  /** Time-outs of an execution that goes on all the same. */
  timeOuts: number;
  /** Terminated, or its history lost, and started again; for the same applicants or corrected ones. */
  restarts: number;
  swaps: number;
  /** What the ledger holds is disposed of, although a run goes on or is started again. */
  disposals: number;
  /** The run asks for one attempt too many. */
  miscounts: number;
  /** The run is withdrawn, and its worker is out of touch. */
  withdrawals: number;
  /** A person pauses inquiries; that they are resumed needs no counting. */
  pauses: number;
}

export interface World {
  ledger: LedgerCopy;
  run: Run;
  executions: readonly Execution[];
  budget: Budget;
  /** How often may still be sent: 1, plus one for each resend decided and each answer "not processed", less the sends. */
  slack: number;
}

/** The versions of workers, and of tables: the current ones bring the disposal, and its rule. */
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
