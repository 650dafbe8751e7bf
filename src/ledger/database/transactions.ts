/**
 * Runs the functions of the ledger, each call in one transaction, and makes its methods of them. So a method is typed
 * and described once: where its function is.
 *
 * A version of the tables that brings a new fence records it (`oldest_writer`). A program that does not keep the fence
 * then writes only how its open attempts ended. docs/deploy.md, "Upgrading". The writing transaction reads the version
 * itself. A migration holds the tables alone, so it came before that transaction or comes after it.
 */
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { LedgerChangedError, LedgerUnavailableError, WriterTooOldError } from '../errors.ts';
import { iteratePages, type Page } from './pages.ts';
import { mayWrite, requireIdentity } from './schema.ts';
import { type Ending, LostRaceError, type SqlEngine, type Transaction, type Written } from './sql-session.ts';

/** A transaction that loses a race reads again, and then finds the winner's row. Losing twice would be unusual. */
const MAX_RACES = 3;

type Work<T> = (tx: Transaction) => Promise<T>;

// biome-ignore lint/suspicious/noExplicitAny: a function of any input is bound
type InTransaction = (tx: Transaction, ...input: any[]) => Promise<unknown>;
type Functions = Readonly<Record<string, InTransaction>>;

/** The methods that functions of one transaction become; `First` is what each takes before its input. */
type Methods<Fs, First extends unknown[] = []> = {
  [Name in keyof Fs]: Fs[Name] extends (tx: Transaction, ...input: infer Input) => Promise<infer Value>
    ? (...input: [...First, ...Input]) => Promise<Value extends Ending<infer Answer> ? Answer : Value>
    : never;
};

/** Lists, read in pages, so that a million rows are never in memory at once. Each page is one consistent view. */
type Lists<Fs> = {
  [Name in keyof Fs]: Fs[Name] extends (
    tx: Transaction,
    query: infer Query,
    ...after: never[]
  ) => Promise<Page<infer Item, unknown>>
    ? (query?: Query) => AsyncIterable<Item>
    : never;
};

export class Transactions {
  readonly engine: SqlEngine;
  readonly cipher: LedgerCipher;

  constructor(engine: SqlEngine, cipher: LedgerCipher) {
    this.engine = engine;
    this.cipher = cipher;
  }

  read<T>(work: Work<T>, isLong = false): Promise<T> {
    return this.engine.read((session) => work({ ...session, cipher: this.cipher }), isLong);
  }

  async *readPages<Item, Place>(
    readPage: (tx: Transaction, after: Place | undefined) => Promise<Page<Item, Place>>,
  ): AsyncGenerator<Item> {
    const pages = iteratePages((after: Place | undefined) => this.read((tx) => readPage(tx, after)));
    for await (const items of pages) yield* items;
  }

  /**
   * Writes in the ledger of this id, as programs of this version may. Claims and outcomes use `write`: they are judged by
   * their own rules. Reads the id from the database each time: another database may answer at the same
   * address by now.
   *
   * @throws LedgerChangedError, WriterTooOldError
   */
  writeTo<T>(ledgerId: string, work: Work<Written<T>>, isLong = false): Promise<T> {
    const checkAndWork = async (tx: Transaction) => {
      const identity = await requireIdentity(tx);
      if (!mayWrite(identity)) throw new WriterTooOldError();
      requireSameLedger(ledgerId, identity.ledgerId);
      return work(tx);
    };
    return this.write(checkAndWork, isLong);
  }

  /** Writes with any version of the program. */
  async write<T>(work: Work<Written<T>>, isLong = false): Promise<T> {
    for (let races = 0; races < MAX_RACES; races++) {
      try {
        return await this.engine.write((session) => work({ ...session, cipher: this.cipher }), isLong);
      } catch (error) {
        if (!(error instanceof LostRaceError)) throw error;
      }
    }
    throw new LedgerUnavailableError('other transactions kept the ledger busy each time');
  }

  bindReads<Fs extends Functions>(functions: Fs, isLong = false): Methods<Fs> {
    return bind(functions, (work, ...input) => this.read((tx) => work(tx, ...input), isLong));
  }

  /** Binds each function to the ledger with this id. It may change any number of rows. */
  bindLongWrites<Fs extends Functions>(functions: Fs, ledgerId: string): Methods<Fs> {
    return bind(functions, (work, ...input) => this.writeTo(ledgerId, (tx) => work(tx, ...input), true));
  }

  /** Each method takes the id of the expected ledger first. */
  bindWritesTo<Fs extends Functions>(functions: Fs): Methods<Fs, [ledgerId: string]> {
    return bind(functions, (work, ledgerId, ...input) => this.writeTo(ledgerId as string, (tx) => work(tx, ...input)));
  }

  bindLists<Fs extends Functions>(functions: Fs): Lists<Fs> {
    return bind(functions, (readPage, query = {}) =>
      this.readPages((tx, after) => readPage(tx, query, after) as Promise<Page<unknown, unknown>>),
    );
  }
}

/** Makes a method of each function. The caller's type says which. */
function bind<Bound>(functions: Functions, run: (work: InTransaction, ...input: unknown[]) => unknown): Bound {
  const methods = Object.entries(functions).map(([name, work]) => [name, (...input: unknown[]) => run(work, ...input)]);
  return Object.fromEntries(methods) as Bound;
}

/** @throws LedgerChangedError */
export function requireSameLedger(asked: string, found: string): void {
  if (asked !== found) throw new LedgerChangedError(`asked for ledger ${asked}, but this is ledger ${found}`);
}
