/** Old inquiries, disposal and legal holds (types). docs/retention.md. */
import type { ProductCode } from '../../model/products.ts';
import type { AuditedAttempt } from '../audit/audited.ts';

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

export type DisposalVerdict =
  | { kind: 'done'; inquiries: number; reports: number }
  /** The ledger changed nothing. */
  | { kind: 'refused'; obstacles: Obstacle[] };

/** On a review it covers every row that the review has or will have. */
export type LegalHold = AuditedAttempt['legalHolds'][number];

/** The authorization to set or release a legal hold, and its legal matter. */
export type HoldAuthorization = Authorization & Pick<LegalHold, 'matter'>;
