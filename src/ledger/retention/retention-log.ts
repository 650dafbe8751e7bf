/** The log of retention: each step of a disposal and each legal hold, with person, time and reason. */
import { randomUUID } from 'node:crypto';
import { utcInstant } from '../../base/instants.ts';
import { chaining, type InsertChained } from '../audit/audit-chain.ts';
import type { FieldsToWrite } from '../database/columns.ts';
import { type Place, toFields } from '../database/rows.ts';
import {
  listPlaceholders,
  type SqlSession,
  type SqlValue,
  type Transaction,
  type Unsealed,
} from '../database/sql-session.ts';
import type { RawRow as Row } from '../database/tables.ts';
import { isReview, ofOwner, ownerOfRuns, reviewOfRow } from '../owners.ts';
import type { DisposalScope, HoldAuthorization, LegalHold, Obstacle } from './retention.ts';

type EventRow = Row<'retention_events'>;

/** Appends an event. Its time is later than that of the caller's other events, so that their order stays clear. */
export async function appendEvent(
  { dialect }: Unsealed,
  insert: InsertChained,
  event: FieldsToWrite<EventRow> & { runKey: string },
): Promise<EventRow> {
  const others = (runKey: string) => `SELECT max(recorded_at) + 1 FROM retention_events WHERE run_key = ${runKey}`;
  const recordedAt = (place: Place) =>
    `(SELECT max(at) FROM (SELECT ${dialect.now} AS at UNION ALL ${others(place(event.runKey))}) AS times)`;
  return (await insert('retention_events', { ...event, eventId: randomUUID() }, { recordedAt })) as EventRow;
}

/** When the disposal of something under this id began; `null` where there is none. */
export async function readDisposal({ session }: Transaction, runKey: string): Promise<string | null> {
  const [row] = await session.rows<{ begun_at: number | null }>(
    `SELECT min(recorded_at) AS begun_at FROM retention_events WHERE run_key = $1 AND kind = 'disposalBegun'`,
    [runKey],
  );
  return row === undefined || row.begun_at === null ? null : utcInstant(row.begun_at);
}

/** Scopes whose last disposal was begun and not finished. */
export async function readUnfinished({ session }: Transaction): Promise<DisposalScope[]> {
  const rows = await session.rows<Pick<EventRow, 'run_key' | 'product_code'>>(
    `SELECT DISTINCT b.run_key, b.product_code FROM retention_events b
     WHERE b.kind = 'disposalBegun' AND NOT EXISTS (SELECT 1 FROM retention_events d
       WHERE d.run_key = b.run_key AND d.kind = 'disposed' AND d.recorded_at >= b.recorded_at
         AND coalesce(d.product_code, '') = coalesce(b.product_code, ''))
     ORDER BY b.run_key, b.product_code`,
  );
  return rows.map((row) => toFields(row));
}

/** When a scope's last disposal was begun and finished, in milliseconds. */
export async function readDisposalTimes(
  session: SqlSession,
  { runKey, productCode }: DisposalScope,
): Promise<{ begunAtMs: number | null; disposedAtMs: number | null }> {
  const [row] = await session.rows<{ begun_at: number | null; disposed_at: number | null }>(
    `SELECT max(CASE WHEN kind = 'disposalBegun' THEN recorded_at END) AS begun_at,
       max(CASE WHEN kind = 'disposed' THEN recorded_at END) AS disposed_at
     FROM retention_events WHERE run_key = $1 AND coalesce(product_code, '') = $2`,
    [runKey, productCode ?? ''],
  );
  return { begunAtMs: row?.begun_at ?? null, disposedAtMs: row?.disposed_at ?? null };
}

/** The number of histories whose deletion from Temporal was begun, of an owner of runs (`ownerOfRuns`). */
export async function countDeletedHistories(session: SqlSession, runKey: string): Promise<number> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT count(DISTINCT run) AS count FROM retention_events
     WHERE (run_key = $1 ${isReview(runKey) ? `OR ${ofOwner(runKey)}` : ''}) AND kind = 'historyDeleted'`,
    [runKey],
  );
  return row?.count ?? 0;
}

// Legal holds: each hold is an event, and its release another. A hold in force prevents the disposal of what it covers.
//
// Setting a hold takes the lock of the chain's head. Each step of a disposal takes the same lock and then reads the
// holds, and so does each claim of a share. So a step either comes before the hold, which lists the destruction up to
// then, or finds the hold and is refused.

/** A hold `h` that is in force. */
export const HOLD_IN_FORCE = `h.kind = 'legalHoldSet' AND NOT EXISTS
  (SELECT 1 FROM retention_events r WHERE r.hold_id = h.hold_id AND r.kind = 'legalHoldReleased')`;

/**
 * Reads the holds in force, the oldest first. With an id it reads those that cover the id or a part of it: holds on the
 * id itself, on its review, and on the rows of a review.
 */
export async function readHolds({ session }: Pick<Transaction, 'session'>, runKey?: string): Promise<LegalHold[]> {
  return (await readRows(session, runKey)).map(toLegalHold);
}

function readRows(session: SqlSession, runKey?: string): Promise<EventRow[]> {
  if (runKey === undefined) return readInForce(session, '1 = 1', []);
  const review = reviewOfRow(runKey);
  if (review !== null) return readInForce(session, 'run_key IN ($1, $2)', [runKey, review]);
  return readInForce(session, `(run_key = $1 ${isReview(runKey) ? `OR ${ofOwner(runKey)}` : ''})`, [runKey]);
}

/** Reads the holds that cover the owner of each inquiry of a list. */
export async function readHoldsByOwner(
  session: SqlSession,
  inquiries: readonly { run_key: string }[],
): Promise<(runKey: string) => LegalHold[]> {
  const ids = inquiries.flatMap(({ run_key }) => [run_key, ownerOfRuns(run_key)]);
  const held = [...new Set(ids)];
  const rows = held.length === 0 ? [] : await readInForce(session, `run_key IN (${listPlaceholders(held)})`, held);
  const byScope = Map.groupBy(rows.map(toLegalHold), ({ runKey }) => runKey);
  return (runKey) => [...new Set([runKey, ownerOfRuns(runKey)])].flatMap((scope) => byScope.get(scope) ?? []);
}

function readInForce(session: SqlSession, condition: string, values: readonly SqlValue[]): Promise<EventRow[]> {
  return session.rows<EventRow>(
    `SELECT h.* FROM retention_events h WHERE ${condition} AND ${HOLD_IN_FORCE} ORDER BY h.recorded_at, h.event_id`,
    values,
  );
}

/**
 * Takes a step of a disposal, unless a legal hold forbids it. Returns those that do. A hold covers the whole owner, also
 * where the step is about one product. Until the commit no hold can be set.
 */
export function unlessHeld(
  tx: Transaction,
  runKey: string,
  step: (insert: InsertChained) => Promise<void>,
): Promise<Obstacle[]> {
  return chaining(tx, async (insert) => {
    const obstacles = (await readHolds(tx, runKey)).map(toObstacle);
    if (obstacles.length === 0) await step(insert);
    return obstacles;
  });
}

export function toObstacle(hold: LegalHold): Obstacle {
  return { reason: 'legalHold', hold };
}

/**
 * Adds a hold, unless one of this matter is in force on this id. `null` where the ledger has no inquiry of the id that
 * could be held.
 */
export function setLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  const { session } = tx;
  return chaining(tx, async (insert) => {
    const before = await readHolds(tx, runKey);
    const isOwn = (hold: LegalHold) => hold.runKey === runKey && hold.matter === authorization.matter;
    let hold = before.find(isOwn);
    const isNew = hold === undefined;
    if (!hold) {
      if (!(await isAnythingLeft(session, runKey))) return null;
      const holdId = `hold-${randomUUID()}`;
      const event = { runKey, kind: 'legalHoldSet', holdId, ...authorization } as const;
      hold = toLegalHold(await appendEvent(tx, insert, event));
    }
    const others = before.filter((other) => !isOwn(other));
    return { ...hold, isNew, others, destroyed: await countDestroyed(session, runKey) };
  });
}

/** Releases the hold of this matter on this id, and no other. */
export function releaseLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return chaining(tx, async (insert) => {
    const rows = await readRows(tx.session, runKey);
    const own = rows.find((row) => row.run_key === runKey && row.matter === authorization.matter);
    const others = rows.filter((row) => row !== own).map(toLegalHold);
    if (!own) return { released: null, others };
    const end = { runKey, kind: 'legalHoldReleased', ...toFields(own, ['hold_id']) } as const;
    await appendEvent(tx, insert, { ...end, ...authorization });
    return { released: toLegalHold(own), others };
  });
}

/** Returns whether the ledger has an inquiry of the id that was not disposed of. An id that it does not know is a mistake. */
async function isAnythingLeft(session: SqlSession, runKey: string): Promise<boolean> {
  const left = `SELECT 1 FROM inquiries WHERE ${ofOwner(runKey)} AND disposed_at IS NULL LIMIT 1`;
  return (await session.rows(left, [runKey])).length > 0;
}

async function countDestroyed(session: SqlSession, runKey: string): Promise<{ inquiries: number; histories: number }> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT count(*) AS count FROM inquiries WHERE ${ofOwner(runKey)} AND disposed_at IS NOT NULL`,
    [runKey],
  );
  return { inquiries: row?.count ?? 0, histories: await countDeletedHistories(session, ownerOfRuns(runKey)) };
}

function toLegalHold(row: EventRow): LegalHold {
  return {
    runKey: row.run_key,
    matter: row.matter ?? '',
    setAt: utcInstant(row.recorded_at),
    by: row.by,
    reason: row.reason,
  };
}
