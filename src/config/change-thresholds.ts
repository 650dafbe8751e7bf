/** When a figure of a report counts as moved, and which status codes mean a closed tradeline: docs/changes.md. */
import { z } from 'zod';
import { DEFAULT_CHANGE_OPTIONS } from '../changes/change-options.ts';
import type { ChangeOptions, FigureThreshold } from '../model/change-options.ts';
import type { Environment } from '../model/products.ts';
import type { EnvironmentReader } from './environment-reader.ts';

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

export function readChangeOptions(reader: EnvironmentReader, environment: Environment): ChangeOptions {
  const { balance, creditLimit } = DEFAULT_CHANGE_OPTIONS;
  return {
    balance: readThreshold(reader, 'GATEWAY_CHANGES_BALANCE', balance),
    creditLimit: readThreshold(reader, 'GATEWAY_CHANGES_CREDIT_LIMIT', creditLimit),
    closedStatusCodes: readClosedStatusCodes(reader, environment),
  };
}

/** `250`, `5%` or `250 5%`. */
function readThreshold(reader: EnvironmentReader, variable: string, fallback: FigureThreshold): FigureThreshold {
  const value = reader.optional(variable);
  if (value === undefined) return fallback;
  const parts = value.trim().split(/ +/);
  const percent = parts.at(-1)?.endsWith('%') ? parts.pop()?.slice(0, -1) : undefined;
  const [amount, ...others] = parts;
  const isGood = others.length === 0 && AMOUNT.test(amount ?? '0') && PERCENT.test(percent ?? '0');
  if (isGood) return { amount: amount ?? '0', percent: percent ?? '0' };
  reader.report(variable, 'must be an amount, a percentage, or both with a space between, such as 250 5%');
  return fallback;
}

/** Set to `none`: no code means closed. */
function readClosedStatusCodes(reader: EnvironmentReader, environment: Environment): readonly string[] {
  const variable = 'GATEWAY_CHANGES_CLOSED_STATUS_CODES';
  const value = reader.optional(variable);
  if (value === undefined) return environment === 'sandbox' ? SANDBOX_CLOSED_STATUS_CODES : [];
  if (value.trim() === 'none') return [];
  const codes = value.split(',').map((code) => code.trim());
  if (codes.every((code) => CODE.test(code))) return codes;
  reader.report(variable, 'must be codes of letters and digits with commas between, or none');
  return [];
}
