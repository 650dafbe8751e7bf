/** The answers of portfolio reviews (docs/portfolio.md): schemas and types, as journey/shapes.ts. */
import { z } from 'zod';
import type { Applicant } from '../../model/applicant.ts';
import type { SSN_MISMATCH } from '../../model/inquiry.ts';
import { ENVIRONMENTS } from '../../model/products.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import { type AnsweredInquiry, CLOSED_STATES, count, runStatusFields } from '../journey/shapes.ts';
import { PORTFOLIO_UNAVAILABLE } from './limits.ts';

const outcomes = {
  record: count,
  noRecord: count,
  noReport: count,
  /** A person abandoned the inquiry. */
  abandoned: count,
};
/** Rows whose report has an SSN that the row has not, under a profile that says `flag`. */
const flagged = count.optional().describe('Rows that an operator should look at: see the result file.');
const productCode = z.literal('ACCTRVW');
const outcome = z.enum(['completed', 'withdrawn']);

export const portfolioStatusSchema = z
  .object({
    reviewId: z.string(),
    productCode,
    /** `held`: only inquiries that wait for a person are left. */
    state: z.enum([
      ...(['examining', 'running', 'paused', 'held', 'stopping'] as const),
      ...outcome.options,
      ...CLOSED_STATES,
    ]),
    attention: z
      .literal(PORTFOLIO_UNAVAILABLE)
      .optional()
      .describe('The workers cannot reach the review’s files. The review continues by itself once they can.'),
    file: z.string(),
    digest: z.string().optional().describe('SHA-256 of the file, in hexadecimal.'),
    progress: z
      .object({
        rows: count.describe('Rows without a problem; 0 until the file has been examined.'),
        badRows: count,
        done: count,
        ...outcomes,
        flagged,
        held: count,
        underWay: count,
      })
      .meta({ id: 'portfolioProgress' }),
    ...runStatusFields,
  })
  .meta({ id: 'portfolioStatus' });

export const portfolioResultSchema = z.object({
  reviewId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  productCode,
  outcome,
  file: z.string(),
  digest: z.string(),
  rows: count,
  badRows: count,
  ...outcomes,
  flagged,
  /** After a withdrawal: rows without an outcome. */
  notReviewed: count,
  /** Beside the file; relative to PORTFOLIO_DIR. */
  resultFile: z.string(),
  badRowsFile: z.string().optional(),
});

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

export type PortfolioStatus = z.infer<typeof portfolioStatusSchema>;
export type PortfolioProgress = PortfolioStatus['progress'];
export type PortfolioResult = z.infer<typeof portfolioResultSchema>;
export type PortfolioOutcome = PortfolioResult['outcome'];
