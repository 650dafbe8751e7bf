/** The input of `portfolioReview` (docs/portfolio.md): ACCTRVW over a file of rows. */
import { z } from 'zod';
import { ruledText } from '../../fields/alphanumeric.ts';
import { getMessageFields } from '../../fields/fields.ts';
import type { Checked, MessageOf } from '../message.ts';
import { DEFAULT_MAX_BAD_ROWS, DEFAULT_WINDOW, MAX_BAD_ROWS, MAX_WINDOW } from '../portfolio/limits.ts';
import { checkPortfolioPath, MAX_PATH_LENGTH, RELATIVE_PATH } from '../portfolio/output-files.ts';

const fields = getMessageFields();

const schema = z.strictObject({
  reviewId: fields.reviewId,
  profile: fields.profile,
  endUserCode: fields.endUserCode.describe('The end user of the reports.'),
  permissiblePurposeCode: fields.permissiblePurposeCode,
  file: ruledText(checkPortfolioPath).meta({
    maxLength: MAX_PATH_LENGTH,
    pattern: RELATIVE_PATH.source,
    description: 'In the folder `<profile>/<endUserCode>` of the workers’ PORTFOLIO_DIR.',
  }),
  format: z.enum(['csv', 'jsonl']).describe('By default that of the file’s name.').optional(),
  window: z.int().min(1).max(MAX_WINDOW).describe(`Rows in progress at once. Default ${DEFAULT_WINDOW}.`).optional(),
  maxBadRows: z
    .int()
    .min(0)
    .max(MAX_BAD_ROWS)
    .describe(`The review sends nothing if its file has more bad rows. Default ${DEFAULT_MAX_BAD_ROWS}.`)
    .optional(),
});

/** A worker checks the content of the file. */
export const portfolioReview = {
  published: {
    file: 'portfolio-review-input',
    description:
      'ACCTRVW for each row of a file that the workers have. A Temporal Schedule leaves `reviewId` out: the run takes it from ' +
      'its workflow id, which the schedule makes of its own id and the time.',
  },
  schema: () => schema,
} satisfies Checked;

export type PortfolioReviewInput = MessageOf<typeof portfolioReview>;
export type PortfolioFormat = NonNullable<PortfolioReviewInput['format']>;
