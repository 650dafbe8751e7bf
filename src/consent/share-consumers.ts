/** Whom a share names of its report's applicants, and the ordinal of the trace number that follows. Pure. */
import { MAX_ORDINAL } from '../model/trace-number.ts';

/** With more, two digits have no ordinal for each choice of them. Typically there are one or two (interface 2.3). */
export const MOST_TO_CHOOSE_FROM = Math.floor(Math.log2(MAX_ORDINAL + 1));

/** Whether the share may name fewer than all of its report's applicants. */
export function isForThoseWhoConsent(
  { consumers = 'all' }: { consumers?: 'all' | 'consented' },
  applicantIds: readonly string[],
): boolean {
  return consumers === 'consented' && applicantIds.length <= MOST_TO_CHOOSE_FROM;
}

/**
 * The ordinal says who is left out: bit n stands for the n-th applicant of the report. So the same choice has the same
 * trace number in every run, and a share for all has the number that it always had.
 */
export function ordinalOfChoice(applicantIds: readonly string[], named: readonly string[]): number {
  return applicantIds.reduce(
    (bits, applicantId, index) => (named.includes(applicantId) ? bits : bits | (1 << index)),
    0,
  );
}

/** Whom the share of this ordinal names. */
export function choiceOfOrdinal(applicantIds: readonly string[], ordinal: number): string[] {
  return applicantIds.filter((_, index) => (ordinal & (1 << index)) === 0);
}
