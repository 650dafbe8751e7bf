/**
 * Compares a consumer of an answer with an applicant, by SSN, and by name and date of birth. The latter prove less: they
 * decide only who is left over (who-is-who.ts), and they may contradict.
 */
import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';

export interface Person {
  names: readonly { first: string; last: string; gen?: string }[];
  /** YYYY-MM-DD */
  dob: string;
}

interface ComparedName {
  first: string;
  last: string;
}

/** The same date of birth, and a name whose first and last name are the same but for case, accents and punctuation. */
export function isSurely(consumer: JsonObject, person: Person): boolean {
  return member(consumer, 'dob') === person.dob && somePair(consumer, person, (one, other) => one === other);
}

/** As `isSurely`, where a first name may be cut short: an initial may be that of two people. */
export function mayBe(consumer: JsonObject, person: Person): boolean {
  const isShort = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);
  return member(consumer, 'dob') === person.dob && somePair(consumer, person, isShort);
}

/** Whether the consumer has a date of birth, or names, and they are not the person's. */
export function contradicts(consumer: JsonObject, person: Person): boolean {
  const dob = member(consumer, 'dob');
  if (dob !== undefined && dob !== null && dob !== '' && dob !== person.dob) return true;
  return namesOf(member(consumer, 'names')).length > 0 && !mayBe({ ...consumer, dob: person.dob }, person);
}

function somePair(consumer: JsonObject, person: Person, isSameFirst: (one: string, other: string) => boolean): boolean {
  const theirs = namesOf(person.names);
  return namesOf(member(consumer, 'names')).some((one) =>
    theirs.some((other) => one.last === other.last && isSameFirst(one.first, other.first)),
  );
}

/** The complete names alone: half a name is compared with nothing. */
function namesOf(names: unknown): ComparedName[] {
  if (!Array.isArray(names)) return [];
  return names.flatMap((name) => {
    if (!isRecord(name)) return [];
    const [first, last] = [lettersOf(member(name, 'first')), lettersOf(member(name, 'last'))];
    return first === '' || last === '' ? [] : [{ first, last }];
  });
}

function lettersOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();
}

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
