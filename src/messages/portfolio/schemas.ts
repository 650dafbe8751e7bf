/** One schema for each message of portfolio reviews (docs/portfolio.md), field by field. */
import { z } from 'zod';
import * as fields from '../../fields/fields.ts';
import { perMaximum } from '../../fields/request-schemas.ts';
import { resolveInquirySchema, withdrawSchema } from '../journey/schemas.ts';
import { MAX_PATH_LENGTH, portfolioPathProblem, RELATIVE_PATH } from './output-files.ts';
import { MAX_BAD_ROWS, MAX_WINDOW, PORTFOLIO_FORMATS } from './shapes.ts';

const file = z.string().superRefine((value, context) => {
  const rule = portfolioPathProblem(value);
  if (rule) context.addIssue({ code: 'custom', message: rule });
});

const orderFields = {
  profile: fields.profileName.exactOptional(),
  endUserCode: fields.endUserCode,
  permissiblePurposeCode: fields.permissiblePurposeCode,
  file: file.meta({
    maxLength: MAX_PATH_LENGTH,
    pattern: RELATIVE_PATH.source,
    description: 'Relative to the workers’ PORTFOLIO_DIR.',
  }),
  format: z.enum(PORTFOLIO_FORMATS).exactOptional(),
  window: z.int().min(1).max(MAX_WINDOW).exactOptional(),
  maxBadRows: z.int().min(0).max(MAX_BAD_ROWS).exactOptional(),
};

export const portfolioReviewSchema = z.strictObject({ reviewId: fields.reviewId, ...orderFields });

/** Ten years: far above any real schedule. */
const MAX_WAIT_MS = 3_650 * 24 * 60 * 60 * 1_000;
const wait = z.int().min(0).max(MAX_WAIT_MS).exactOptional();

/** The server checks the cron expression. */
export const portfolioScheduleSchema = z.strictObject({
  scheduleId: fields.scheduleId,
  order: z.strictObject(orderFields),
  cron: fields.text(100),
  timeZone: fields.text(64).exactOptional(),
  overlap: z.enum(['skip', 'bufferOne', 'bufferAll', 'cancelOther', 'allowAll']).exactOptional(),
  jitterMs: wait,
  catchUpMs: wait,
  paused: z.boolean().exactOptional(),
});

const { journeyId: _, ...withdrawal } = withdrawSchema.shape;
export const portfolioMessageSchema = z.strictObject({ reviewId: fields.reviewId, ...withdrawal });

export const resolvePortfolioSchema = perMaximum((maxApplicants) => {
  const { journeyId: __, ...decision } = resolveInquirySchema(maxApplicants).shape;
  return z.strictObject({ reviewId: fields.reviewId, ...decision });
});
