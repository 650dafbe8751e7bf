/** Rows of `retention_events`: each step of a disposal, with person, time and reason. Legal holds are in the same log. */
import { randomUUID } from 'node:crypto';
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import type { SqlDialect, SqlSession } from '../database/sql-session.ts';
import type { Authorization, DisposalScope, RetentionEvent } from '../retention.ts';
import { insertRow } from './inquiry-writes.ts';
import { isReview, ofOwner } from './owner-rows.ts';

interface EventRow {
  owner_id: string;
  product_code: ProductCode | null;
  kind: RetentionEvent['kind'];
  matter: string | null;
  recorded_by: string;
  reason: string;
  details: string | null;
  recorded_at: number;
}

/** Everything that was done under each id, as one log: disposals and legal holds. `row_key` makes its order total. */
export const RETENTION_LOG = `SELECT event_id AS row_key, owner_id, product_code, kind, NULL AS matter, recorded_by, reason,
    details, recorded_at FROM retention_events
  UNION ALL SELECT hold_id || ' ' || kind, owner_id, NULL, kind, matter, recorded_by, reason, NULL, recorded_at
    FROM legal_holds`;

/** A row of `retention_events`. */
type DisposalEvent = Omit<RetentionEvent, 'recordedAt' | 'matter'>;

/** Appends an event. Its time is later than that of the caller's other events, so that their order stays clear. */
export async function insertEvent(
  session: SqlSession,
  dialect: SqlDialect,
  { ownerId, productCode, kind, by, reason, details, run }: DisposalEvent,
): Promise<void> {
  await insertRow(
    session,
    'retention_events',
    {
      owner_id: ownerId,
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

/** When the first disposal of the owner was begun, in milliseconds; `null` where none was. */
export async function readDisposalOf(session: SqlSession, ownerId: string): Promise<number | null> {
  const [row] = await session.rows<{ begun_at: number | null }>(
    `SELECT min(recorded_at) AS begun_at FROM retention_events WHERE owner_id = $1 AND kind = 'disposalBegun'`,
    [ownerId],
  );
  return row?.begun_at ?? null;
}

/** The time of a new row of the log: later than the owner's other rows, whose id is `$1`. */
export function laterThanOthers({ now }: SqlDialect): string {
  const others = `SELECT max(recorded_at) + 1 FROM (${RETENTION_LOG}) log WHERE owner_id = $1`;
  return `(SELECT max(at) FROM (SELECT ${now} AS at UNION ALL ${others}) AS times)`;
}

export async function readEvents(session: SqlSession, ownerId: string): Promise<RetentionEvent[]> {
  const rows = await session.rows<EventRow>(
    `SELECT * FROM (${RETENTION_LOG}) log WHERE owner_id = $1 ORDER BY recorded_at, row_key`,
    [ownerId],
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
export async function readUnfinished(session: SqlSession): Promise<DisposalScope[]> {
  const rows = await session.rows<Pick<EventRow, 'owner_id' | 'product_code'>>(
    `SELECT DISTINCT b.owner_id, b.product_code FROM retention_events b
     WHERE b.kind = 'disposalBegun' AND NOT EXISTS (SELECT 1 FROM retention_events d
       WHERE d.owner_id = b.owner_id AND d.kind = 'disposed' AND d.recorded_at >= b.recorded_at
         AND coalesce(d.product_code, '') = coalesce(b.product_code, ''))
     ORDER BY b.owner_id, b.product_code`,
  );
  return rows.map(scopeOf);
}

/** When a scope's last disposal was begun and finished, in milliseconds. */
export async function readDisposalTimes(
  session: SqlSession,
  { ownerId, productCode }: DisposalScope,
): Promise<{ begunAtMs: number | null; disposedAtMs: number | null }> {
  const [row] = await session.rows<{ begun_at: number | null; disposed_at: number | null }>(
    `SELECT max(CASE WHEN kind = 'disposalBegun' THEN recorded_at END) AS begun_at,
       max(CASE WHEN kind = 'disposed' THEN recorded_at END) AS disposed_at
     FROM retention_events WHERE owner_id = $1 AND coalesce(product_code, '') = $2`,
    [ownerId, productCode ?? ''],
  );
  return { begunAtMs: row?.begun_at ?? null, disposedAtMs: row?.disposed_at ?? null };
}

/** The number of histories whose deletion from Temporal was begun, of an owner of runs (`ownerOfRuns`). */
export async function countDeletedHistories(session: SqlSession, ownerId: string): Promise<number> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT count(DISTINCT details) AS count FROM retention_events
     WHERE (owner_id = $1 ${isReview(ownerId) ? `OR ${ofOwner(ownerId)}` : ''}) AND kind = 'historyDeleted'`,
    [ownerId],
  );
  return row?.count ?? 0;
}

function scopeOf(row: Pick<EventRow, 'owner_id' | 'product_code'>): DisposalScope {
  return { ownerId: row.owner_id, ...(row.product_code === null ? {} : { productCode: row.product_code }) };
}

function authorizationOf(row: EventRow): Authorization {
  return { by: row.recorded_by, reason: row.reason };
}
