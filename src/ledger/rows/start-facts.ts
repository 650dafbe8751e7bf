/** What a run that begins asks the ledger, in one transaction. */
import { utcInstant } from '../../base/instants.ts';
import type { SqlSession } from '../database/sql-session.ts';
import type { StartFacts } from '../records.ts';
import { readRestore } from './restores.ts';
import { readDisposalOf } from './retention-events.ts';
import { openOfOwner } from './work-statements.ts';

export async function readStartFacts(session: SqlSession, ownerId: string): Promise<StartFacts> {
  const work = openOfOwner(ownerId);
  const [disposedAt, { newest }, consents, open] = await Promise.all([
    readDisposalOf(session, ownerId),
    readRestore(session),
    session.rows('SELECT 1 FROM consents WHERE journey_id = $1 LIMIT 1', [ownerId]),
    session.rows(work.text, work.values),
  ]);
  return {
    hasConsents: consents.length > 0,
    hasOpenWork: open.length > 0,
    ...(disposedAt === null ? {} : { disposedAt: utcInstant(disposedAt) }),
    ...(newest ? { newest } : {}),
  };
}
