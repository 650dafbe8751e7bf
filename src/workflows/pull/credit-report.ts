import type { CreditReportInput, PullResult } from '../../messages/pull/shapes.ts';
import { pinnedWhereVersioned } from '../run/pinned-versions.ts';
import type { PullResumption } from './pull.ts';
import { runPull } from './pull-run.ts';

/**
 * One report of one product: CR, PREQUAL, PREAPP, PRECLOSE, ACCTRVW or REFUPD. Workflow id `pull-<pullId>`. Input,
 * messages and result: `messages/pull/shapes.ts`; docs/pulls.md.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function creditReport(input: CreditReportInput, past?: PullResumption): Promise<PullResult> {
  return runPull(input, past);
}

pinnedWhereVersioned(creditReport);
