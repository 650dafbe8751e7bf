/**
 * Which programs may write. A version of the tables that brings a new fence says so (`oldest_writer`): a program that
 * does not keep it writes nothing more but how attempts ended that it has on the wire. docs/deploy.md, "Upgrading".
 *
 * Read in the transaction that writes: a migration has the tables to itself, so it was before that, or comes after it.
 */
import { WriterTooOldError } from '../errors.ts';
import { oldestWriterOf, SCHEMA_VERSION } from './schema.ts';
import type { SqlEngine, SqlSession, Written } from './sql-session.ts';

/** The same engine, whose transactions refuse to write where this program is too old for it. */
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
