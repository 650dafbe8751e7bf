/**
 * The port to a database: everything that the ledger's logic needs. Statements are written once, in the SQL that SQLite
 * and PostgreSQL share, with `$1` for values. An engine supplies the few fragments in which the two differ.
 */
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';

export type SqlValue = string | number | Uint8Array | null;

/** `bigint` columns arrive as numbers: the ledger's largest are milliseconds since the epoch. */
export type SqlRow = Record<string, unknown>;

export interface SqlSession {
  readonly dialect: SqlDialect;
  /**
   * Runs one statement and returns its rows as the database has them. Statements are executed in the order in which they
   * are issued, and only a wait between them costs a round trip. Throws only errors that the engine has translated.
   */
  rows<Row = SqlRow>(text: string, values?: readonly (SqlValue | undefined)[]): Promise<Row[]>;
  /** Does the same, and returns each row as an object (`Row` in tables.ts, rows.ts). */
  read<Row>(text: string, values?: readonly (SqlValue | undefined)[]): Promise<Row[]>;
}

export interface SqlDialect {
  /** The database's clock at this statement, in milliseconds since the epoch. */
  readonly now: string;
  /** After a SELECT: keeps other writers of the row out until the transaction ends. */
  readonly forUpdate: string;
  /** The type of a text column, which orders texts by their bytes. */
  readonly textType: string;
  /** All columns of all tables: `name` is `table.column`, and `is_required` is 1 where it takes no NULL. */
  readonly columns: string;
  /** Statements that must have run once before the triggers below. */
  readonly triggerPrelude: readonly string[];
  /** A trigger that refuses the event on rows of the table: `DELETE`, `UPDATE` or `UPDATE OF` some columns. */
  refuse(table: string, event: string, when?: string): string;
}

/** The answer of work in a transaction, whose writes stay, or a special end of it. */
export type Written<T> = T | Ending<T>;

/**
 * Ends a transaction in another way. With `keep: false` the engine rolls it back. If the answer is a promise, its
 * statements were issued already: the engine sends the commit right behind them and does not wait for the answer.
 */
export class Ending<T> {
  readonly keep: boolean;
  readonly answer: Promise<T>;

  constructor(keep: boolean, answer: T | Promise<T>) {
    this.keep = keep;
    this.answer = Promise.resolve(answer);
  }

  static of<T>(written: Written<T>): Ending<T> {
    return written instanceof Ending ? written : new Ending(true, written);
  }
}

/** Ends a transaction with this answer: nothing that it wrote stays. */
export function rollBack<T>(answer: T): Ending<T> {
  return new Ending(false, answer);
}

export interface SqlEngine {
  /**
   * A consistent view; writes nothing.
   *
   * @param isLong its statements may take minutes, here and in `write`: they read or change any number of rows
   */
  read<T>(work: (session: SqlSession) => Promise<T>, isLong?: boolean): Promise<T>;
  /**
   * One transaction. Resolves only after the database has confirmed the commit, unless its work was undone.
   *
   * @throws LedgerUnavailableError on any failure of the database, a commit without an answer included
   * @throws LostRaceError where another transaction took a unique key: nothing was written, read again
   */
  write<T>(work: (session: SqlSession) => Promise<Written<T>>, isLong?: boolean): Promise<T>;
  /**
   * One transaction that may change the tables. It runs alone among all writers, without a time limit.
   *
   * @throws LedgerUnavailableError on any failure, also where others held the tables
   */
  migrate<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T>;
  /**
   * Removes overwritten data from the engine's files, as far as it can. `false` where another session prevented it, or
   * a right was missing.
   */
  scrub(): Promise<boolean>;
  close(): Promise<void>;
}

/** Thrown when another transaction took a unique key first: this one wrote nothing. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

/** The context of a function that seals or opens anything: an open transaction, and the ledger's cipher. */
export interface Transaction extends SqlSession {
  readonly cipher: LedgerCipher;
}
