/**
 * What needs a person, as rows of the ledger's port: runs that hold, and what was flagged. A row is written with what
 * caused it, and closed by what ended it, so that it can be read without a worker, and when its run is lost. Nothing
 * personal. Errors as everywhere in the port.
 */
import type { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import type { FailureType } from '../model/failure-types.ts';
import type { InquiryDescription, REPORT_CHANGED, SSN_MISMATCH } from '../model/inquiry.ts';
import type { Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import type { ReadersReach } from './readers-reach.ts';
import type { AttentionReason } from './records.ts';

/** `held`: an inquiry waits for a decision. `flagged`: a person should look, and nothing waits for it. */
export type WorkKind = 'held' | 'flagged';

/** Why something was flagged. */
export type FlagReason =
  | AttentionReason
  | 'revokedAfterPosting'
  | typeof SSN_MISMATCH
  | typeof REPORT_CHANGED
  | typeof PORTFOLIO_UNAVAILABLE;

/** What a row names, and what recognises it: an inquiry has one hold at a time, and one flag of each reason. */
export interface WorkKey {
  /** The owner's id (model/owner-id.ts). */
  ownerId: string;
  kind: WorkKind;
  reason: FailureType | FlagReason;
  /** Absent where it is about the run, and about none of its inquiries. */
  customerTraceNumber?: string;
}

/** What else the status of a run says of its hold: docs/journeys.md. */
export interface WorkDetails {
  applicantIds?: readonly string[];
  httpStatus?: number;
  returnCode?: string;
  returnReasonCode?: string;
  otherTraceNumber?: string;
  resendFrom?: string;
  problems?: readonly Problem[];
}

/** One thing that needs a person. */
interface NeedsPerson extends WorkKey {
  /** RFC 3339. By the run's clock; where a transaction of the ledger has caused it, by the ledger's. */
  since: string;
  gatewayProfile: string;
  endUserCode?: string;
  endUser?: string;
  productCode?: ProductCode;
  shareId?: string;
  /** The attempt that a decision judges. */
  attempt?: number;
  /** Absent where the inquiry itself says it (`Ledger.inquiry`). */
  details?: WorkDetails;
}

/** The same, as a run says it. */
export interface WorkToNote extends NeedsPerson {
  /** Of a hold: the ledger may not have the inquiry yet, and a decision about it needs that row. */
  inquiry?: InquiryDescription;
}

/** An open row. */
export interface WorkRow extends NeedsPerson {
  workId: string;
  /** The ledger keeps what the gateway wrote beside the status of this attempt. */
  refusalKept?: true;
}

/**
 * How a row was closed. `decided`, `overtaken` and `seen`: by the decision `by`; an overtaken one has decided nothing,
 * and the run goes on with what the ledger has. `claimed`: another attempt was made. `replaced`: another reason stands.
 * `ended`: its run, or a later one of its id, said that it is over. `disposed`: its inquiry was disposed of.
 */
export interface WorkEnd {
  at: string;
  how: 'decided' | 'overtaken' | 'seen' | 'claimed' | 'replaced' | 'ended' | 'disposed';
  by?: string;
}

/**
 * A reader's reach leaves only rows of runs that are for these end users alone. A run is for everybody whom its inquiries
 * are for, but the secondary users of its shares; a share by itself for whom its report was pulled. A run of which the
 * ledger knows no end user is never found.
 */
export interface WorkFilters extends ReadersReach {
  kind?: WorkKind;
  reason?: WorkKey['reason'];
  gatewayProfile?: string;
  /** Of the row itself: a share's is its secondary user. */
  endUserCode?: string;
  /** Of a portfolio review: all of its rows as well. */
  ownerId?: string;
  customerTraceNumber?: string;
}

export interface WorkQuery extends WorkFilters {
  /** `next` of the page before. */
  after?: string;
  /** At most so many rows; from 1. */
  limit: number;
}

export interface WorkPage {
  /** The oldest first. */
  rows: WorkRow[];
  /** Absent on the last page. */
  next?: string;
}

/** The `next` of a page that ends with this row. */
export function placeAfter({ since, workId }: Pick<WorkRow, 'since' | 'workId'>): string {
  return `${Date.parse(since)}.${workId}`;
}

export interface WorkCount {
  kind: WorkKind;
  reason: WorkKey['reason'];
  count: number;
  /** Since when the oldest of them waits, RFC 3339. */
  oldest: string;
}

/** As `RunDecision`. */
export interface RunSeen {
  ownerId: string;
  decisionId: string;
  by: string;
  reason: string;
  /** RFC 3339. */
  decidedAt: string;
  /** Only what was flagged for this reason. */
  flag?: FlagReason;
  runIsGone?: true;
}

/** What has changed of a run since its last note. */
export interface WorkNote {
  /** The run's clock, RFC 3339: of two notes about one thing the later one counts, whichever comes first. */
  asOf: string;
  opened: readonly WorkToNote[];
  ended: readonly WorkKey[];
  /** The run has ended: of what the ledger itself needs, only what may have been posted stays open. */
  isLast?: true;
  /**
   * The run was reset, and `opened` is all that it needs: what its earlier notes said is over, unless it is a lasting
   * flag. The owner's id; of a review, about all of its rows.
   */
  resetOf?: string;
}

export interface Work {
  /**
   * Reads only: one page of what is open. An attempt whose answer can no longer come counts as held, also where nobody
   * has written that yet.
   *
   * @throws RangeError where `after` is no `next` of a page, or `limit` is below 1
   */
  open(query: WorkQuery): Promise<WorkPage>;

  /** Reads only: how many are open, by kind and reason; the most first. */
  counts(filters?: WorkFilters): Promise<WorkCount[]>;

  /** Reads only: everything about one owner that ever needed a person, the oldest first. */
  of(ownerId: string): Promise<(WorkRow & { closed?: WorkEnd })[]>;

  /**
   * Writes what a run says that it waits for. Idempotent. A hold that was decided since then, or whose inquiry has gone
   * on, is not opened.
   */
  note(ledgerId: string, note: WorkNote): Promise<void>;

  /**
   * Ends what an earlier run of this id waited for by its own word, `before` the new run began (RFC 3339). Lasting flags
   * stay, and what the ledger itself needs. Idempotent.
   */
  takeOver(ledgerId: string, begun: { ownerId: string; before: string }): Promise<void>;

  /**
   * Records who has seen to what was flagged about a run, and about none of its inquiries (`Ledger.recordSeen`): lasting
   * flags, and where the run is gone all others too. Returns whether there was any.
   */
  markSeen(ledgerId: string, seen: RunSeen): Promise<boolean>;
}
