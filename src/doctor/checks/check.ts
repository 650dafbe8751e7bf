/** The interface of a check. */

import type { DoctorContext } from './context.ts';
import type { Finding } from './finding.ts';

export interface Check {
  /** Stable: `namespace`, or `token-service/<profile>`. */
  name: string;
  /** Prefixes of the variables that it needs: where one of them is wrong, the check does not run. */
  needs: readonly string[];
  /** May throw: that is a failure too. Ends what it began when `signal` is aborted. */
  run(context: DoctorContext, signal: AbortSignal): Promise<Finding>;
}

export interface CheckResult extends Finding {
  check: string;
}
