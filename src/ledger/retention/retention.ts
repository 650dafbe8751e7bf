/** Old inquiries, disposal and legal holds (types). docs/retention.md. */
import type { ProductCode } from '../../model/products.ts';

/** The scope of one disposal: everything of one owner (model/run-key.ts), or everything of one product under it. */
export interface DisposalScope {
  runKey: string;
  productCode?: ProductCode;
}

/** The person and the reason; kept in the ledger and readable there. */
export interface Authorization {
  by: string;
  reason: string;
}

/**
 * The reason why something cannot be disposed of. `legalHold`: the hold covers it or a part of it. `sending`: the
 * gateway may still answer an attempt. `undecided`: an outcome has no decision. `attention`: no person has marked late
 * news as seen.
 */
export type Obstacle =
  | { reason: 'legalHold'; hold: LegalHold }
  | { reason: 'sending' | 'undecided' | 'attention'; customerTraceNumber: string };

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
  /**
   * For one row of a review: holds on its other rows. They keep the runs, whose histories are about all rows, as long
   * as Temporal has them.
   */
  holdsOnOtherRows: LegalHold[];
  /** How many histories of the runs the ledger has as deleted from Temporal. */
  histories: number;
}

/** A share of one of the scope's reports with an owner of its own: it is not disposed of with the scope. */
export interface SeparateShare {
  runKey: string;
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
  runKeys: string[];
  /** Absent on the last page. */
  next?: AgeCursor;
}

export type DisposalVerdict =
  | { kind: 'done'; inquiries: number; reports: number }
  /** The ledger changed nothing. */
  | { kind: 'refused'; obstacles: Obstacle[] };

/** The authorization to set or release a legal hold, and its legal matter. */
export interface HoldAuthorization extends Authorization {
  matter: string;
}

export interface LegalHold extends HoldAuthorization {
  /** The run key that it was set on. On a review it covers every row that the review has or will have. */
  runKey: string;
  /** RFC 3339. */
  setAt: string;
}

export interface SetHold extends LegalHold {
  /** `false`: a hold of this matter was in force on this id already, and nothing was written. */
  isNew: boolean;
  /** The other holds in force that cover the id or a part of it. */
  others: LegalHold[];
  /** Counts what a disposal has destroyed already: disposed inquiries, and histories deleted from Temporal. */
  destroyed: { inquiries: number; histories: number };
}

export interface ReleasedHold {
  /** `null`: no hold of this matter was in force on this id. */
  released: LegalHold | null;
  /** The other holds in force that cover the id or a part of it. */
  others: LegalHold[];
}
