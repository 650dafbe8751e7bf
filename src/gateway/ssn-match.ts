/** Compares an SSN of an answer, whole or masked, with one of the request. */

export type SsnMatch = 'equal' | 'different' | 'absent';

const MASK_CHARACTER = /[Xx*#•]/;

/**
 * Compares the digits; where some are masked, the visible ones. `absent`: no SSN is given, or no digit is visible. A
 * text that is no SSN matches none.
 *
 * @param given as in the answer: with or without dashes, masked by X, * or #, or the last four digits alone
 * @param asked nine digits
 */
export function compareSsn(given: unknown, asked: string): SsnMatch {
  // A JSON number loses leading zeros.
  const text = typeof given === 'number' ? String(given).padStart(9, '0') : given;
  if (text === undefined || text === null) return 'absent';
  if (typeof text !== 'string') return 'different';
  const compact = compacted(text);
  if (compact === '') return 'absent';
  const whole = /^[0-9]{4}$/.test(compact) ? compact.padStart(9, '*') : compact;
  if (whole.length !== asked.length) return 'different';
  let visible = 0;
  for (const [index, character] of [...whole].entries()) {
    if (MASK_CHARACTER.test(character)) continue;
    if (character !== asked[index]) return 'different';
    visible += 1;
  }
  return visible > 0 ? 'equal' : 'absent';
}

/** Whether no digit of an answer's SSN is masked or missing. */
export function isWholeSsn(given: unknown): boolean {
  return typeof given === 'number' || (typeof given === 'string' && /^[0-9]{9}$/.test(compacted(given)));
}

function compacted(text: string): string {
  return text.replace(/[\s-]/g, '');
}
