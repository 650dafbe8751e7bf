/**
 * Matches each entry of an answer to an applicant (docs/protocol.md). Sharing the wrong person's `consumerId` is the
 * worst possible error of this software: where two readings are possible, a person decides.
 */

import { isRecord } from '../base/is-record.ts';
import { type JsonObject, member } from '../base/json-safety.ts';
import type { ProductCode } from '../model/products.ts';
import type { GatewayProfile } from './profile.ts';
import { compareSsn, type SsnMatch } from './ssn-match.ts';

/** The parts of an applicant that decide. */
export interface ExpectedApplicant {
  applicantId: string;
  /** Nine digits. */
  ssn: string;
}

type Matching =
  /** In the order of the entries. `flagged`: an SSN matches none of the request's, and the profile says `flag`. */
  { kind: 'matched'; applicantIds: string[]; flagged: boolean } | { kind: 'hold'; problems: string[] };

interface Context {
  product: ProductCode;
  expected: readonly ExpectedApplicant[];
  ssnMismatch: GatewayProfile['ssnMismatch'];
  /** The path of an entry, for problems. */
  pathOf: (index: number) => string;
}

/** Matches each entry to one applicant, each applicant once; `expected` and `entries` have the same length. */
export function matchEntries(entries: readonly JsonObject[], context: Context): Matching {
  const problems: string[] = [];
  const applicantIds: string[] = [];
  let flagged = false;
  for (const [index, entry] of entries.entries()) {
    const verdict = matchEntry(entry, entries, context);
    if ('problem' in verdict) {
      problems.push(`${context.pathOf(index)} ${verdict.problem}`);
      continue;
    }
    if (applicantIds.includes(verdict.applicantId)) {
      problems.push(`${context.pathOf(index)} is an applicant whom another entry names already`);
    }
    applicantIds.push(verdict.applicantId);
    flagged ||= verdict.flagged;
  }
  return problems.length > 0 ? { kind: 'hold', problems } : { kind: 'matched', applicantIds, flagged };
}

type EntryVerdict = { applicantId: string; flagged: boolean } | { problem: string };

function matchEntry(entry: JsonObject, entries: readonly JsonObject[], context: Context): EntryVerdict {
  const found = findApplicant(entry, entries, context);
  if ('problem' in found) return found;
  const own = ssnAgainst(entry, found);
  if (hasSsnOfAnother(entry, found, context.expected)) return { problem: "must not have another applicant's SSN" };
  if (own === 'different' && context.ssnMismatch === 'hold') return { problem: 'must have the SSN that was asked for' };
  return { applicantId: found.applicantId, flagged: own === 'different' };
}

function findApplicant(
  entry: JsonObject,
  entries: readonly JsonObject[],
  context: Context,
): ExpectedApplicant | { problem: string } {
  const given = member(entry, 'applicantId');
  if (given !== undefined && given !== null && given !== '' && idsAreOurs(entries, context)) {
    const named = context.expected.find(({ applicantId }) => applicantId === given);
    return named ?? { problem: 'must have an applicantId that was asked for' };
  }
  const [alone] = context.expected;
  if (alone && context.expected.length === 1) return alone;
  const equal = context.expected.filter((applicant) => ssnAgainst(entry, applicant) === 'equal');
  const [only] = equal;
  if (only && equal.length === 1) return only;
  if (equal.length > 1) return { problem: 'has an SSN that may be that of several applicants' };
  return { problem: 'must name its applicant by applicantId or SSN' };
}

/**
 * FAILSAFE's request carries no `applicantId` (interface 4.3), so the gateway itself made any that its answer has
 * (2.8). It decides only for several applicants, and only where an echo of our ids and a count by position would mean
 * the same. So the answer's ids must be exactly ours, and ours in ascending order.
 */
function idsAreOurs(entries: readonly JsonObject[], context: Context): boolean {
  if (context.product !== 'FAILSAFE') return true;
  const ours = context.expected.map(({ applicantId }) => applicantId);
  if (ours.length === 1) return false;
  const theirs = entries.map((entry) => member(entry, 'applicantId'));
  const ascending = ours.every((id, index) => index === 0 || (ours[index - 1] ?? '') < id);
  return ascending && ours.every((id) => theirs.includes(id));
}

/** An entry's SSN is in its `consumer` (2.4), or beside it in a `consumers[]` answer. Where both exist, both count. */
function ssnsOf(entry: JsonObject): unknown[] {
  const consumer = member(entry, 'consumer');
  const places = isRecord(consumer) ? [entry, consumer] : [entry];
  return places.map((place) => member(place, 'ssn'));
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
