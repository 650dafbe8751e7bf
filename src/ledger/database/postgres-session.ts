/**
 * One transaction's statements on a connection. Those that are issued without waiting for one another go to the server
 * in one round trip, in the order of their issue. Where one fails, the server skips the rest of its round trip.
 */
import pg from 'pg';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import { codeOf, LostRaceError, type SqlRow, type SqlSession, type SqlValue } from './sql-session.ts';

// SQLSTATE (PostgreSQL, appendix A).
const NOT_NULL_VIOLATION = '23502';
const UNIQUE_VIOLATION = '23505';
const INVALID_CATALOG_NAME = '3D000';
/**
 * Where PostgreSQL's own code waits for the synchronous standby. Who cancels the wait (`pg_cancel_backend`) has COMMIT
 * answered as done, and this routine warns that the standby may lack it. The warning's words are in any language.
 */
const STANDBY_WAIT = 'SyncRepWaitForLSN';

const REFUSALS: Readonly<Record<string, string>> = {
  '28000': 'refuses the user of LEDGER_URL, or where he connects from',
  '28P01': 'refuses the user or the password of LEDGER_URL',
  '42501': 'refuses its user a right: run `credit-journey setup` as its owner, then deploy/postgres/make-roles.sh',
};

interface Statement {
  text: string;
  values: readonly (SqlValue | undefined)[];
}

interface Waiting extends Statement {
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
}

export class PostgresSession implements SqlSession {
  readonly #client: pg.ClientBase;
  #waiting: Waiting[] = [];
  #isSending = false;
  #isOver = false;
  /** The server did not answer, or is gone: the connection takes no further statement. */
  #isBroken = false;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async rows<Row = SqlRow>(text: string, values: Statement['values'] = []): Promise<Row[]> {
    // What comes later would be no part of the transaction.
    if (this.#isOver) throw new LedgerUnavailableError('the transaction is over');
    const result = await this.#run(text, values);
    return result.rows as Row[];
  }

  /** Goes along with the first statements of the transaction, which fail where it fails. */
  begin(statements: readonly string[]): void {
    for (const statement of statements) this.#run(statement).catch(() => {});
  }

  /** Goes along with statements that are under way. Returns whether what they wrote stays. */
  async end(keep: boolean): Promise<boolean> {
    this.#isOver = true;
    let isOnStandby = true;
    const onNotice = ({ routine }: { routine: string | undefined }) => {
      if (routine === STANDBY_WAIT) isOnStandby = false;
    };
    this.#client.on('notice', onNotice);
    try {
      const { command } = await this.#run(keep ? 'COMMIT' : 'ROLLBACK');
      return command === 'COMMIT' && isOnStandby;
    } finally {
      this.#client.off('notice', onNotice);
    }
  }

  /** `false` where the connection is in an unknown state. */
  async rollBack(): Promise<boolean> {
    this.#isOver = true;
    if (this.#isBroken) return false;
    return this.#run('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  #run(text: string, values: Statement['values'] = []): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, values, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      this.#sendSoon();
    });
  }

  /** Once no promise has anything left to do: then nothing more comes before an answer. */
  #sendSoon(): void {
    process.nextTick(() => {
      const batch = this.#waiting.splice(0);
      this.#isSending = batch.length > 0;
      if (!this.#isSending) return;
      sent(this.#client, batch)
        .then(
          (results) => {
            for (const [index, { resolve }] of batch.entries()) resolve(results[index] as pg.QueryResult);
          },
          (error: unknown) => {
            this.#isBroken ||= !(error instanceof pg.DatabaseError);
            for (const { reject } of batch) reject(translated(error));
          },
        )
        .finally(() => this.#sendSoon());
    });
  }
}

function sent(client: pg.ClientBase, statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new Batch(statements, (error, results) => {
        if (error) reject(error);
        else resolve(Array.isArray(results) ? results : [results]);
      }),
    );
  });
}

/** The part of the driver's connection that its own queries use. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(statement: { text: string }): void;
  bind(values: { values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(): void;
  sync(): void;
}

/**
 * The extended protocol lets many statements precede one `Sync`; the driver's own query sends one. It does collect
 * many results.
 */
class Batch extends pg.Query {
  constructor(
    statements: readonly Statement[],
    callback: (error: Error | undefined, results: pg.QueryResult | pg.QueryResult[]) => void,
  ) {
    super({ text: '' }, callback);
    this.submit = (connection) => {
      const wire = connection as unknown as Wire;
      wire.stream.cork();
      try {
        for (const { text, values } of statements) {
          wire.parse({ text });
          wire.bind({ values: values.map(written) });
          wire.describe({ type: 'P' });
          wire.execute();
        }
        wire.sync();
      } finally {
        wire.stream.uncork();
      }
      return null;
    };
  }
}

function written(value: SqlValue | undefined): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}

/** The driver's own message and detail may quote values, and its address a password. Only its code is passed on. */
export function translated(error: unknown): Error {
  const code = codeOf(error);
  if (code === UNIQUE_VIOLATION) return new LostRaceError('lost');
  // As in `insertAttempt`.
  if (code === NOT_NULL_VIOLATION && (error as pg.DatabaseError).column === 'claimed_at') {
    return new LostRaceError('a pause came first');
  }
  if (code === INVALID_CATALOG_NAME) return new LedgerNotFoundError('the server has no database of that name');
  const what = REFUSALS[code] ?? 'did not answer or refused';
  return new LedgerUnavailableError(`the ledger's database ${what} (${code})`);
}
