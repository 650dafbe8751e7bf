/** What a check is. */

import type { DoctorContext } from './context.ts';
import type { Finding } from './finding.ts';

export interface Check {
  /** Stable: `namespace`, or `token-service/<profile>`. */
  name: string;
  /** Variables that it cannot do without, by how their names begin: one that is wrong keeps it from being made. */
  needs: readonly string[];
  /** May throw: that is a failure too. Ends what it began when `signal` is aborted. */
  run(context: DoctorContext, signal: AbortSignal): Promise<Finding>;
}

export interface CheckResult extends Finding {
  check: string;
}
