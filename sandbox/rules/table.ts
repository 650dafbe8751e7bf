/** Checks a JSON body against a field table of the interface's section 2. */
import { isIP } from 'node:net';
import { isCalendarDate, isDateTime } from './local-time.ts';

/** A place (JSON pointer) and a rule; never the value. */
export interface Problem {
  path: string;
  rule: string;
}

export interface TextRule {
  kind: 'text';
  /** The length column. It is read as a maximum, since the interface does not say (2.3, notes). */
  max?: number;
  /** Type AN. It is read as printable ASCII, since addresses and e-mails are AN too, with blanks within alone. */
  isAlphanumeric?: boolean;
  optional?: boolean;
  format?: Format;
  oneOf?: readonly string[];
}

export interface ListRule {
  kind: 'list';
  of: Table;
  optional?: boolean;
}

export type Format = 'ssn' | 'phone' | 'zip' | 'zip4' | 'state' | 'pastDate' | 'pastDateTime' | 'email' | 'ip';
export type Table = Record<string, TextRule | ListRule>;

type FormatCheck = { rule: string; holds: (text: string, now: string) => boolean };

const FORMATS: Record<Format, FormatCheck> = {
  ssn: { rule: 'digits:9', holds: (text) => /^\d{9}$/.test(text) },
  phone: { rule: 'digits:10', holds: (text) => /^\d{10}$/.test(text) },
  // Length 5 against "5 or 9 digits" (2.3): the column wins, since zip4 has a field of its own.
  zip: { rule: 'digits:5', holds: (text) => /^\d{5}$/.test(text) },
  zip4: { rule: 'digits:4', holds: (text) => /^\d{4}$/.test(text) },
  state: { rule: 'letters:2', holds: (text) => /^[A-Za-z]{2}$/.test(text) },
  pastDate: {
    rule: 'calendarDate:YYYY-MM-DD, not in the future',
    holds: (text, now) => isCalendarDate(text) && text <= now.slice(0, 10),
  },
  pastDateTime: {
    rule: 'dateTime:YYYY-MM-DD HH:MM:SS, not in the future',
    holds: (text, now) => isDateTime(text) && text <= now,
  },
  email: { rule: 'emailAddress', holds: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  ip: { rule: 'ipAddress', holds: (text) => isIP(text) !== 0 },
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every problem of `body` under `table`; empty where it is valid. `now`: local date and time, as text. */
export function checkTable(body: unknown, table: Table, now: string, at = ''): Problem[] {
  if (!isObject(body)) return [{ path: at, rule: 'object' }];
  const problems: Problem[] = [];
  for (const name of Object.keys(body)) {
    // The name of an unknown field is the caller's text: the problem gives only its place.
    if (!Object.hasOwn(table, name)) problems.push({ path: at, rule: 'unknownField' });
  }
  for (const [name, rule] of Object.entries(table)) {
    const path = `${at}/${name}`;
    const value = body[name];
    if (value === undefined) {
      if (rule.optional !== true) problems.push({ path, rule: 'required' });
    } else if (rule.kind === 'text') {
      problems.push(...checkText(value, rule, now, path));
    } else {
      problems.push(...checkList(value, rule, now, path));
    }
  }
  return problems;
}

function checkText(value: unknown, rule: TextRule, now: string, path: string): Problem[] {
  if (typeof value !== 'string') return [{ path, rule: 'string' }];
  if (value.trim() === '') return [{ path, rule: 'notEmpty' }];
  const problems: Problem[] = [];
  if (rule.max !== undefined && [...value].length > rule.max) problems.push({ path, rule: `maxLength:${rule.max}` });
  if (/\p{Cc}/u.test(value)) problems.push({ path, rule: 'noControlCharacters' });
  if (rule.isAlphanumeric && /[^ -~\p{Cc}]/u.test(value)) problems.push({ path, rule: 'ascii' });
  if (rule.isAlphanumeric && /^ | $/.test(value)) problems.push({ path, rule: 'noBlankAtEnds' });
  if (rule.oneOf && !rule.oneOf.includes(value)) problems.push({ path, rule: `oneOf:${rule.oneOf.join(',')}` });
  const format = rule.format && FORMATS[rule.format];
  if (format && !format.holds(value, now)) problems.push({ path, rule: format.rule });
  return problems;
}

function checkList(value: unknown, rule: ListRule, now: string, path: string): Problem[] {
  if (!Array.isArray(value)) return [{ path, rule: 'array' }];
  if (value.length === 0) return [{ path, rule: 'notEmpty' }];
  return value.flatMap((entry, index) => checkTable(entry, rule.of, now, `${path}/${index}`));
}
