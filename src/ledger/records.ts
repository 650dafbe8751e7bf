/** The input and output of the ledger (types). Nothing here is a row; ledger.ts leads to the functions that use them. */

import type { GrantFault, GrantKey } from '../consent/consent-record.ts';
import type { FailureType } from '../model/failure-types.ts';
import type { Answer, AttemptState, AttemptView, InquiryDescription } from '../model/inquiry.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import type { MessageRefusal } from '../model/refusals.ts';
import type { ClaimDecision, KnownShare } from './claim.ts';
import type { Row, RunDecisionAction } from './database/tables.ts';

export type LedgerIdentity = Pick<Row<'ledger_identity'>, 'ledgerId' | 'environment' | 'createdAt' | 'schemaVersion'>;

export interface ClaimRequest {
  /** The ledger that the run started with. */
  ledgerId: string;
  inquiry: InquiryDescription;
  /** The number of the attempt to be made, from 1: it counts claims, and not the waits before them. */
  attempt: number;
  /** The digest of the request (model/canonical-request.ts), lower-case hex. */
  digest: string;
  run: { workflowId: string; runId: string };
  /** The newest attempt that the run has seen. Where it is missing, this ledger is an older copy. */
  highWaterMark?: HighWaterMark;
  /**
   * Time after the claim within which the request may still arrive. Until then the ledger refuses a `resend` after an
   * unknown outcome.
   */
  resendAfterMs?: number;
  /** Time after the claim within which an answer may arrive: every time-out of the attempt. */
  answerWithinMs: number;
  /** The grants that permit this attempt: the ledger has them. Only SECONDUSE has any. */
  consents: readonly GrantKey[];
  /** SECONDUSE: how old a grant may be, by the database's clock. Default: any age. */
  consentValidForMs?: number;
  /** The applicants of the request, in its order. */
  applicantIds?: readonly string[];
  /** SECONDUSE: the shared report, by its `reportReferenceNumber`. Stored as a keyed digest. */
  sharedReference?: string;
  /** An attempt that a `resend` permits goes under a number of its own. Default: under that of the attempt before. */
  resendsUnderNewNumber?: boolean;
}

export type ClaimVerdict =
  /** The row is written as `sending`: this caller, and no other, may send now. */
  | ({ kind: 'claimed' } & Pick<
      Row<'attempts'>,
      'attempt' | 'claimedAt' | 'position' | 'resendFrom' | 'sentTraceNumber'
    >)
  /** The caller must not send. `latest` is the state of the latest attempt (never `sending` past its time). */
  | { kind: 'latest'; latest: AttemptView }
  | ({ kind: 'withdrawn' } & RunWithdrawal)
  /** `share` says why. */
  | { kind: 'notPermitted'; share?: KnownShare | undefined }
  | Exclude<ClaimDecision, { kind: 'claim' | 'latest' | 'withdrawn' | 'notPermitted' }>;

/** An attempt whose activity was lost or cancelled. The ledger may have nothing of it. */
export interface CloseRequest extends Pick<ClaimRequest, 'ledgerId' | 'inquiry' | 'attempt' | 'digest' | 'run'> {
  /** When its activity was scheduled, by Temporal's clock, RFC 3339. */
  begunAt: string;
}

/** The end of an attempt, or a fact about it that became known later. */
export interface OutcomeRecord
  extends ReportOrigin,
    Pick<Row<'attempts'>, 'failureType' | 'httpStatus' | 'retryAfterMs' | 'requestedAt'> {
  ledgerId: string;
  state: Exclude<AttemptState, 'sending' | 'accepted' | 'abandoned'>;
  /** For `answered`. */
  answer?: Answer;
}

/**
 * `recorded`: the row now has this. `already`: it had this before. `late`: a decision or a later attempt had superseded
 * the attempt. Late news is kept beside the row, never returned as its outcome, and marked for attention. `missing`:
 * there is no such attempt, and nothing was written.
 */
export type RecordVerdict = 'recorded' | 'already' | 'late' | 'missing';

/**
 * A person's decision about an attempt. `failureType` is the reason of the hold: a resend of an unclaimed attempt permits
 * nothing. For `RequestDiffers` the row under this trace number is another request's: the decision is kept and leaves that
 * row alone. Without a reason, the rows alone determine what the decision may do. `decidedAt`: when the journey received it.
 */
export type DecisionRecord = Omit<Row<'decisions'>, 'permitsAttempt' | 'recordedAt'> & {
  /** For `accept`: the outcome, as the provider says. */
  answer?: Answer;
};

export type DecisionVerdict =
  /** The decision was written, or the ledger had it already. */
  | { kind: 'recorded' }
  /** Another decision on this attempt, or an answer that came meanwhile, has priority; nothing was written. */
  | { kind: 'overtaken'; latest: AttemptView }
  /** The decision breaks a rule: a path and a rule. Nothing was written, and the inquiry still waits for a decision. */
  | ({ kind: 'refused' } & MessageRefusal);

/**
 * `paths`: differences from the consent recorded under the same key; empty for a duplicate. `fault`: why a grant that is
 * sent again permits nothing.
 */
export type ConsentVerdict = { kind: 'recorded' } | { kind: 'known'; paths: string[]; fault?: GrantFault };

/** An inquiry with all of its attempts, for people and programs that read. */
export type InquiryView = Omit<Row<'inquiries'>, 'digest'> & {
  attempts: (AttemptView & { requestedAt?: string; lateAnswerAt?: string; answeredLate?: true })[];
  decisions: DecisionRecord[];
};

export type OpenInquiry = InquiryView & {
  /** The latest attempt needs a decision for this reason, and has none. */
  undecided?: { attempt: number; failureType: FailureType };
};

/** The attempt that a report came from. */
export type ReportOrigin = Pick<Row<'attempts'>, 'customerTraceNumber' | 'attempt'>;

export interface ConsentsQuery {
  /** The share whose consents are asked for. */
  runKey: string;
  shareId: string;
  /** The report that it is of; the ledger finds the report's owner. Default: the report that the ledger has of the share. */
  reportReferenceNumber?: string;
}

// Shapes of decisions that people make about a run itself, and not about one of its inquiries. Nothing personal.

/**
 * `extend`: a wait is made longer, at the gate before `stage` or of the share for consent, until `until`. `skip`:
 * `stage` is never pulled. `acceptAge`: the run passes the gate before `stage` with a report that is too old.
 * `seen`: a person has seen the run's flags. `withdraw`: nothing more is ever sent for the run; its claims read that.
 * `pause`, `resume` and `cancel`: of a portfolio review. `decidedAt`: when the run received it.
 */
export type RunDecision = Required<Pick<Row<'orders'>, 'runKey' | 'decisionId' | 'decidedAt' | 'by' | 'reason'>> &
  Pick<Row<'orders'>, 'customerTraceNumber' | 'stage' | 'shareId' | 'until'> & { action: RunDecisionAction };

/** A share that is to be taken back: by whom, and why. */
export type ShareWithdrawal = Pick<RunDecision, 'runKey' | 'by' | 'reason'> & { shareId: string };

/** A withdrawal in the ledger: who withdrew the run, and why. */
export type RunWithdrawal = Pick<RunDecision, 'by' | 'reason'>;

/** A message that ends a run, or takes back a share. */
export type EndingMessage = Pick<RunDecision, 'runKey' | 'shareId' | 'by' | 'reason'> & {
  action: 'withdraw' | 'cancel';
};
