/** How often the holes of docs/protocol.md ("What remains") were met: figures, not failures. */
import type { Evidence } from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';

export interface Hole {
  /** As docs/protocol.md names it. */
  name: string;
  count: number;
  /** Postings beyond the first that came of it. */
  furtherPostings: number;
}

export function measureHoles(evidence: Evidence): Hole[] {
  const index = new InquiryIndex(evidence);
  const { sandbox, ledger, runs } = evidence;
  const posted = Map.groupBy(sandbox.postings, ({ customerTraceNumber }) => customerTraceNumber);
  const postedWithStatus = sandbox.postings.filter(({ status }) =>
    evidence.notProcessedStatuses.includes(status ?? 0),
  ).length;
  const resent = [...posted].filter(([trace, { length }]) => length > 1 && index.resends(trace) > 0);
  const reports = new Set(ledger.attempts.flatMap((one) => (one.hasReport ? [one.customerTraceNumber] : [])));
  const lost = new Set(runs.flatMap(({ recordedByRun }) => recordedByRun)).values();
  const textLost = [...lost].filter((trace) =>
    index
      .attempts(trace)
      .some(({ state, outcome }) => state === 'answered' && outcome === 'record' && !reports.has(trace)),
  );
  return [
    {
      name: 'a status with a standing decision, sent after posting',
      count: postedWithStatus,
      furtherPostings: postedWithStatus,
    },
    {
      name: 'resend although the inquiry was posted',
      count: resent.length,
      furtherPostings: resent.reduce((sum, [, { length }]) => sum + length - 1, 0),
    },
    {
      name: "the ledger away until the attempt's time was over: a report's text lost",
      count: textLost.length,
      furtherPostings: 0,
    },
    {
      name: 'late answers: recorded beside the row, for a person to see',
      count: ledger.attempts.filter(({ late }) => late !== undefined).length,
      furtherPostings: 0,
    },
  ];
}
