/** The JSON of portfolio reviews (docs/portfolio.md): ACCTRVW over a file of rows. Types and limits only. */

import type { Applicant } from '../../model/applicant.ts';
import type { Environment } from '../../model/products.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import type { HoldStatus, RefusedMessage, ResolveInquiryMessage, TerminalState } from '../journey/shapes.ts';

/** Rows in progress at once where the input names no `window`. */
export const DEFAULT_WINDOW = 20;
/**
 * Far above the slots of any gateway queue. Far below 2,000, the activities that Temporal lets one run have pending.
 */
export const MAX_WINDOW = 500;
export const DEFAULT_MAX_BAD_ROWS = 100;
export const MAX_BAD_ROWS = 10_000;
/** A worker keeps the ids of all rows in memory while it examines a file: some 100 MB for so many. */
export const MAX_ROWS = 1_000_000;
/** Where so many inquiries wait for a person, no further row is started: the cause may be common to all. */
export const MAX_HELD = 500;

/**
 * Why a review needs a person: its files cannot be reached. Shown by `NeedsAttention`, and by `attention` of its
 * status.
 */
export const PORTFOLIO_UNAVAILABLE = 'PortfolioUnavailable';

export const PORTFOLIO_FORMATS = ['csv', 'jsonl'] as const;
export type PortfolioFormat = (typeof PORTFOLIO_FORMATS)[number];

/** What a review asks for, without the id of the one run. */
export interface PortfolioOrder {
  /** Name of a gateway profile. Default `default`. */
  profile?: string;
  endUserCode: string;
  permissiblePurposeCode: string;
  /** Relative to the workers' PORTFOLIO_DIR, with `/`. */
  file: string;
  /** Default: by the extension of the file's name. */
  format?: PortfolioFormat;
  /** Rows in progress at once, 1 to {@link MAX_WINDOW}. */
  window?: number;
  /** Where the file has more bad rows than this, nothing is sent. */
  maxBadRows?: number;
}

/** Input of the workflow `portfolioReview`. */
export interface PortfolioReviewInput extends PortfolioOrder {
  reviewId: string;
}

/** Input of the workflow `scheduledReview`, which only a schedule starts. */
export interface ScheduledReviewInput {
  /** At most {@link MAX_SCHEDULE_ID_LENGTH}: the ids of its reviews contain it. */
  scheduleId: string;
  order: PortfolioOrder;
}

/** One row, as the worker read it. */
export interface PortfolioRow {
  accountId: string;
  /** Counted from 1, the header included. */
  line: number;
  /** Bytes from the beginning of the file. */
  offset: number;
  applicants: Applicant[];
}

export type RowOutcome = ReportOutcome | 'abandoned';

/** A line of the result file. Nothing personal: the report is in the ledger, under the trace number. */
export interface RowResult {
  accountId: string;
  line: number;
  outcome: RowOutcome;
  customerTraceNumber: string;
  /** RFC 3339. */
  at: string;
}

/** Counts only. */
export interface PortfolioProgress {
  /** Valid rows; 0 until the file has been examined. */
  rows: number;
  badRows: number;
  done: number;
  record: number;
  noRecord: number;
  noReport: number;
  /** A person abandoned the inquiry. */
  abandoned: number;
  held: number;
  underWay: number;
  rowsPerSecond?: number;
  secondsLeft?: number;
}

/** `held`: only inquiries that wait for a person are left. */
export type PortfolioState =
  | 'examining'
  | 'running'
  | 'paused'
  | 'held'
  | 'stopping'
  | PortfolioOutcome
  | TerminalState;
export type PortfolioOutcome = 'completed' | 'withdrawn';

/** Answer of the query `status`: nothing personal. */
export interface PortfolioStatus {
  reviewId: string;
  environment: Environment | null;
  productCode: 'ACCTRVW';
  state: PortfolioState;
  waitingFor?: string;
  /** Its files cannot be reached. The worker keeps trying. */
  attention?: typeof PORTFOLIO_UNAVAILABLE;
  file: string;
  /** SHA-256 of the file, in hexadecimal. */
  digest?: string;
  progress: PortfolioProgress;
  holds: HoldStatus[];
  refusedMessages: RefusedMessage[];
  refusedMessagesTotal: number;
}

/** Result of the workflow `portfolioReview`. */
export interface PortfolioResult {
  reviewId: string;
  environment: Environment;
  productCode: 'ACCTRVW';
  outcome: PortfolioOutcome;
  file: string;
  digest: string;
  rows: number;
  badRows: number;
  record: number;
  noRecord: number;
  noReport: number;
  abandoned: number;
  /** After a withdrawal: rows without an outcome. */
  notReviewed: number;
  /** Beside the file, in PORTFOLIO_DIR. */
  resultFile: string;
  badRowsFile?: string;
}

/** Input of the updates `pause`, `resume` and `withdraw`. */
export interface PortfolioMessage {
  reviewId: string;
  by: string;
  reason: string;
}

export interface ResolvePortfolioMessage extends Omit<ResolveInquiryMessage, 'journeyId'> {
  reviewId: string;
}

/** Answer of every update of a review. */
export interface PortfolioUpdateAnswer {
  accepted: true;
  duplicate: boolean;
  status: PortfolioStatus;
  /** Answer to a decision. `false`: the ledger could not be reached. The run keeps the decision and tries again. */
  recorded?: boolean;
}
