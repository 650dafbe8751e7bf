/** A child process that claims forty attempts as fast as it can, and sends its parent those that it claimed. */
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { claimOf } from './fixtures.ts';

const [url = '', ringFile = '', name = ''] = process.argv.slice(2);
const ledger = await openLedger({ url, environment: 'sandbox', keyRing: await loadKeyRing(ringFile) });
const claimed: string[] = [];
for (let index = 0; index < 40; index++) {
  const customerTraceNumber = `PQPROCESS${index}`;
  const request = claimOf(ledger, { inquiry: { customerTraceNumber }, run: { workflowId: 'w', runId: name } });
  const verdict = await untilAvailable(() => ledger.claim(request));
  if (verdict.kind === 'claimed') claimed.push(customerTraceNumber);
}
await ledger.close();
process.send?.(claimed);
process.disconnect?.();

async function untilAvailable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
  }
}
