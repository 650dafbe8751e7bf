/** Judges by itself whose one entry of an answer is: by `applicantId`, by SSN, or because one applicant was asked about. */

import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import type { Applicant } from '../model/applicant.ts';
import type { ProductCode } from '../model/products.ts';
import { isGiven } from './entry-meanings.ts';
import type { GatewayProfile } from './profile.ts';
import { compareSsn, contradicts, isSurely, isWholeSsn, mayBe, type Person, type SsnMatch } from './same-person.ts';

/** The parts of an applicant that decide. */
export interface ExpectedApplicant extends Person {
  applicantId: string;
  /** Nine digits. */
  ssn: string;
  /** Decide nothing; what of them FAILSAFE does not send is told (remarks.ts). */
  addresses?: Applicant['addresses'];
}

export interface MatchContext {
  product: ProductCode;
  expected: readonly ExpectedApplicant[];
  ssnMismatch: GatewayProfile['ssnMismatch'];
  /** The path of an entry, for problems. */
  pathOf: (index: number) => string;
}

export type Entries = readonly JsonObject[];

/** `sure`: by `applicantId` or a whole SSN. */
export type Told = { kind: 'told'; applicant: ExpectedApplicant; sure: boolean };
/** Nothing in the entry says whose it is, and `rule` is what it would need. */
type Untold = { kind: 'untold'; rule: string };
export type Verdict = Told | Untold | { kind: 'problem'; rule: string };

/** Also holds an entry that says whose it is, and has something of another applicant. */
export function verdictOf(entry: JsonObject, context: MatchContext): Verdict {
  const verdict = findApplicant(entry, context);
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

function findApplicant(entry: JsonObject, context: MatchContext): Verdict {
  const given = member(entry, 'applicantId');
  // FAILSAFE's request carries no applicantId (interface 4.3): the gateway made the one of its answer (2.8), and how it
  // counts is not shown.
  if (isGiven(given) && context.product !== 'FAILSAFE') {
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

export function consumerOf(entry: JsonObject): JsonObject | undefined {
  const consumer = member(entry, 'consumer');
  return isRecord(consumer) ? consumer : undefined;
}

/** An entry's SSN is in its `consumer` (2.4), or beside it in a `consumers[]` answer. Where both exist, both count. */
function ssnsOf(entry: JsonObject): unknown[] {
  return [entry, consumerOf(entry) ?? {}].map((place) => member(place, 'ssn'));
}

export function ssnAgainst(entry: JsonObject, applicant: ExpectedApplicant): SsnMatch {
  const matches = ssnsOf(entry).map((ssn) => compareSsn(ssn, applicant.ssn));
  if (matches.includes('different')) return 'different';
  return matches.includes('equal') ? 'equal' : 'absent';
}

function hasSsnOfAnother(entry: JsonObject, own: ExpectedApplicant, all: readonly ExpectedApplicant[]): boolean {
  const foreign = ssnsOf(entry).filter((ssn) => compareSsn(ssn, own.ssn) === 'different');
  return foreign.some((ssn) => all.some((other) => other !== own && compareSsn(ssn, other.ssn) === 'equal'));
}
