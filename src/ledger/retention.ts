/**
 * The retention side of the ledger's port (types): old inquiries, disposal, legal holds. docs/retention.md. Errors as
 * everywhere in the port.
 */
import type { ProductCode } from '../model/products.ts';

/** What one disposal covers: everything of one owner (model/owner-id.ts), or everything of one product under it. */
export interface DisposalScope {
  ownerId: string;
  productCode?: ProductCode;
}

/** The person and the reason; kept in the ledger and readable there. */
export interface Authorization {
  by: string;
  reason: string;
}

/**
 * Why something cannot be disposed of: a legal hold on the journey; an attempt that may still be answered; an outcome
 * without a decision; late news that no person has marked as seen.
 */
export type ObstacleReason = 'legalHold' | 'sending' | 'undecided' | 'attention';

export interface Obstacle {
  reason: ObstacleReason;
  customerTraceNumber: string;
}

/** The state of a scope in the ledger. */
export interface DisposalView extends DisposalScope {
  /** Inquiries that are not disposed of yet. */
  inquiries: number;
  /** Their readable reports, late ones too. */
  reports: number;
  /** The newest attempt or answer of the inquiries not disposed of, RFC 3339. */
  newestAt?: string;
  /** Begun, but not finished: the process stopped, or an obstacle remained. */
  begunAt?: string;
  /** When the last disposal of this scope was finished. */
  disposedAt?: string;
  /** The runs that have claimed attempts under the id, for any product. */
  runs: { workflowId: string; runId: string }[];
  obstacles: Obstacle[];
}

/** A share of one of the scope's reports with an owner of its own: it is not disposed of with the scope. */
export interface SeparateShare {
  ownerId: string;
  /** Its inquiries that are not disposed of yet; none where nothing was posted. */
  inquiries: number;
}

export interface AgeQuery {
  /** The least age of the newest attempt or answer, by the database's clock. */
  olderThanMs: number;
  productCode?: ProductCode;
  /** The most ids of one page. */
  limit: number;
  /** `next` of the previous page. */
  after?: AgeCursor;
}

/** The end of a page: the oldest come first. */
interface AgeCursor {
  createdAtMs: number;
  customerTraceNumber: string;
}

export interface AgePage {
  ownerIds: string[];
  /** Absent on the last page. */
  next?: AgeCursor;
}

export type DisposalVerdict =
  | { kind: 'done'; inquiries: number; reports: number }
  /** Nothing was changed. */
  | { kind: 'refused'; obstacles: Obstacle[] };

export interface LegalHold extends Authorization {
  /** The owner's id. */
  journeyId: string;
  /** RFC 3339. */
  setAt: string;
}

/** What was done under an id; append-only. */
export interface RetentionEvent extends DisposalScope, Authorization {
  kind: 'disposalBegun' | 'disposed' | 'legalHoldSet' | 'legalHoldReleased';
  /** RFC 3339. */
  recordedAt: string;
  /** For `disposed`: the amounts. */
  details?: { inquiries: number; reports: number; runs: number };
}

export interface Retention {
  /** Reads only. */
  view(scope: DisposalScope): Promise<DisposalView>;

  /**
   * Reads only: shares of the scope's reports that have owners of their own, also where those reports were disposed of.
   */
  sharesOf(scope: DisposalScope): Promise<SeparateShare[]>;

  /** Reads only: ids whose newest attempt or answer is old enough, also those with obstacles. */
  olderThan(query: AgeQuery): Promise<AgePage>;

  /** Disposals that were begun and not finished. */
  unfinished(): Promise<DisposalScope[]>;

  /**
   * Records that the scope will be disposed of. From then on nothing is claimed for it, and no journey is started under
   * its id. Idempotent until `dispose`.
   */
  begin(scope: DisposalScope, authorization: Authorization): Promise<DisposalVerdict>;

  /**
   * Destroys, for good, the scope's reports with their data keys, every answer and the requests' digests; the rows
   * stay. Checks the obstacles again in the same transaction. Idempotent.
   *
   * @param runs how many runs were deleted from Temporal, for the log
   */
  dispose(scope: DisposalScope, authorization: Authorization, runs: number): Promise<DisposalVerdict>;

  /**
   * Removes overwritten data from the engine's files, as far as the engine can (docs/retention.md says how far).
   * `false` where another session is reading, or a right is missing.
   */
  scrub(): Promise<boolean>;

  /** When the disposal of something under this id began; `null` where there is none. */
  disposalOf(ownerId: string): Promise<string | null>;

  /**
   * Sets a hold, or finds the standing one. Idempotent. `null` where the ledger has no inquiry of this id that could be
   * held.
   */
  setLegalHold(journeyId: string, authorization: Authorization): Promise<(LegalHold & { isNew: boolean }) | null>;

  /** Releases the hold; `false` where there was none. */
  releaseLegalHold(journeyId: string, authorization: Authorization): Promise<boolean>;

  /** The oldest first. */
  legalHolds(): Promise<LegalHold[]>;

  /** Oldest first. */
  events(ownerId: string): Promise<RetentionEvent[]>;
}
