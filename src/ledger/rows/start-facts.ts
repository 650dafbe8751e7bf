/** What a run that begins asks the ledger, in one transaction. */
import { utcInstant } from '../../base/instants.ts';
import type { SqlSession } from '../database/sql-session.ts';
import type { StartFacts } from '../records.ts';
import { readRestore } from './restores.ts';
import { readDisposalOf } from './retention-events.ts';

export async function readStartFacts(session: SqlSession, ownerId: string): Promise<StartFacts> {
  const [disposedAt, { newest }, consents] = await Promise.all([
    readDisposalOf(session, ownerId),
    readRestore(session),
    session.rows('SELECT 1 FROM consents WHERE journey_id = $1 LIMIT 1', [ownerId]),
  ]);
  return {
    hasConsents: consents.length > 0,
    ...(disposedAt === null ? {} : { disposedAt: utcInstant(disposedAt) }),
    ...(newest ? { newest } : {}),
  };
}
