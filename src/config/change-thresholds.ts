/** When a figure of a report counts as moved, and which status codes mean a closed tradeline: docs/changes.md. */
import { z } from 'zod';
import { DEFAULT_CHANGE_OPTIONS } from '../changes/change-options.ts';
import type { ChangeOptions } from '../model/change-options.ts';
import type { Environment } from '../model/products.ts';

/** The stand-in's own (sandbox/answers/moving-file.ts). The interface shows none (2.4). */
const SANDBOX_CLOSED_STATUS_CODES = ['13'];

const AMOUNT = /^\d{1,15}(?:\.\d{1,4})?$/;
const PERCENT = /^(?:100(?:\.0{1,4})?|\d{1,2}(?:\.\d{1,4})?)$/;
const CODE = /^[A-Za-z0-9]{1,10}$/;

const thresholdSchema = z.strictObject({
  amount: z.string().regex(AMOUNT, 'must be a decimal string, not negative').default('0'),
  percent: z.string().regex(PERCENT, 'must be a decimal string from 0 to 100').default('0'),
});

/** A profile's `changes` in the profiles file. */
export const changesSchema = z.strictObject({
  balance: thresholdSchema.exactOptional(),
  creditLimit: thresholdSchema.exactOptional(),
  closedStatusCodes: z.array(z.string().regex(CODE, 'must be letters and digits, at most 10')).max(100).exactOptional(),
});

/** Of the profile `default`, where the profiles file says nothing else. */
export function defaultChangeOptions(environment: Environment): ChangeOptions {
  return environment === 'sandbox'
    ? { ...DEFAULT_CHANGE_OPTIONS, closedStatusCodes: SANDBOX_CLOSED_STATUS_CODES }
    : DEFAULT_CHANGE_OPTIONS;
}
