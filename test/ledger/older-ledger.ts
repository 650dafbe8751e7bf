/** Makes a ledger as an older version of the code made it, with rows that are written as that version wrote them. */
import { newLedgerSecret, openLedgerSecret } from '../../src/ledger/database/ledger-secret.ts';
import { migrate } from '../../src/ledger/database/schema.ts';
import type { SqlSession } from '../../src/ledger/database/sql-session.ts';
import { openEngine } from '../../src/ledger/sql/open-ledger.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { LedgerCipher } from '../../src/protection/sealed/sealing.ts';

/** Its id is `ledger-old`; it belongs to the sandbox. */
export async function makeLedgerAt(
  version: number,
  { url, ring }: { url: string; ring: KeyRing },
  write: (session: SqlSession, cipher: LedgerCipher) => Promise<void>,
): Promise<void> {
  const engine = await openEngine({ url, create: true });
  const secret = await newLedgerSecret(ring, 'ledger-old');
  const cipher = new LedgerCipher('ledger-old', await openLedgerSecret(ring, 'ledger-old', secret));
  await engine.write(async (session) => {
    await migrate(session, engine.dialect, 0, version);
    await session.rows(
      `INSERT INTO ledger_identity (only_row, ledger_id, environment, created_at, secret_key_id, secret_wrapped)
       VALUES (1, 'ledger-old', 'sandbox', 0, $1, $2)`,
      [secret.keyId, secret.bytes],
    );
    await write(session, cipher);
    return { keep: true, value: undefined };
  });
  await engine.close();
}
