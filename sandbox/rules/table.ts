/**
 * Checks a JSON body against a field table of the interface's section 2, and on request against rules of the sandbox's
 * own, whose names begin with `sandbox:`.
 */
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
  /** Type AN. The interface names no characters: one of the sandbox's own rules allows only printable ASCII. */
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

export type Format = 'ssn' | 'phone' | 'zip' | 'zip4' | 'state' | 'date' | 'pastDateTime' | 'email' | 'ip';
export type Table = Record<string, TextRule | ListRule>;

/** How a body is judged. */
export interface Judging {
  /** The sandbox's local date and time, as text. */
  now: string;
  /** Whether the sandbox's own rules count too. */
  ownRules: boolean;
}

type FormatCheck = { rule: string; holds: (text: string, now: string) => boolean };

/** The formats that the interface gives in words. */
const FORMATS: Partial<Record<Format, FormatCheck>> = {
  ssn: { rule: 'digits:9', holds: (text) => /^\d{9}$/.test(text) },
  phone: { rule: 'digits:10', holds: (text) => /^\d{10}$/.test(text) },
  // The column has 5, the description "5 or 9 digits" (2.3).
  zip: { rule: 'digits:5 or 9', holds: (text) => /^\d{5}(?:\d{4})?$/.test(text) },
  zip4: { rule: 'digits:4', holds: (text) => /^\d{4}$/.test(text) },
  state: { rule: 'letters:2', holds: (text) => /^[A-Za-z]{2}$/.test(text) },
  date: { rule: 'calendarDate:YYYY-MM-DD', holds: isCalendarDate },
  pastDateTime: {
    rule: 'dateTime:YYYY-MM-DD HH:MM:SS, not in the future',
    holds: (text, now) => isDateTime(text) && text <= now,
  },
};

/** The sandbox's own, stricter rules of formats. */
const OWN_FORMATS: Partial<Record<Format, FormatCheck>> = {
  zip: { rule: 'digits:5', holds: (text) => /^\d{5}$/.test(text) },
  date: { rule: 'notInTheFuture', holds: (text, now) => text <= now.slice(0, 10) },
  email: { rule: 'emailAddress', holds: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  ip: { rule: 'ipAddress', holds: (text) => isIP(text) !== 0 },
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `undefined` where the text of a body is not JSON. */
export function parseJson(body: unknown): unknown {
  try {
    return JSON.parse(String(body ?? ''));
  } catch {
    return undefined;
  }
}

/** Every problem of `body` under `table`; empty where it is valid. */
export function checkTable(body: unknown, table: Table, judging: Judging, at = ''): Problem[] {
  if (!isObject(body)) return [{ path: at, rule: 'object' }];
  const problems: Problem[] = [];
  for (const name of judging.ownRules ? Object.keys(body) : []) {
    // The name of an unknown field is the caller's text: the problem gives only its place.
    if (!Object.hasOwn(table, name)) problems.push({ path: at, rule: 'sandbox:unknownField' });
  }
  for (const [name, rule] of Object.entries(table)) {
    const path = `${at}/${name}`;
    const value = body[name];
    if (value === undefined) {
      if (rule.optional !== true) problems.push({ path, rule: 'required' });
    } else if (rule.kind === 'text') {
      problems.push(...checkText(value, rule, judging, path));
    } else {
      problems.push(...checkList(value, rule, judging, path));
    }
  }
  return problems;
}

function checkText(value: unknown, rule: TextRule, judging: Judging, path: string): Problem[] {
  if (typeof value !== 'string') return [{ path, rule: 'string' }];
  if (value.trim() === '') return [{ path, rule: 'notEmpty' }];
  const problems: Problem[] = [];
  if (rule.max !== undefined && [...value].length > rule.max) problems.push({ path, rule: `maxLength:${rule.max}` });
  if (rule.oneOf && !rule.oneOf.includes(value)) problems.push({ path, rule: `oneOf:${rule.oneOf.join(',')}` });
  const format = rule.format && FORMATS[rule.format];
  if (format && !format.holds(value, judging.now)) problems.push({ path, rule: format.rule });
  // Text that breaks the interface's own format is not judged twice.
  else if (judging.ownRules) problems.push(...ownProblems(value, rule, judging, path));
  return problems;
}

function ownProblems(value: string, { isAlphanumeric, format }: TextRule, { now }: Judging, path: string): Problem[] {
  const ownFormat = format && OWN_FORMATS[format];
  const broken = [
    ...(/\p{Cc}/u.test(value) ? ['noControlCharacters'] : []),
    ...(isAlphanumeric && /[^ -~\p{Cc}]/u.test(value) ? ['ascii'] : []),
    ...(isAlphanumeric && /^ | $/.test(value) ? ['noBlankAtEnds'] : []),
    ...(ownFormat && !ownFormat.holds(value, now) ? [ownFormat.rule] : []),
  ];
  return broken.map((rule) => ({ path, rule: `sandbox:${rule}` }));
}

function checkList(value: unknown, rule: ListRule, judging: Judging, path: string): Problem[] {
  if (!Array.isArray(value)) return [{ path, rule: 'array' }];
  if (value.length === 0) return [{ path, rule: 'notEmpty' }];
  return value.flatMap((entry, index) => checkTable(entry, rule.of, judging, `${path}/${index}`));
}
