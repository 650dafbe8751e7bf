/** "An older worker stops instead of writing without a newer fence": docs/deploy.md, "Upgrading". */
import type { Invariant } from './invariant.ts';

export const noClaimByOlderWriter: Invariant = {
  name: 'no worker of an older version claims once the ledger is migrated',
  judge({ ledger: { claimsSinceMigration } }) {
    if (!claimsSinceMigration) return { count: 0, failures: [], remark: 'no migration' };
    const failures = claimsSinceMigration
      .filter(({ keepsFence }) => !keepsFence)
      .map(
        ({ customerTraceNumber, attempt }) => `${customerTraceNumber} attempt ${attempt}: claimed without the fence`,
      );
    return { count: claimsSinceMigration.length, failures };
  },
};
