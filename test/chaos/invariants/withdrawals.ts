/** "A share that was withdrawn is never sent", derived from docs/journeys.md and not from the code. */
import type { Invariant } from './invariant.ts';

/** Known not to have been processed by the gateway. */
const NOTHING_SENT: readonly string[] = ['notSent', 'notProcessed'];

export const withdrawnShares: Invariant = {
  name: 'no share is sent that was withdrawn, and every withdrawal that was answered as recorded is kept',
  judge({ ledger, sandbox, withdrawalsSent }) {
    const failures: string[] = [];
    for (const { runKey, shareId, recordedAtMs } of ledger.withdrawnShares) {
      const traces = ledger.inquiries.filter((one) => one.runKey === runKey && one.shareId === shareId);
      for (const { customerTraceNumber } of traces) {
        const name = `${runKey} share ${shareId}`;
        for (const one of ledger.attempts.filter((each) => each.customerTraceNumber === customerTraceNumber)) {
          if (one.claimedAtMs > recordedAtMs) failures.push(`${name}: attempt ${one.attempt} was claimed afterwards`);
          if (!NOTHING_SENT.includes(one.state)) failures.push(`${name}: attempt ${one.attempt} is ${one.state}`);
        }
        if (sandbox.postings.some((posting) => posting.customerTraceNumber === customerTraceNumber)) {
          failures.push(`${name}: the gateway has posted it`);
        }
      }
    }
    const kept = new Set(ledger.withdrawnShares.map(({ runKey, shareId }) => `${runKey} ${shareId}`));
    for (const { runKey, shareId, isAcknowledged } of withdrawalsSent) {
      const name = `${runKey} ${shareId}`;
      if (isAcknowledged && !kept.has(name)) failures.push(`${name}: answered as recorded, and is not in the ledger`);
    }
    return { count: ledger.withdrawnShares.length, failures };
  },
};
