/** A child process that claims a thousand attempts concurrently, and sends its parent the answers. */
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { claimOf } from './fixtures.ts';

const [url = '', ringFile = ''] = process.argv.slice(2);
const ledger = await openLedger({ url, environment: 'sandbox', keyRing: await loadKeyRing(ringFile) });
const answers: string[] = [];
const claims = Array.from({ length: 1000 }, async (_, index) => {
  const inquiry = { customerTraceNumber: `PQCUT${index}A` };
  const answer = await ledger.claim(claimOf(ledger, { inquiry })).then(
    ({ kind }) => kind,
    (error: Error) => error.name,
  );
  answers[index] = answer;
});
await Promise.all(claims);
process.send?.(answers);
process.disconnect?.();
