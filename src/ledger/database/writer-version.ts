/**
 * Decides which programs may write. A version of the tables that brings a new fence records it (`oldest_writer`). A
 * program that does not keep the fence then writes only how its open attempts ended. docs/deploy.md, "Upgrading".
 *
 * The writing transaction reads the version itself. A migration holds the tables alone, so it came before that
 * transaction or comes after it.
 */
import { WriterTooOldError } from '../errors.ts';
import { oldestWriterOf, SCHEMA_VERSION } from './schema.ts';
import type { SqlEngine, SqlSession, Written } from './sql-session.ts';

/** The same engine, whose transactions refuse to write where this program is too old for the ledger. */
export function currentWriter(engine: SqlEngine): SqlEngine {
  return {
    dialect: engine.dialect,
    read: (work) => engine.read(work),
    write: (work) => engine.write((session) => checked(session, work)),
    migrate: (tables, work, onWait) => engine.migrate(tables, work, onWait),
    scrub: () => engine.scrub(),
    close: () => engine.close(),
  };
}

async function checked<T>(
  session: SqlSession,
  work: (session: SqlSession) => Promise<Written<T>>,
): Promise<Written<T>> {
  if ((await oldestWriterOf(session)) > SCHEMA_VERSION) throw new WriterTooOldError();
  return work(session);
}
