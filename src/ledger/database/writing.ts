/** The context of every statement that writes (types). */
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { SqlDialect, SqlSession, Written } from './sql-session.ts';

/** What every write needs: a session inside a transaction, the engine's fragments, the ledger's cipher. */
export interface Writing {
  session: SqlSession;
  dialect: SqlDialect;
  cipher: LedgerCipher;
}

/** One transaction in the ledger of this id. @throws LedgerChangedError */
export type WriteTo = <T>(ledgerId: string, work: (writing: Writing) => Promise<Written<T>>) => Promise<T>;
