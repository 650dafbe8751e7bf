/**
 * Matches each entry of an answer to an applicant (docs/protocol.md). Sharing the wrong person's `consumerId` is the
 * worst possible error of this software: where two readings are possible, a person decides.
 */

import type { JsonObject } from '../base/json-safety.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import {
  type Entries,
  type ExpectedApplicant,
  isSurely,
  judgeEntry,
  type MatchContext,
  mayBe,
  readConsumer,
  ssnAgainst,
  type Told,
  type Verdict,
} from './entry-verdict.ts';

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

  /** A report's `consumerId` is stored for its applicant; FAILSAFE's belongs to no report (interface 2.8). */
  function needsItsApplicant({ index }: { index: number }): boolean {
    return outcomes[index] === 'record' && context.product !== 'FAILSAFE';
  }
}

function isFlagged(entries: Entries): (verdict: Verdict, index: number) => boolean {
  return (verdict, index) =>
    verdict.kind === 'told' && ssnAgainst(entries[index] ?? {}, verdict.applicant) === 'different';
}

/** Decides by elimination: name and date of birth are those of the applicant who is left, and of no other. */
function isTheOneLeft(
  entry: JsonObject | undefined,
  left: ExpectedApplicant | undefined,
  { expected }: MatchContext,
): boolean {
  const consumer = entry && readConsumer(entry);
  if (!consumer || !left || ssnAgainst(entry, left) === 'different') return false;
  return isSurely(consumer, left) && !expected.some((other) => other !== left && mayBe(consumer, other));
}
