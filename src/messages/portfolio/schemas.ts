/** The schema of each message of portfolio reviews (docs/portfolio.md), field by field, as journey/schemas.ts. */
import { z } from 'zod';
import { messageFields } from '../../fields/fields.ts';
import { journeySchemas } from '../journey/schemas.ts';
import { decisionSchema } from '../pull/schemas.ts';
import { MAX_BAD_ROWS, MAX_WINDOW, PORTFOLIO_FORMATS } from './limits.ts';
import { MAX_PATH_LENGTH, portfolioPathProblem, RELATIVE_PATH } from './output-files.ts';

const fields = messageFields();

const file = z.string().superRefine((value, context) => {
  const rule = portfolioPathProblem(value);
  if (rule) context.addIssue({ code: 'custom', message: rule });
});

const review = z.strictObject({
  reviewId: fields.reviewId,
  /** Name of a gateway profile. Default `default`. */
  profile: fields.profileName.exactOptional(),
  endUserCode: fields.endUserCode,
  permissiblePurposeCode: fields.permissiblePurposeCode,
  /** In the folder `<profile>/<endUserCode>` of the workers' PORTFOLIO_DIR, with `/`. */
  file: file.meta({
    maxLength: MAX_PATH_LENGTH,
    pattern: RELATIVE_PATH.source,
    description: 'In the folder `<profile>/<endUserCode>` of the workers’ PORTFOLIO_DIR.',
  }),
  /** Default: by the extension of the file's name. */
  format: z.enum(PORTFOLIO_FORMATS).exactOptional(),
  /** Rows in progress at once, 1 to {@link MAX_WINDOW}. */
  window: z.int().min(1).max(MAX_WINDOW).exactOptional(),
  /** Where the file has more bad rows than this, nothing is sent. */
  maxBadRows: z.int().min(0).max(MAX_BAD_ROWS).exactOptional(),
});

const { journeyId: _, ...withdrawal } = journeySchemas().withdraw.shape;
/** `pause`, `resume` and `withdraw`. */
const message = z.strictObject({ reviewId: fields.reviewId, ...withdrawal });

export function resolvePortfolioSchema<Applicants extends z.ZodType>(applicants: Applicants) {
  return z.strictObject({ reviewId: fields.reviewId, ...decisionSchema(applicants).shape });
}

const SCHEMAS = { review, message };

/** The schemas of the messages without applicants. */
export function portfolioSchemas(): typeof SCHEMAS {
  return SCHEMAS;
}
