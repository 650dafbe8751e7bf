/**
 * The retention side of the ledger's port (types): what has been kept long enough, disposal, legal holds.
 * docs/retention.md. Errors as everywhere in the port.
 */
import type { ProductCode } from '../model/products.ts';

/** What is disposed of together: everything of one owner (model/owner-id.ts), or all of one product under it. */
export interface DisposalScope {
  callerId: string;
  productCode?: ProductCode;
}

/** Who, and why; kept in the ledger and readable there. */
export interface Warrant {
  by: string;
  reason: string;
}

/**
 * Why something is not disposed of: a legal hold on the journey; an attempt that may still be answered; an outcome
 * that nobody has decided about; something that came too late and that nobody has seen to.
 */
export type ObstacleReason = 'legalHold' | 'sending' | 'undecided' | 'attention';

export interface Obstacle {
  reason: ObstacleReason;
  customerTraceNumber: string;
}

/** What the ledger says about a scope. */
export interface DisposalView extends DisposalScope {
  /** Not disposed of yet. */
  inquiries: number;
  /** Of those, reports that can be read, late ones too. */
  reports: number;
  /** The newest attempt or answer of the inquiries not disposed of, RFC 3339. */
  newestAt?: string;
  /** Begun, and not finished: the process that did it was stopped, or something stood in its way. */
  begunAt?: string;
  /** When the last disposal of this scope was finished. */
  disposedAt?: string;
  /** The runs that have claimed attempts under the id, whatever the product. */
  runs: { workflowId: string; runId: string }[];
  obstacles: Obstacle[];
}

/** A share of one of the scope's reports that is an owner of its own: it is not disposed of with the scope. */
export interface SeparateShare {
  ownerId: string;
  /** Its inquiries that are not disposed of yet; none where nothing was posted. */
  inquiries: number;
}

export interface AgeQuery {
  /** How old, by the database's clock, the newest attempt or answer must be. */
  olderThanMs: number;
  productCode?: ProductCode;
  /** At most so many ids. */
  limit: number;
  /** `next` of the page before. */
  after?: AgeCursor;
}

/** Where a page ended: the oldest come first. */
export interface AgeCursor {
  createdAtMs: number;
  customerTraceNumber: string;
}

export interface AgePage {
  callerIds: string[];
  /** Absent with the last page. */
  next?: AgeCursor;
}

export type DisposalVerdict =
  | { kind: 'done'; inquiries: number; reports: number }
  /** Nothing was changed. */
  | { kind: 'refused'; obstacles: Obstacle[] };

export interface LegalHold extends Warrant {
  /** The owner's id. */
  journeyId: string;
  /** RFC 3339. */
  setAt: string;
}

/** What was done under an id, append-only. */
export interface RetentionEvent extends DisposalScope, Warrant {
  kind: 'disposalBegun' | 'disposed' | 'legalHoldSet' | 'legalHoldReleased';
  /** RFC 3339. */
  recordedAt: string;
  /** Of `disposed`: how much. */
  details?: { inquiries: number; reports: number; runs: number };
}

export interface Retention {
  /** Reads only. */
  view(scope: DisposalScope): Promise<DisposalView>;

  /** Reads only: shares by themselves of the scope's reports, also where those were disposed of. */
  sharesOf(scope: DisposalScope): Promise<SeparateShare[]>;

  /** Reads only: ids whose newest attempt or answer is old enough, whether or not something stands in the way. */
  olderThan(query: AgeQuery): Promise<AgePage>;

  /** Disposals that were begun and not finished. */
  unfinished(): Promise<DisposalScope[]>;

  /**
   * Writes down that the scope will be disposed of. From then on nothing is claimed for it, and no journey is started
   * under its id. Idempotent until `dispose`.
   */
  begin(scope: DisposalScope, warrant: Warrant): Promise<DisposalVerdict>;

  /**
   * Destroys, for good, the scope's reports with their data keys, every answer and the requests' digests; the rows stay.
   * Checks once more, in the same transaction, that nothing stands in the way. Idempotent.
   *
   * @param runs how many runs were deleted from Temporal, for the log
   */
  dispose(scope: DisposalScope, warrant: Warrant, runs: number): Promise<DisposalVerdict>;

  /**
   * Takes what was overwritten out of the engine's files as far as the engine can (docs/retention.md says how far).
   * `false` where it could not: somebody else is reading, or has the right to.
   */
  scrub(): Promise<boolean>;

  /** When disposal of something under this id began; `null` where none has. */
  disposalOf(callerId: string): Promise<string | null>;

  /** Idempotent; the hold that stands. `null` where the ledger has no inquiry of such an id that could be held. */
  setLegalHold(journeyId: string, warrant: Warrant): Promise<(LegalHold & { isNew: boolean }) | null>;

  /** `false` where there was none. */
  releaseLegalHold(journeyId: string, warrant: Warrant): Promise<boolean>;

  /** The oldest first. */
  legalHolds(): Promise<LegalHold[]>;

  /** Oldest first. */
  events(callerId: string): Promise<RetentionEvent[]>;
}
