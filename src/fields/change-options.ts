/** Options of a comparison of reports: when a figure counts as moved, and which status codes mean a closed tradeline. */
import { z } from 'zod';
import { parseWith } from './problems.ts';

/** A figure has moved if it differs by at least `amount`, and by at least `percent` of the larger figure. */
const threshold = z.strictObject({
  amount: z
    .string()
    .regex(/^\d{1,15}(?:\.\d{1,4})?$/, 'must be a decimal string, not negative')
    .default('0'),
  percent: z
    .string()
    .regex(/^(?:100(?:\.0{1,4})?|\d{1,2}(?:\.\d{1,4})?)$/, 'must be a decimal string from 0 to 100')
    .default('0'),
});

/** docs/changes.md. */
export const changeOptionsSchema = z.strictObject({
  balance: threshold.optional(),
  creditLimit: threshold.optional(),
  closedStatusCodes: z
    .array(z.string().regex(/^[A-Za-z0-9]{1,10}$/, 'must be letters and digits, at most 10'))
    .max(100)
    .readonly()
    .optional(),
});

export type FigureThreshold = z.output<typeof threshold>;
export type ChangeOptions = Required<z.output<typeof changeOptionsSchema>>;

/**
 * Every difference counts: nothing is left out unless an option says so. No code means closed: the interface shows no
 * list (2.4), and only the provider's is one.
 */
export const DEFAULT_CHANGE_OPTIONS: ChangeOptions = {
  balance: threshold.parse({}),
  creditLimit: threshold.parse({}),
  closedStatusCodes: [],
};

/** @throws InvalidInputError that names the invalid option, never its value */
export function completeOptions(options: Partial<ChangeOptions> = {}): ChangeOptions {
  return { ...DEFAULT_CHANGE_OPTIONS, ...parseWith(changeOptionsSchema, options) };
}
