/**
 * A process of its own that claims sixty attempts at once. It tells its parent which claims were answered, and whether
 * its log was still waiting for the disk. `held`: no sync ever ends.
 */
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { claimOf } from './fixtures.ts';
import { aroundSyncs } from './held-syncs.ts';

const [url = '', ringFile = '', mode = ''] = process.argv.slice(2);
const ledger = await openLedger({ url, environment: 'sandbox', keyRing: await loadKeyRing(ringFile) });
const answers: string[] = [];
if (mode === 'held') {
  await aroundSyncs((syncsOf) => {
    syncsOf.datasync = () => {
      setImmediate(() => process.send?.({ answers, isWaiting: true }));
      // A timer, so that the process stays.
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    };
  });
}
const claims = Array.from({ length: 60 }, async (_, index) => {
  const inquiry = { customerTraceNumber: `PQCUT${index}` };
  const answer = await ledger.claim(claimOf(ledger, { inquiry })).then(
    ({ kind }) => kind,
    (error: Error) => error.name,
  );
  answers[index] = answer;
});
await Promise.all(claims);
process.send?.({ answers, isWaiting: false });
process.disconnect?.();
