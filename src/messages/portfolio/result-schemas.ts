/**
 * The schema of each answer of a portfolio review; open, as journey/result-schemas.ts.
 */
import { z } from 'zod';
import { ENVIRONMENTS } from '../../model/products.ts';
import { acceptedSchema, runStatusFields, TERMINAL_STATES } from '../journey/result-schemas.ts';
import { PORTFOLIO_UNAVAILABLE } from './limits.ts';

const count = z.int().min(0);
const outcomes = {
  record: count,
  noRecord: count,
  noReport: count,
  /** A person abandoned the inquiry. */
  abandoned: count,
};
/** Rows whose report has an SSN that the row has not, under a profile that says `flag`. */
const flagged = count.exactOptional().meta({ description: 'Rows with attention: see the result file.' });
const productCode = z.literal('ACCTRVW');
const outcome = z.enum(['completed', 'withdrawn']);

export const portfolioProgressSchema = z
  .object({
    rows: count.meta({ description: 'Good ones; 0 until the file has been examined.' }),
    badRows: count,
    done: count,
    ...outcomes,
    flagged,
    held: count,
    underWay: count,
    rowsPerSecond: z.number().exactOptional(),
    secondsLeft: z.number().exactOptional(),
  })
  .meta({ id: 'portfolioProgress' });

export const portfolioStatusSchema = z
  .object({
    reviewId: z.string(),
    environment: z.enum(ENVIRONMENTS).nullable(),
    productCode,
    /** `held`: only inquiries that wait for a person are left. */
    state: z.enum([
      ...(['examining', 'running', 'paused', 'held', 'stopping'] as const),
      ...outcome.options,
      ...TERMINAL_STATES,
    ]),
    waitingFor: z.string().exactOptional(),
    /** Its files cannot be reached. The worker keeps trying. */
    attention: z
      .literal(PORTFOLIO_UNAVAILABLE)
      .exactOptional()
      .meta({ description: 'Its files cannot be reached; it goes on by itself once they can.' }),
    file: z.string(),
    digest: z.string().exactOptional().meta({ description: 'SHA-256 of the file, in hexadecimal.' }),
    progress: portfolioProgressSchema,
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
  badRowsFile: z.string().exactOptional(),
});

export const portfolioUpdateAnswerSchema = z.object({ ...acceptedSchema.shape, status: portfolioStatusSchema });
