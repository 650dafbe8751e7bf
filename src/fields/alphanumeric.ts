/**
 * Type AN of the interface's field tables (2.3, 2.6): the one rule for requests, answers and configuration. The interface
 * does not say which characters AN has. It cannot mean letters and digits alone, since e-mail addresses, IP addresses and
 * streets are AN. We assume printable ASCII characters, and blanks within (docs/decisions/gateway.md).
 */
import { z } from 'zod';
import { ALPHANUMERIC, LATIN_LETTERS, LATIN_TEXT } from '../base/portable-patterns.ts';

const CONTROL_CHARACTER = /\p{Cc}/u;
const NOT_PRINTABLE_ASCII = /[^ -~]/;

/** In each text that the codec server has masked for people (protection/redaction). */
export const MASKED = '••';

const NOT_LATIN = new RegExp(`[^ -~${LATIN_LETTERS}]`);
const LETTER_OR_DIGIT = /[A-Za-z0-9]/;

/**
 * The rule that a value breaks, or `null`. Independent of the runtime's Unicode tables: it may decide about a signal.
 *
 * @param maxLength the table's length, read as a maximum (2.3: not shown whether maximum or exact)
 */
export function checkAlphanumeric(value: string, maxLength: number): string | null {
  const rule = 'must be printable ASCII: the interface says AN without naming the characters, and this is assumed';
  return checkPlainText(value, maxLength) ?? (NOT_PRINTABLE_ASCII.test(value) ? rule : checkBlank(value));
}

/** The rule that a name or a part of an address breaks, or `null`. A profile decides what of accents is sent. */
function checkLatinText(value: string, maxLength: number): string | null {
  const rule = 'must be in Latin letters, digits and ASCII signs';
  return checkPlainText(value, maxLength) ?? (NOT_LATIN.test(value) ? rule : checkBlank(value));
}

export function checkPlainText(value: string, maxLength: number, hidden = CONTROL_CHARACTER): string | null {
  if (value.trim() === '') return 'must not be empty or blank';
  if (value.length > maxLength) return `must have at most ${maxLength} characters`;
  if (hidden.test(value)) return 'must not hold control characters';
  return value.includes(MASKED) ? 'must not be masked' : null;
}

function checkBlank(value: string): string | null {
  return value.startsWith(' ') || value.endsWith(' ') ? 'must not begin or end with a blank' : null;
}

export function isAlphanumeric(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && checkAlphanumeric(value, maxLength) === null;
}

export function alphanumeric(maxLength: number) {
  return ruledText((value) => checkAlphanumeric(value, maxLength)).meta({ maxLength, pattern: ALPHANUMERIC });
}

/** AN that names something: signs alone cannot be the code of anybody. */
export function code(maxLength: number) {
  return alphanumeric(maxLength).refine((value) => LETTER_OR_DIGIT.test(value), {
    error: 'must have a letter or a digit',
    // One problem is enough for a text that is empty.
    when: ({ issues }) => issues.length === 0,
  });
}

/** AN of names and addresses, whose accents a profile may transliterate or pass on (accents.ts). */
export function latinText(maxLength: number) {
  return ruledText((value) => checkLatinText(value, maxLength)).meta({ maxLength, pattern: LATIN_TEXT });
}

/**
 * @param problem returns the rule that a text breaks, or `null`
 * @param missing the rule that everything else breaks than a text
 */
export function ruledText(problem: (value: string) => string | null, missing?: string) {
  return z.string(missing).superRefine((value, context) => {
    const rule = problem(value);
    if (rule) context.addIssue({ code: 'custom', message: rule });
  });
}
