/** Types of an inquiry: its content, what it needs of its run, and how it may end. */
import type { ComparedReport, InquiryFailure, RunConfig } from '../../activities/contract.ts';
import type { GrantKey, ShareObjection } from '../../consent/consent-record.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { StageChanges } from '../../messages/journey/change-summary.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import type { InquiryContent, InquiryDescription, InquiryTerms, Outcome } from '../../model/inquiry.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import type { ContinuationWait } from '../run/continuation.ts';
import type { Holds, RepeatDecision } from '../run/holds.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';

/** The parts of an inquiry that do not change from attempt to attempt. */
export interface InquirySpec
  extends Pick<InquiryDescription, 'runKey' | 'productCode' | 'shareId' | keyof InquiryTerms>,
    Omit<InquiryContent, 'inquiry'> {
  /** The report that the answer is compared with. */
  compareWith?: ComparedReport;
  /** The ordinal of the first trace number; those before it were used. Default 0. */
  firstOrdinal?: number;
  /** The decision to repeat an inquiry that was answered. */
  repeat?: RepeatDecision;
  /**
   * Asked in the workflow task that schedules each attempt: the grants that permit it, or `null` for "not now".
   *
   * @param nowMs the instant by which the age of grants is judged
   */
  permit?(nowMs: number): GrantKey[] | null;
  /** How long from `nowMs` until the first of those grants becomes too old, in milliseconds; `undefined`: none will. */
  permitEndsInMs?(nowMs: number): number | undefined;
  /** How old those grants may be when the attempt is claimed. Default: any age. */
  consentValidForMs?: number;
  /**
   * Called with the reason why the ledger does not permit it. From then on `permit` must say the same, or bring other
   * grants.
   */
  onObjection?(objection: ShareObjection): void;
  /** State of the inquiry from continue-as-new. */
  resume?: InquiryRunState;
}

/** State with which the next run resumes an inquiry. The inquiry's `applicants` are those of its latest amendment. */
export interface InquiryRunState {
  ordinal: number;
  amends?: string;
  /** The attempt that comes next; those before it are in the ledger: claims are counted, waits before a claim are not. */
  attempt: number;
  /** The start of its automatic retries, in milliseconds; absent until an attempt has failed. */
  retriedSinceMs?: number;
  /** Retries in a row, by which the back-off grows. */
  failures: number;
  tokenFetchedAfter?: string;
  /** The start of the pause that delays it, in milliseconds. */
  pausedSinceMs?: number;
  /** The time of the next retry, and the text about the wait. */
  retry?: { atMs: number; summary: string };
  /** The reason that the lists show while its retries take long. */
  waitsFor?: WaitsFor;
  held?: { failure: InquiryFailure; since: string };
}

export interface InquiryProgress {
  customerTraceNumber: string;
  ordinal: number;
  attempts: number;
  state: 'running' | 'held';
  /** Text that says why a retry waits; only set while it waits. */
  waitingFor?: string;
  /** The attempt waits for its turn in the gateway queue. */
  isQueued?: true;
}

/** Inquiry state that the next run takes over, with the applicants if they differ from those of the start. */
export type CarriedInquiry = InquiryRunState & { applicants?: FailsafeApplicant[] };

/** The parts of its run that an attempt uses. */
export interface AttemptHost {
  config: RunConfig;
  inFlight: InFlightActivities;
  /** Called if the ledger has a withdrawal that the run may lack. `isEnding` returns `true` from then on. */
  onWithdrawn(withdrawal: RunWithdrawal): void;
}

/** The parts of its run that an inquiry uses. */
export interface InquiryContext extends AttemptHost {
  holds: Holds;
  /** The run is about to end, because it was withdrawn or a stage was abandoned. It sends no further inquiry. */
  isEnding(): boolean;
  /** Called whenever trace number or attempts have changed. */
  onProgress(progress: InquiryProgress): void;
  /** Called as an inquiry begins with its state for continue-as-new, which then changes with it. */
  onStanding?(standing: CarriedInquiry): void;
  /** Lets the run continue as new while the inquiry waits. Absent if the run does so in another way. */
  continuation?: ContinuationWait;
}

export type InquiryEnd =
  | {
      kind: 'answered';
      answer: Outcome;
      customerTraceNumber: string;
      applicants?: FailsafeApplicant[];
      changes?: StageChanges;
    }
  | { kind: 'abandoned' }
  /** The run is ending; nothing is in flight. */
  | { kind: 'stopped' }
  /** The permission of the attempt was lost, and no request is in flight. */
  | { kind: 'notPermitted' };
