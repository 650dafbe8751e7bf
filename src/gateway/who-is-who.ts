/**
 * Matches each entry of an answer to an applicant (docs/protocol.md). Sharing the wrong person's `consumerId` is the
 * worst possible error of this software: where two readings are possible, a person decides.
 */

import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import type { ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import type { GatewayProfile } from './profile.ts';
import { contradicts, isSurely, mayBe, type Person } from './same-person.ts';
import { compareSsn, isWholeSsn, type SsnMatch } from './ssn-match.ts';

/** The parts of an applicant that decide. */
export interface ExpectedApplicant extends Person {
  applicantId: string;
  /** Nine digits. */
  ssn: string;
}

/** An entry's applicant. Not `told`: one of several entries that cannot be told apart, and whose outcome is the same. */
export interface Match {
  applicantId: string;
  told: boolean;
}

type Matching =
  /** In the order of the entries. `flagged`: an SSN matches none of the request's, and the profile says `flag`. */
  { kind: 'matched'; matches: Match[]; flagged: boolean } | { kind: 'hold'; problems: string[] };

interface Context {
  product: ProductCode;
  expected: readonly ExpectedApplicant[];
  ssnMismatch: GatewayProfile['ssnMismatch'];
  /** The path of an entry, for problems. */
  pathOf: (index: number) => string;
}

type Entries = readonly JsonObject[];

/** `sure`: by `applicantId` or a whole SSN. */
type Told = { kind: 'told'; applicant: ExpectedApplicant; sure: boolean };
/** Nothing in the entry says whose it is, and `rule` is what it would need. */
type Untold = { kind: 'untold'; rule: string };
type Verdict = Told | Untold | { kind: 'problem'; rule: string };

/**
 * Matches each entry to one applicant, each applicant once; `expected` and `entries` have the same length.
 *
 * @param outcomes of the entries, in their order
 */
export function matchEntries(entries: Entries, outcomes: readonly ReportOutcome[], context: Context): Matching {
  const { pathOf } = context;
  const verdicts = entries.map((entry) => verdictOf(entry, entries, context));
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
  const needsTelling = new Set(untold.map(({ index }) => outcomes[index])).size > 1 || untold.some(needsItsApplicant);
  if (needsTelling && !isLeftOver) {
    return { kind: 'hold', problems: untold.map(({ index, rule }) => `${pathOf(index)} ${rule}`) };
  }
  const remaining = left.values();
  const matches = verdicts.map((verdict) => {
    const applicant = verdict.kind === 'told' ? verdict.applicant : remaining.next().value;
    return { applicantId: applicant?.applicantId ?? '', told: verdict.kind === 'told' || isLeftOver };
  });
  return { kind: 'matched', matches, flagged: verdicts.some(isFlagged(entries)) };

  /** A report's `consumerId` is stored for its applicant; FAILSAFE's names nobody's report (interface 2.8). */
  function needsItsApplicant({ index }: { index: number }): boolean {
    return outcomes[index] === 'record' && context.product !== 'FAILSAFE';
  }
}

function isFlagged(entries: Entries): (verdict: Verdict, index: number) => boolean {
  return (verdict, index) =>
    verdict.kind === 'told' && ssnAgainst(entries[index] ?? {}, verdict.applicant) === 'different';
}

/** By elimination: name and date of birth are those of the applicant who is left, and of no other. */
function isTheOneLeft(
  entry: JsonObject | undefined,
  left: ExpectedApplicant | undefined,
  { expected }: Context,
): boolean {
  const consumer = entry && consumerOf(entry);
  if (!consumer || !left || ssnAgainst(entry, left) === 'different') return false;
  return isSurely(consumer, left) && !expected.some((other) => other !== left && mayBe(consumer, other));
}

function verdictOf(entry: JsonObject, entries: Entries, context: Context): Verdict {
  const verdict = findApplicant(entry, entries, context);
  if (verdict.kind !== 'told') return verdict;
  const { expected, ssnMismatch } = context;
  const { applicant } = verdict;
  if (hasSsnOfAnother(entry, applicant, expected)) return problem("must not have another applicant's SSN");
  if (ssnMismatch === 'hold' && ssnAgainst(entry, applicant) === 'different') {
    return problem('must have the SSN that was asked for');
  }
  const consumer = consumerOf(entry);
  if (consumer && !mayBe(consumer, applicant) && expected.some((other) => isSurely(consumer, other))) {
    return problem("must not have another applicant's name and date of birth");
  }
  return verdict;
}

function findApplicant(entry: JsonObject, entries: Entries, context: Context): Verdict {
  const given = member(entry, 'applicantId');
  if (given !== undefined && given !== null && given !== '' && idsAreOurs(entries, context)) {
    const named = context.expected.find(({ applicantId }) => applicantId === given);
    return named
      ? { kind: 'told', applicant: named, sure: true }
      : problem('must have an applicantId that was asked for');
  }
  const matches = context.expected.map((applicant) => ({ applicant, match: ssnAgainst(entry, applicant) }));
  const equal = matches.filter(({ match }) => match === 'equal');
  const [only, ...others] = equal;
  if (only && others.length === 0) {
    return { kind: 'told', applicant: only.applicant, sure: ssnsOf(entry).some(isWholeSsn) };
  }
  const [alone] = context.expected;
  if (alone && context.expected.length === 1) return soleApplicant(entry, alone);
  if (equal.length > 1) return { kind: 'untold', rule: 'has an SSN that may be that of several applicants' };
  const rule = 'must name its applicant by applicantId or SSN';
  return matches.every(({ match }) => match === 'absent') ? { kind: 'untold', rule } : problem(rule);
}

/** The answer is to a request about one applicant. Without an SSN, a name and a date of birth may still contradict. */
function soleApplicant(entry: JsonObject, applicant: ExpectedApplicant): Verdict {
  const consumer = consumerOf(entry);
  if (consumer && ssnAgainst(entry, applicant) === 'absent' && contradicts(consumer, applicant)) {
    return problem("must have the applicant's name and date of birth, or the applicant's SSN");
  }
  return { kind: 'told', applicant, sure: true };
}

function problem(rule: string): Verdict {
  return { kind: 'problem', rule };
}

/**
 * FAILSAFE's request carries no `applicantId` (interface 4.3), so the gateway itself made any that its answer has
 * (2.8). It decides only for several applicants, and only where an echo of our ids and a count by position would mean
 * the same. So the answer's ids must be exactly ours, and ours in ascending order.
 */
function idsAreOurs(entries: Entries, context: Context): boolean {
  if (context.product !== 'FAILSAFE') return true;
  const ours = context.expected.map(({ applicantId }) => applicantId);
  if (ours.length === 1) return false;
  const theirs = entries.map((entry) => member(entry, 'applicantId'));
  const ascending = ours.every((id, index) => index === 0 || (ours[index - 1] ?? '') < id);
  return ascending && ours.every((id) => theirs.includes(id));
}

function consumerOf(entry: JsonObject): JsonObject | undefined {
  const consumer = member(entry, 'consumer');
  return isRecord(consumer) ? consumer : undefined;
}

/** An entry's SSN is in its `consumer` (2.4), or beside it in a `consumers[]` answer. Where both exist, both count. */
function ssnsOf(entry: JsonObject): unknown[] {
  return [entry, consumerOf(entry) ?? {}].map((place) => member(place, 'ssn'));
}

function ssnAgainst(entry: JsonObject, applicant: ExpectedApplicant): SsnMatch {
  const matches = ssnsOf(entry).map((ssn) => compareSsn(ssn, applicant.ssn));
  if (matches.includes('different')) return 'different';
  return matches.includes('equal') ? 'equal' : 'absent';
}

function hasSsnOfAnother(entry: JsonObject, own: ExpectedApplicant, all: readonly ExpectedApplicant[]): boolean {
  const foreign = ssnsOf(entry).filter((ssn) => compareSsn(ssn, own.ssn) === 'different');
  return foreign.some((ssn) => all.some((other) => other !== own && compareSsn(ssn, other.ssn) === 'equal'));
}
