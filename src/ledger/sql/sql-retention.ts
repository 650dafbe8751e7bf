/** The retention side of the ledger on any SQL engine: each method is one transaction. */

import { utcInstant } from '../../base/instants.ts';
import type { SqlEngine, SqlSession, Written } from '../database/sql-session.ts';
import { LedgerChangedError } from '../errors.ts';
import type { LedgerIdentity } from '../port.ts';
import type {
  AgePage,
  AgeQuery,
  Authorization,
  DisposalScope,
  DisposalVerdict,
  DisposalView,
  LegalHold,
  Retention,
  RetentionEvent,
  SeparateShare,
} from '../retention.ts';
import { beginDisposal, dispose, readDisposalView, readOlderThan } from '../rows/disposal.ts';
import { readHolds, releaseLegalHold, setLegalHold } from '../rows/legal-hold.ts';
import { readDisposalOf, readEvents, readUnfinished } from '../rows/retention-events.ts';
import { readSeparateShares } from '../rows/shares/report-shares.ts';

export class SqlRetention implements Retention {
  readonly #engine: SqlEngine;
  readonly #identity: LedgerIdentity;

  constructor(engine: SqlEngine, identity: LedgerIdentity) {
    this.#engine = engine;
    this.#identity = identity;
  }

  view(scope: DisposalScope): Promise<DisposalView> {
    return this.#engine.read((session) => readDisposalView(session, this.#engine.dialect, scope));
  }

  sharesOf(scope: DisposalScope): Promise<SeparateShare[]> {
    return this.#engine.read((session) => readSeparateShares(session, scope));
  }

  olderThan(query: AgeQuery): Promise<AgePage> {
    return this.#engine.read((session) => readOlderThan(session, this.#engine.dialect, query));
  }

  unfinished(): Promise<DisposalScope[]> {
    return this.#engine.read(readUnfinished);
  }

  begin(scope: DisposalScope, authorization: Authorization): Promise<DisposalVerdict> {
    return this.#write((session) => beginDisposal(session, this.#engine.dialect, scope, authorization));
  }

  dispose(scope: DisposalScope, authorization: Authorization, runs: number): Promise<DisposalVerdict> {
    return this.#write((session) => dispose(session, this.#engine.dialect, { scope, authorization, runs }));
  }

  scrub(): Promise<boolean> {
    return this.#engine.scrub();
  }

  disposalOf(ownerId: string): Promise<string | null> {
    return this.#engine.read(async (session) => {
      const begunAtMs = await readDisposalOf(session, ownerId);
      return begunAtMs === null ? null : utcInstant(begunAtMs);
    });
  }

  setLegalHold(journeyId: string, authorization: Authorization): Promise<(LegalHold & { isNew: boolean }) | null> {
    return this.#write((session) => setLegalHold(session, this.#engine.dialect, journeyId, authorization));
  }

  releaseLegalHold(journeyId: string, authorization: Authorization): Promise<boolean> {
    return this.#write((session) => releaseLegalHold(session, this.#engine.dialect, journeyId, authorization));
  }

  legalHolds(): Promise<LegalHold[]> {
    return this.#engine.read((session) => readHolds(session));
  }

  events(ownerId: string): Promise<RetentionEvent[]> {
    return this.#engine.read((session) => readEvents(session, ownerId));
  }

  /** Another database may answer at the same address by now: nothing of it may be destroyed. */
  #write<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#engine.write(async (session) => {
      const [row] = await session.rows<{ ledger_id: string }>('SELECT ledger_id FROM ledger_identity');
      const { ledgerId } = this.#identity;
      if (row?.ledger_id !== ledgerId) {
        throw new LedgerChangedError(`asked for ledger ${ledgerId}, but this is ledger ${row?.ledger_id ?? 'none'}`);
      }
      return work(session);
    });
  }
}
