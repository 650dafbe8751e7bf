/** The context of every statement that writes (types). */
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { SqlDialect, SqlSession } from './sql-session.ts';

/** What every write needs: a session inside a transaction, the engine's fragments, the ledger's cipher. */
export interface Writing {
  session: SqlSession;
  dialect: SqlDialect;
  cipher: LedgerCipher;
}
