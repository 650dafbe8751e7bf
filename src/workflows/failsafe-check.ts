import type { FailsafeCheckInput, PullResult } from '../model/pull-shapes.ts';
import { pinnedWhereVersioned } from './pinned-versions.ts';
import { runPull } from './pull-run.ts';

/**
 * FAILSAFE (interface 4.3), with outcome and reference per consumer. Workflow id `pull-<pullId>`, as for
 * `creditReport`. Input, messages and result: `model/pull-shapes.ts`; docs/pulls.md.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function failsafeCheck(input: FailsafeCheckInput): Promise<PullResult> {
  return runPull(input);
}

pinnedWhereVersioned(failsafeCheck);
