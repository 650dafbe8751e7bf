/**
 * Matches each entry of an answer to an applicant (docs/protocol.md). Sharing the wrong person's `consumerId` is the
 * worst possible error of this software: where two readings are possible, a person decides.
 */

import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import type { Applicant } from '../model/applicant.ts';
import type { ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import { isGiven } from './entry-meanings.ts';
import type { GatewayProfile } from './profile.ts';

/** An entry's applicant. Not `told`: one of several indistinguishable entries, whose outcome is the same. */
export interface Match {
  applicantId: string;
  told: boolean;
}

type Matching =
  /** In the order of the entries. `flagged`: an SSN matches none of the request's, and the profile says `flag`. */
  { kind: 'matched'; matches: Match[]; flagged: boolean } | { kind: 'hold'; problems: string[] };

/**
 * Matches each entry to one applicant, each applicant once; `expected` and `entries` have the same length.
 *
 * @param outcomes of the entries, in their order
 */
export function matchEntries(entries: Entries, outcomes: readonly ReportOutcome[], context: MatchContext): Matching {
  const { pathOf } = context;
  const verdicts = entries.map((entry) => judgeEntry(entry, context));
  const problems: string[] = [];
  const told = new Map<ExpectedApplicant, Told>();
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict.kind === 'problem') problems.push(`${pathOf(index)} ${verdict.rule}`);
    if (verdict.kind !== 'told') continue;
    if (told.has(verdict.applicant)) {
      problems.push(`${pathOf(index)} is an applicant whom another entry names already`);
    }
    told.set(verdict.applicant, verdict);
  }
  if (problems.length > 0) return { kind: 'hold', problems };
  const left = context.expected.filter((applicant) => !told.has(applicant));
  const untold = verdicts.flatMap((verdict, index) => (verdict.kind === 'untold' ? [{ ...verdict, index }] : []));
  const isLeftOver =
    untold.length === 1 &&
    [...told.values()].every(({ sure }) => sure) &&
    untold.every(({ index }) => isTheOneLeft(entries[index], left[0], context));
  // A report's `consumerId` is stored for its applicant; FAILSAFE's belongs to no report (interface 2.8).
  const isReport = ({ index }: { index: number }) => outcomes[index] === 'record' && context.product !== 'FAILSAFE';
  const needsTelling = new Set(untold.map(({ index }) => outcomes[index])).size > 1 || untold.some(isReport);
  if (needsTelling && !isLeftOver) {
    return { kind: 'hold', problems: untold.map(({ index, rule }) => `${pathOf(index)} ${rule}`) };
  }
  const remaining = left.values();
  const matches = verdicts.map((verdict) => {
    const applicant = verdict.kind === 'told' ? verdict.applicant : remaining.next().value;
    return { applicantId: applicant?.applicantId ?? '', told: verdict.kind === 'told' || isLeftOver };
  });
  const flagged = verdicts.some((verdict, index) => {
    return verdict.kind === 'told' && matchSsn(entries[index] ?? {}, verdict.applicant) === 'different';
  });
  return { kind: 'matched', matches, flagged };
}

/** Decides by elimination: name and date of birth are those of the applicant who is left, and of no other. */
function isTheOneLeft(
  entry: JsonObject | undefined,
  left: ExpectedApplicant | undefined,
  { expected }: MatchContext,
): boolean {
  const consumer = entry && readConsumer(entry);
  if (!consumer || !left || matchSsn(entry, left) === 'different') return false;
  return isSurely(consumer, left) && !expected.some((other) => other !== left && mayBe(consumer, other));
}

// Finds the applicant of one entry of an answer: by `applicantId`, by SSN, or because the request names only one.

/** The parts of an applicant that decide. */
export type ExpectedApplicant = Pick<Applicant, 'applicantId' | 'ssn' | 'names' | 'dob'>;

interface MatchContext {
  product: ProductCode;
  expected: readonly ExpectedApplicant[];
  ssnMismatch: GatewayProfile['ssnMismatch'];
  /** The path of an entry, for problems. */
  pathOf: (index: number) => string;
}

type Entries = readonly JsonObject[];

/** `sure`: by `applicantId` or a whole SSN. */
type Told = { kind: 'told'; applicant: ExpectedApplicant; sure: boolean };
/** An entry whose applicant is unclear. `rule` names the missing member. */
type Untold = { kind: 'untold'; rule: string };
type Verdict = Told | Untold | { kind: 'problem'; rule: string };

/** Also finds the problem of an entry that names one applicant and has a member of another. */
function judgeEntry(entry: JsonObject, context: MatchContext): Verdict {
  const verdict = findApplicant(entry, context);
  if (verdict.kind !== 'told') return verdict;
  const { expected, ssnMismatch } = context;
  const { applicant } = verdict;
  if (hasSsnOfAnother(entry, applicant, expected)) return toProblem("must not have another applicant's SSN");
  if (ssnMismatch === 'hold' && matchSsn(entry, applicant) === 'different') {
    return toProblem('must have the SSN that was asked for');
  }
  const consumer = readConsumer(entry);
  if (consumer && !mayBe(consumer, applicant) && expected.some((other) => isSurely(consumer, other))) {
    return toProblem("must not have another applicant's name and date of birth");
  }
  return verdict;
}

function findApplicant(entry: JsonObject, context: MatchContext): Verdict {
  const given = member(entry, 'applicantId');
  // FAILSAFE's request carries no applicantId (interface 4.3): the gateway made the one of its answer (2.8), and how it
  // counts is not shown.
  if (isGiven(given) && context.product !== 'FAILSAFE') {
    const named = context.expected.find(({ applicantId }) => applicantId === given);
    return named
      ? { kind: 'told', applicant: named, sure: true }
      : toProblem('must have an applicantId that was asked for');
  }
  const matches = context.expected.map((applicant) => ({ applicant, match: matchSsn(entry, applicant) }));
  const equal = matches.filter(({ match }) => match === 'equal');
  const [only, ...others] = equal;
  if (only && others.length === 0) {
    return { kind: 'told', applicant: only.applicant, sure: listSsns(entry).some(isWholeSsn) };
  }
  const [alone] = context.expected;
  if (alone && context.expected.length === 1) return findSoleApplicant(entry, alone);
  if (equal.length > 1) return { kind: 'untold', rule: 'has an SSN that may be that of several applicants' };
  const rule = 'must name its applicant by applicantId or SSN';
  return matches.every(({ match }) => match === 'absent') ? { kind: 'untold', rule } : toProblem(rule);
}

/** The answer is to a request about one applicant. Without an SSN, a name and a date of birth may still contradict. */
function findSoleApplicant(entry: JsonObject, applicant: ExpectedApplicant): Verdict {
  const consumer = readConsumer(entry);
  if (consumer && matchSsn(entry, applicant) === 'absent' && contradicts(consumer, applicant)) {
    return toProblem("must have the applicant's name and date of birth, or the applicant's SSN");
  }
  return { kind: 'told', applicant, sure: true };
}

function toProblem(rule: string): Verdict {
  return { kind: 'problem', rule };
}

function readConsumer(entry: JsonObject): JsonObject | undefined {
  const consumer = member(entry, 'consumer');
  return isRecord(consumer) ? consumer : undefined;
}

/** An entry's SSN is in its `consumer` (2.4), or beside it in a `consumers[]` answer. Where both exist, both count. */
function listSsns(entry: JsonObject): unknown[] {
  return [entry, readConsumer(entry) ?? {}].map((place) => member(place, 'ssn'));
}

function matchSsn(entry: JsonObject, applicant: ExpectedApplicant): SsnMatch {
  const matches = listSsns(entry).map((ssn) => compareSsn(ssn, applicant.ssn));
  if (matches.includes('different')) return 'different';
  return matches.includes('equal') ? 'equal' : 'absent';
}

function hasSsnOfAnother(entry: JsonObject, own: ExpectedApplicant, all: readonly ExpectedApplicant[]): boolean {
  const foreign = listSsns(entry).filter((ssn) => compareSsn(ssn, own.ssn) === 'different');
  return foreign.some((ssn) => all.some((other) => other !== own && compareSsn(ssn, other.ssn) === 'equal'));
}

// Compares a consumer of an answer with an applicant, by SSN, and by name and date of birth. The latter prove less:
// they decide only by elimination, and they may contradict.

type Person = Pick<Applicant, 'names' | 'dob'>;

/** Compares the date of birth, and first and last names regardless of case, accents and punctuation. */
function isSurely(consumer: JsonObject, person: Person): boolean {
  return member(consumer, 'dob') === person.dob && hasPair(consumer, person, (a, b) => a === b);
}

/** Like `isSurely`, but accepts a first name that is cut short: an initial may be that of two people. */
function mayBe(consumer: JsonObject, person: Person): boolean {
  const isShort = (a: string, b: string) => a.startsWith(b) || b.startsWith(a);
  return member(consumer, 'dob') === person.dob && hasPair(consumer, person, isShort);
}

/** Whether the consumer has a date of birth, or names, and they are not the person's. */
function contradicts(consumer: JsonObject, person: Person): boolean {
  const dob = member(consumer, 'dob');
  if (isGiven(dob) && dob !== person.dob) return true;
  return listNames(member(consumer, 'names')).length > 0 && !mayBe({ ...consumer, dob: person.dob }, person);
}

function hasPair(consumer: JsonObject, person: Person, isSameFirst: (a: string, b: string) => boolean): boolean {
  const theirs = listNames(person.names);
  return listNames(member(consumer, 'names')).some((name) =>
    theirs.some((other) => name.last === other.last && isSameFirst(name.first, other.first)),
  );
}

/** Lists only complete names: a partial name matches no other. */
function listNames(names: unknown): { first: string; last: string }[] {
  if (!Array.isArray(names)) return [];
  return names.flatMap((name) => {
    if (!isRecord(name)) return [];
    const [first, last] = [toLetters(member(name, 'first')), toLetters(member(name, 'last'))];
    return first === '' || last === '' ? [] : [{ first, last }];
  });
}

function toLetters(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();
}

type SsnMatch = 'equal' | 'different' | 'absent';

const MASK_CHARACTER = /[Xx*#•]/;

/**
 * Compares the digits; where some are masked, the visible ones. `absent`: no SSN is given, or no digit is visible. A
 * text that is no SSN matches none.
 *
 * @param given as in the answer: with or without dashes, masked by X, * or #, or the last four digits alone
 * @param asked nine digits
 */
function compareSsn(given: unknown, asked: string): SsnMatch {
  // A JSON number loses leading zeros.
  const text = typeof given === 'number' ? String(given).padStart(9, '0') : given;
  if (text === undefined || text === null) return 'absent';
  if (typeof text !== 'string') return 'different';
  const compact = stripSeparators(text);
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
function isWholeSsn(given: unknown): boolean {
  return typeof given === 'number' || (typeof given === 'string' && /^[0-9]{9}$/.test(stripSeparators(given)));
}

function stripSeparators(text: string): string {
  return text.replace(/[\s-]/g, '');
}
