/**
 * Type AN of the interface's field tables (2.3, 2.6): the one rule for requests, answers and configuration. It cannot
 * mean letters and digits alone, since e-mail addresses, IP addresses and streets are AN: it admits printable ASCII
 * characters, and blanks within. docs/decisions/gateway.md says why nothing else.
 */
import { z } from 'zod';
import { ALPHANUMERIC } from '../base/portable-patterns.ts';

const CONTROL_CHARACTER = /\p{Cc}/u;
const NOT_PRINTABLE_ASCII = /[^ -~]/;

/** In each text that the codec server has masked for people (protection/redaction). */
export const MASKED = '••';

/**
 * The rule that a value breaks, or `null`. Independent of the runtime's Unicode tables: it may decide about a signal.
 *
 * @param maxLength the table's length, read as a maximum (2.3: not shown whether maximum or exact)
 */
export function alphanumericProblem(value: string, maxLength: number): string | null {
  if (value.trim() === '') return 'must not be empty or blank';
  if (value.length > maxLength) return `must have at most ${maxLength} characters`;
  if (CONTROL_CHARACTER.test(value)) return 'must not hold control characters';
  if (value.includes(MASKED)) return 'must not be masked';
  if (NOT_PRINTABLE_ASCII.test(value)) return 'must be in ASCII: the gateway takes no accents and no other alphabets';
  return value.startsWith(' ') || value.endsWith(' ') ? 'must not begin or end with a blank' : null;
}

export function isAlphanumeric(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && alphanumericProblem(value, maxLength) === null;
}

export function alphanumeric(maxLength: number) {
  return z
    .string()
    .superRefine((value, context) => {
      const rule = alphanumericProblem(value, maxLength);
      if (rule) context.addIssue({ code: 'custom', message: rule });
    })
    .meta({ maxLength, pattern: ALPHANUMERIC });
}
