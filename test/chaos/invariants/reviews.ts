/** The result file of a review, held against the ledger. */
import { toRowRunKey } from '../../../src/model/run-key.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';
import { latestRuns } from './latest-runs.ts';

export const reviewedRows: Invariant = {
  name: "a review's file has each row at most once, with the outcome that the ledger has",
  judge(evidence) {
    const { reviewResults, plans } = evidence;
    const runs = latestRuns(evidence);
    const index = new InquiryIndex(evidence);
    const failures: string[] = [];
    let count = 0;
    for (const { runKey, lines } of reviewResults) {
      const plan = plans.find((one) => one.runKey === runKey);
      const reviewId = runKey.slice(runKey.indexOf(':') + 1);
      count += lines.length;
      const accounts = Map.groupBy(lines, ({ accountId }) => accountId);
      for (const [accountId, { length }] of accounts) {
        if (length > 1) failures.push(`${runKey}: row ${accountId} ${length} times`);
      }
      for (const { accountId, outcome, customerTraceNumber } of lines) {
        const inquiry = index.inquiries.get(customerTraceNumber);
        const isOwn = inquiry?.runKey === toRowRunKey(reviewId, accountId);
        const recorded = outcomeOf(customerTraceNumber, index);
        if (!isOwn) failures.push(`${runKey}: row ${accountId} names an inquiry that is not its own`);
        else if (recorded !== outcome) failures.push(`${runKey}: row ${accountId} ${outcome}, the ledger ${recorded}`);
      }
      const run = runs.get(runKey);
      const isWhole = run?.status === 'COMPLETED' && run.other?.state === 'completed';
      if (isWhole && accounts.size !== plan?.rows) failures.push(`${runKey}: ${accounts.size} rows of ${plan?.rows}`);
    }
    return { count, failures };
  },
};

/** The outcome of the latest attempt, or the outcome that an operator accepted. */
function outcomeOf(customerTraceNumber: string, index: InquiryIndex): string | undefined {
  if (index.inquiries.get(customerTraceNumber)?.abandonedAtMs !== undefined) return 'abandoned';
  return index.attempts(customerTraceNumber).at(-1)?.outcome;
}
