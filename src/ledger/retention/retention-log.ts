/** The log of retention: each step of a disposal and each legal hold, with person, time and reason. */
import { randomUUID } from 'node:crypto';
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import { chaining } from '../audit/audit-chain.ts';
import {
  insertRow,
  placesOf,
  type SqlDialect,
  type SqlSession,
  type SqlValue,
  type Transaction,
  type Written,
} from '../database/sql-session.ts';
import { isReview, ofOwner, ownerOfRuns, reviewOfRow } from '../owners.ts';
import type {
  Authorization,
  DisposalScope,
  HoldAuthorization,
  LegalHold,
  ReleasedHold,
  RetentionEvent,
  SetHold,
} from './retention.ts';

interface EventRow {
  run_key: string;
  product_code: ProductCode | null;
  kind: RetentionEvent['kind'];
  matter: string | null;
  recorded_by: string;
  reason: string;
  details: string | null;
  recorded_at: number;
}

/** Everything that was done under each id, as one log: disposals and legal holds. `row_key` makes its order total. */
export const RETENTION_LOG = `SELECT event_id AS row_key, run_key, product_code, kind, NULL AS matter, recorded_by, reason,
    details, recorded_at FROM retention_events
  UNION ALL SELECT hold_id || ' ' || kind, run_key, NULL, kind, matter, recorded_by, reason, NULL, recorded_at
    FROM legal_holds`;

type DisposalEvent = Omit<RetentionEvent, 'recordedAt' | 'matter'>;

/** Appends an event. Its time is later than that of the caller's other events, so that their order stays clear. */
export async function insertEvent(
  session: SqlSession,
  dialect: SqlDialect,
  { runKey, productCode, kind, by, reason, details, run }: DisposalEvent,
): Promise<void> {
  await insertRow(
    session,
    'retention_events',
    {
      run_key: runKey,
      event_id: randomUUID(),
      product_code: productCode,
      kind,
      recorded_by: by,
      reason,
      details: JSON.stringify(details ?? run),
    },
    { sql: { recorded_at: laterThanOthers(dialect) } },
  );
}

/** When the disposal of something under this id began; `null` where there is none. */
export async function readDisposalOf({ session }: Transaction, runKey: string): Promise<string | null> {
  const [row] = await session.rows<{ begun_at: number | null }>(
    `SELECT min(recorded_at) AS begun_at FROM retention_events WHERE run_key = $1 AND kind = 'disposalBegun'`,
    [runKey],
  );
  return row === undefined || row.begun_at === null ? null : utcInstant(row.begun_at);
}

/** The time of a new row of the log: later than the owner's other rows, whose id is `$1`. */
export function laterThanOthers({ now }: SqlDialect): string {
  const others = `SELECT max(recorded_at) + 1 FROM (${RETENTION_LOG}) log WHERE run_key = $1`;
  return `(SELECT max(at) FROM (SELECT ${now} AS at UNION ALL ${others}) AS times)`;
}

/** Oldest first. */
export async function readEvents({ session }: Transaction, runKey: string): Promise<RetentionEvent[]> {
  const rows = await session.rows<EventRow>(
    `SELECT * FROM (${RETENTION_LOG}) log WHERE run_key = $1 ORDER BY recorded_at, row_key`,
    [runKey],
  );
  return rows.map(eventOf);
}

export function eventOf(row: EventRow): RetentionEvent {
  return {
    ...scopeOf(row),
    ...authorizationOf(row),
    kind: row.kind,
    recordedAt: utcInstant(row.recorded_at),
    ...(row.matter === null ? {} : { matter: row.matter }),
    ...(row.details === null ? {} : { [row.kind === 'historyDeleted' ? 'run' : 'details']: JSON.parse(row.details) }),
  };
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
  return rows.map(scopeOf);
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
    `SELECT count(DISTINCT details) AS count FROM retention_events
     WHERE (run_key = $1 ${isReview(runKey) ? `OR ${ofOwner(runKey)}` : ''}) AND kind = 'historyDeleted'`,
    [runKey],
  );
  return row?.count ?? 0;
}

function scopeOf(row: Pick<EventRow, 'run_key' | 'product_code'>): DisposalScope {
  return { runKey: row.run_key, ...(row.product_code === null ? {} : { productCode: row.product_code }) };
}

function authorizationOf(row: EventRow): Authorization {
  return { by: row.recorded_by, reason: row.reason };
}

// Rows of `legal_holds`: each hold, and its release. A hold in force prevents the disposal of what it covers.
//
// Setting a hold takes the lock of the chain's head. Each step of a disposal takes the same lock and then reads the
// holds, and so does each claim of a share. So a step either comes before the hold, which lists the destruction up to
// then, or finds the hold and is refused.

interface HoldRow {
  hold_id: string;
  run_key: string;
  matter: string;
  recorded_by: string;
  reason: string;
  recorded_at: number;
}

/** A hold `h` that is in force. */
export const HOLD_IN_FORCE = `h.kind = 'legalHoldSet' AND NOT EXISTS
  (SELECT 1 FROM legal_holds r WHERE r.hold_id = h.hold_id AND r.kind = 'legalHoldReleased')`;

/**
 * Reads the holds in force, the oldest first. With an id it reads those that cover the id or a part of it: holds on the
 * id itself, on its review, and on the rows of a review.
 */
export async function readHolds({ session }: Pick<Transaction, 'session'>, runKey?: string): Promise<LegalHold[]> {
  return (await readRows(session, runKey)).map(holdOf);
}

function readRows(session: SqlSession, runKey?: string): Promise<HoldRow[]> {
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
  const rows = held.length === 0 ? [] : await readInForce(session, `run_key IN (${placesOf(held)})`, held);
  const byScope = Map.groupBy(rows.map(holdOf), ({ journeyId }) => journeyId);
  return (runKey) => [...new Set([runKey, ownerOfRuns(runKey)])].flatMap((scope) => byScope.get(scope) ?? []);
}

function readInForce(session: SqlSession, condition: string, values: readonly SqlValue[]): Promise<HoldRow[]> {
  return session.rows<HoldRow>(
    `SELECT h.* FROM legal_holds h WHERE ${condition} AND ${HOLD_IN_FORCE} ORDER BY h.recorded_at, h.hold_id`,
    values,
  );
}

/**
 * Adds a hold, unless one of this matter is in force on this id. `null` where the ledger has no inquiry of the id that
 * could be held.
 */
export async function setLegalHold(
  tx: Transaction,
  journeyId: string,
  authorization: HoldAuthorization,
): Promise<Written<SetHold | null>> {
  const { session } = tx;
  let set: SetHold | null = null;
  let isNew = false;
  await chaining(tx, async (insert) => {
    const before = await readHolds(tx, journeyId);
    const isOwn = (hold: LegalHold) => hold.journeyId === journeyId && hold.matter === authorization.matter;
    let hold = before.find(isOwn);
    if (!hold) {
      if (!(await isAnythingLeft(session, journeyId))) return;
      const columns = holdColumns(`hold-${randomUUID()}`, 'legalHoldSet', journeyId, authorization);
      const row = await insert('legal_holds', columns, { recordedAt: laterThanOthers(tx.dialect) });
      hold = holdOf(row as unknown as HoldRow);
      isNew = true;
    }
    const others = before.filter((other) => !isOwn(other));
    set = { ...hold, isNew, others, destroyed: await countDestroyed(session, journeyId) };
  });
  return { keep: isNew, value: set };
}

/** Releases the hold of this matter on this id, and no other. */
export async function releaseLegalHold(
  tx: Transaction,
  journeyId: string,
  authorization: HoldAuthorization,
): Promise<Written<ReleasedHold>> {
  const { session } = tx;
  const result: ReleasedHold = { released: null, others: [] };
  await chaining(tx, async (insert) => {
    const rows = await readRows(session, journeyId);
    const own = rows.find((row) => row.run_key === journeyId && row.matter === authorization.matter);
    result.others = rows.filter((row) => row !== own).map(holdOf);
    if (!own) return;
    const columns = holdColumns(own.hold_id, 'legalHoldReleased', journeyId, authorization);
    await insert('legal_holds', columns, { recordedAt: laterThanOthers(tx.dialect) });
    result.released = holdOf(own);
  });
  return { keep: result.released !== null, value: result };
}

/** The owner comes first: `laterThanOthers` reads it as `$1`. */
function holdColumns(
  holdId: string,
  kind: 'legalHoldSet' | 'legalHoldReleased',
  journeyId: string,
  { matter, by, reason }: HoldAuthorization,
): Record<string, string> {
  return { run_key: journeyId, hold_id: holdId, kind, matter, recorded_by: by, reason };
}

/** Returns whether the ledger has an inquiry of the id that was not disposed of. An id that it does not know is a mistake. */
async function isAnythingLeft(session: SqlSession, runKey: string): Promise<boolean> {
  const found = await session.rows(`SELECT 1 FROM inquiries WHERE ${ofOwner(runKey)} AND disposed_at IS NULL LIMIT 1`, [
    runKey,
  ]);
  return found.length > 0;
}

async function countDestroyed(session: SqlSession, runKey: string): Promise<SetHold['destroyed']> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT count(*) AS count FROM inquiries WHERE ${ofOwner(runKey)} AND disposed_at IS NOT NULL`,
    [runKey],
  );
  return { inquiries: row?.count ?? 0, histories: await countDeletedHistories(session, ownerOfRuns(runKey)) };
}

function holdOf(row: HoldRow): LegalHold {
  return {
    journeyId: row.run_key,
    matter: row.matter,
    setAt: utcInstant(row.recorded_at),
    by: row.recorded_by,
    reason: row.reason,
  };
}
