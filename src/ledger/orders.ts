/**
 * Orders: what people decide about runs, about their data, or about the ledger as a whole. These are decisions about runs
 * (run-decisions.ts), disposals, legal holds, pauses, and older copies of the ledger that they accept. Each is a row with person, time and reason that nothing
 * changes. A pause or a legal hold is in force until another order ends it.
 */
import { randomUUID } from 'node:crypto';
import type { InsertChained } from './audit/audit-chain.ts';
import { hasMembers, type Members, type Place } from './database/rows.ts';
import type { SqlSession } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';

/** The person and the reason; kept in the ledger and readable there. */
export interface Authorization {
  by: string;
  reason: string;
}

export type OrderRow = Row<'orders'>;

/** A pause or a legal hold, and the order that has ended it. */
export type EndableOrder = OrderRow & { endedBy?: string; endedReason?: string; endedAt?: string };

type EndableKind = 'legalHoldSet' | 'pauseBegun';

/** The SQL condition on an order with this alias: it is of this kind, and no other order has ended it. */
export const isInForce = (alias: string, kind: EndableKind) =>
  `${alias}.kind = '${kind}' AND NOT EXISTS (SELECT 1 FROM orders e WHERE e.ends = ${alias}.order_id)`;

/** Reads pauses or legal holds with these members, the oldest first. By default those in force. */
export function readOrders(
  session: SqlSession,
  members: Members<OrderRow> & { kind: EndableKind },
  { withEnded = false } = {},
): Promise<EndableOrder[]> {
  const { sql, values } = hasMembers(members);
  return session.read(
    `SELECT o.*, e.by AS ended_by, e.reason AS ended_reason, e.recorded_at AS ended_at
     FROM (SELECT * FROM orders WHERE ${sql}) o LEFT JOIN orders e ON e.ends = o.order_id
     ${withEnded ? '' : 'WHERE e.order_id IS NULL'} ORDER BY o.recorded_at, o.order_id`,
    values,
  );
}

/** Appends an order. Its time is later than that of the run's other orders, so that their order stays clear. */
export async function appendOrder(
  session: SqlSession,
  insert: InsertChained,
  order: Partial<Row<'orders'>>,
): Promise<OrderRow> {
  const sql = (place: Place) => ({
    recorded_at: `(SELECT max(at) FROM (SELECT ${session.dialect.now} AS at
      UNION ALL SELECT max(recorded_at) + 1 FROM orders WHERE run_key = ${place(order.runKey ?? null)}) AS times)`,
  });
  return (await insert('orders', { ...order, orderId: randomUUID() }, { sql })) as OrderRow;
}
