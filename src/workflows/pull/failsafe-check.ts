import type { FailsafeCheckInput, PullResult } from '../../messages/pull/shapes.ts';
import { pinnedWhereVersioned } from '../run/pinned-versions.ts';
import type { PullResumption } from './pull.ts';
import { runPull } from './pull-run.ts';

/**
 * FAILSAFE (interface 4.3), with outcome and reference per consumer. Workflow id `pull-<pullId>`, as for
 * `creditReport`. Input, messages and result: `messages/pull/shapes.ts`; docs/pulls.md.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function failsafeCheck(input: FailsafeCheckInput, past?: PullResumption): Promise<PullResult> {
  return runPull(input, past);
}

pinnedWhereVersioned(failsafeCheck);
