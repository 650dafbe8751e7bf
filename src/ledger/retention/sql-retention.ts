/** The retention side of the ledger on any SQL engine: each method is one transaction. */
import { utcInstant } from '../../base/instants.ts';
import type { SqlEngine, WriteTo, Writing, Written } from '../database/sql-session.ts';
import type { LedgerIdentity } from '../port.ts';
import { readSeparateShares } from '../shares/shares.ts';
import { beginDisposal, dispose, readDisposalView, readOlderThan, recordDeletion } from './disposal.ts';
import type {
  AgePage,
  AgeQuery,
  Authorization,
  DisposalScope,
  DisposalVerdict,
  DisposalView,
  HoldAuthorization,
  LegalHold,
  Obstacle,
  ReleasedHold,
  Retention,
  RetentionEvent,
  SeparateShare,
  SetHold,
} from './retention.ts';
import {
  readDisposalOf,
  readEvents,
  readHolds,
  readUnfinished,
  releaseLegalHold,
  setLegalHold,
} from './retention-log.ts';

export class SqlRetention implements Retention {
  readonly #engine: SqlEngine;
  readonly #write: <T>(work: (writing: Writing) => Promise<Written<T>>) => Promise<T>;

  constructor(engine: SqlEngine, { ledgerId }: LedgerIdentity, write: WriteTo) {
    this.#engine = engine;
    // Another database may answer at the same address by now: nothing of it may be destroyed.
    this.#write = (work) => write(ledgerId, work);
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
    return this.#write(({ session, dialect }) => beginDisposal(session, dialect, scope, authorization));
  }

  recordDeletion(
    scope: DisposalScope,
    authorization: Authorization,
    run: NonNullable<RetentionEvent['run']>,
  ): Promise<Obstacle[]> {
    return this.#write(({ session, dialect }) => recordDeletion(session, dialect, { scope, authorization, run }));
  }

  dispose(scope: DisposalScope, authorization: Authorization, runs: number): Promise<DisposalVerdict> {
    return this.#write(({ session, dialect }) => dispose(session, dialect, { scope, authorization, runs }));
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

  setLegalHold(journeyId: string, authorization: HoldAuthorization): Promise<SetHold | null> {
    return this.#write((writing) => setLegalHold(writing, journeyId, authorization));
  }

  releaseLegalHold(journeyId: string, authorization: HoldAuthorization): Promise<ReleasedHold> {
    return this.#write((writing) => releaseLegalHold(writing, journeyId, authorization));
  }

  legalHolds(journeyId?: string): Promise<LegalHold[]> {
    return this.#engine.read((session) => readHolds(session, journeyId));
  }

  events(ownerId: string): Promise<RetentionEvent[]> {
    return this.#engine.read((session) => readEvents(session, ownerId));
  }
}
