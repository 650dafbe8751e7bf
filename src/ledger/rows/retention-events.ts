/** Rows of `retention_events`: each disposal and hold, with person, time and reason. */
import { randomUUID } from 'node:crypto';
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import type { SqlDialect, SqlSession } from '../database/sql-session.ts';
import type { Authorization, DisposalScope, RetentionEvent } from '../retention.ts';
import { insertRow } from './inquiry-writes.ts';

interface EventRow {
  owner_id: string;
  product_code: ProductCode | null;
  kind: RetentionEvent['kind'];
  recorded_by: string;
  reason: string;
  details: string | null;
  recorded_at: number;
}

/** Appends an event. Its time is later than that of the caller's other events, so that their order stays clear. */
export async function insertEvent(
  session: SqlSession,
  dialect: SqlDialect,
  { ownerId, productCode, kind, by, reason, details }: Omit<RetentionEvent, 'recordedAt'>,
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
      details: details && JSON.stringify(details),
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

function laterThanOthers({ now }: SqlDialect): string {
  const others = 'SELECT max(recorded_at) + 1 FROM retention_events WHERE owner_id = $1';
  return `(SELECT max(at) FROM (SELECT ${now} AS at UNION ALL ${others}) AS times)`;
}

export async function readEvents(session: SqlSession, ownerId: string): Promise<RetentionEvent[]> {
  const rows = await session.rows<EventRow>('SELECT * FROM retention_events WHERE owner_id = $1 ORDER BY recorded_at', [
    ownerId,
  ]);
  return rows.map(eventOf);
}

export function eventOf(row: EventRow): RetentionEvent {
  return {
    ...scopeOf(row),
    ...authorizationOf(row),
    kind: row.kind,
    recordedAt: utcInstant(row.recorded_at),
    ...(row.details === null ? {} : { details: JSON.parse(row.details) }),
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

function scopeOf(row: Pick<EventRow, 'owner_id' | 'product_code'>): DisposalScope {
  return { ownerId: row.owner_id, ...(row.product_code === null ? {} : { productCode: row.product_code }) };
}

function authorizationOf(row: EventRow): Authorization {
  return { by: row.recorded_by, reason: row.reason };
}
