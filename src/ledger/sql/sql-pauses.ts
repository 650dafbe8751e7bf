/** The pauses of the ledger on any SQL engine: each method is one transaction. */
import type { SqlEngine } from '../database/sql-session.ts';
import type { WriteTo } from '../database/writing.ts';
import type { Pause, PauseScope, Pauses, PauseVerdict, ResumeVerdict, WaitingInquiry } from '../pauses.ts';
import type { Authorization } from '../retention.ts';
import { beginPause, countInFlight, deleteWaiting, endPause, readPauses, readWaiting } from '../rows/pauses.ts';

export class SqlPauses implements Pauses {
  readonly #engine: SqlEngine;
  readonly #write: WriteTo;

  constructor(engine: SqlEngine, write: WriteTo) {
    this.#engine = engine;
    this.#write = write;
  }

  begin(ledgerId: string, scope: PauseScope, authorization: Authorization): Promise<PauseVerdict> {
    return this.#write(ledgerId, async (writing) => {
      const { pause, isNew } = await beginPause(writing, scope, authorization);
      const inFlight = await countInFlight(writing, scope);
      return { keep: isNew, value: { kind: isNew ? 'paused' : 'duplicate', pause, inFlight } };
    });
  }

  end(ledgerId: string, scope: PauseScope, authorization: Authorization): Promise<ResumeVerdict> {
    return this.#write(ledgerId, async (writing) => {
      const pause = await endPause(writing, scope, authorization);
      return { keep: pause !== null, value: pause ? { kind: 'resumed', pause } : { kind: 'notPaused' } };
    });
  }

  list(): Promise<Pause[]> {
    return this.#engine.read((session) => readPauses(session));
  }

  waiting(): Promise<WaitingInquiry[]> {
    return this.#engine.read(readWaiting);
  }

  async forget(ledgerId: string, inquiries: readonly WaitingInquiry[]): Promise<void> {
    await this.#write(ledgerId, async ({ session }) => {
      for (const inquiry of inquiries) await deleteWaiting(session, inquiry);
      return { keep: true, value: undefined };
    });
  }
}
