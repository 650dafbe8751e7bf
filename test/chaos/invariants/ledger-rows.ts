/** The ledger's own bookkeeping: the chain over decisions and consents. */
import type { Invariant } from './invariant.ts';

export const auditChain: Invariant = {
  name: "the ledger's audit chain verifies",
  judge: ({ ledger: { chain } }) => ({
    count: chain.entries,
    failures: chain.findings.map(({ kind, position }) => `entry ${position ?? '?'}: ${kind}`),
  }),
};
