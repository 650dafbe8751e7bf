/** Types of an inquiry: its content, what it needs of its run, and how it may end. */
import type { ComparedReport, InquiryFailure } from '../../activities/contract.ts';
import type { GrantKey } from '../../consent/consent-record.ts';
import type { StageChanges } from '../../messages/journey/change-summary.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import type { InquiryContent, InquiryDescription, InquiryTerms, Outcome } from '../../model/inquiry.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import type { AnyRun } from '../run/run.ts';

/** The parts of an inquiry that do not change from attempt to attempt. */
export interface InquirySpec
  extends Pick<InquiryDescription, 'runKey' | 'productCode' | 'shareId' | keyof InquiryTerms>,
    Omit<InquiryContent, 'inquiry'> {
  /**
   * The part of the run that keeps the inquiry's state for continue-as-new. A state that it has already is resumed; the
   * caller removes it after the end.
   */
  part: { inquiry?: InquiryState };
  /** Called whenever trace number or attempts have changed. */
  onProgress(progress: InquiryProgress): void;
  /** The report that the answer is compared with. */
  compareWith?: ComparedReport;
  /** The ordinal of the first trace number; those before it were used. Default 0. */
  firstOrdinal?: number;
  /**
   * Asked in the workflow task that schedules each attempt: the grants that permit it, or `null` for "not now".
   *
   * @param nowMs the instant by which the age of grants is judged
   */
  findGrants?(nowMs: number): GrantKey[] | null;
  /** How long from `nowMs` until the first of those grants becomes too old, in milliseconds; `undefined`: none will. */
  grantsEndInMs?(nowMs: number): number | undefined;
  /** How old those grants may be when the attempt is claimed. Default: any age. */
  consentValidForMs?: number;
}

/** State of an inquiry. Plain data for continue-as-new. */
export interface InquiryState {
  ordinal: number;
  amends?: string;
  /** The applicants of an amendment or a repeat, which may differ from those of the start. */
  applicants?: FailsafeApplicant[];
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
  /** The start of the waits, in milliseconds, until an attempt succeeds or an operator must decide. */
  waitsSinceMs?: number;
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

/** The parts of its run that an inquiry uses. */
export type InquiryHost = Pick<AnyRun, 'accepted' | 'inFlight' | 'holds' | 'continuation' | 'isHalted' | 'withdraw'>;

export type InquiryEnd =
  | { kind: 'answered'; answer: Outcome; applicants?: FailsafeApplicant[]; changes?: StageChanges }
  | { kind: 'abandoned' }
  /** The run is ending; nothing is in flight. */
  | { kind: 'stopped' }
  /** The permission of the attempt was lost, and no request is in flight. */
  | { kind: 'notPermitted' };
