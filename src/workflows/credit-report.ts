import type { CreditReportInput, PullResult } from '../model/pull-shapes.ts';
import { pinnedWhereVersioned } from './pinned-versions.ts';
import { runPull } from './pull-run.ts';

/**
 * One report of one product: CR, PREQUAL, PREAPP, PRECLOSE, ACCTRVW or REFUPD. Workflow id `pull-<pullId>`. Input,
 * messages and result: `model/pull-shapes.ts`; docs/pulls.md.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function creditReport(input: CreditReportInput): Promise<PullResult> {
  return runPull(input);
}

pinnedWhereVersioned(creditReport);
