/** The types of portfolio reviews (docs/portfolio.md): ACCTRVW over a file of rows. As journey/shapes.ts. */
import type { z } from 'zod';
import type { Applicant } from '../../model/applicant.ts';
import type { SSN_MISMATCH } from '../../model/inquiry.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import type { AnsweredInquiry } from '../journey/shapes.ts';
import type * as results from './result-schemas.ts';

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
export interface RowResult extends AnsweredInquiry {
  accountId: string;
  line: number;
  outcome: RowOutcome;
  customerTraceNumber: string;
  attention?: typeof SSN_MISMATCH;
  /** RFC 3339. */
  at: string;
}

/** Counts only. */
export type PortfolioProgress = z.infer<typeof results.portfolioProgressSchema>;
/** Answer of the query `status`: nothing personal. */
export type PortfolioStatus = z.infer<typeof results.portfolioStatusSchema>;
export type PortfolioState = PortfolioStatus['state'];
/** Result of the workflow `portfolioReview`. */
export type PortfolioResult = z.infer<typeof results.portfolioResultSchema>;
export type PortfolioOutcome = PortfolioResult['outcome'];
/** Answer of every update of a review. */
export type PortfolioUpdateAnswer = z.infer<typeof results.portfolioUpdateAnswerSchema>;
