/**
 * Orders: what people decide about the data of runs, or about the ledger as a whole. These are disposals, legal holds,
 * pauses, and older copies of the ledger that they accept. Each is a row with person, time and reason that nothing
 * changes. A pause or a legal hold is in force until another order ends it.
 */
import { randomUUID } from 'node:crypto';
import type { InsertChained } from './audit/audit-chain.ts';
import type { Writes } from './database/columns.ts';
import type { Place } from './database/rows.ts';
import type { Unsealed } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';

/** The person and the reason; kept in the ledger and readable there. */
export interface Authorization {
  by: string;
  reason: string;
}

export type OrderRow = Row<'orders'>;

/** The SQL condition on an order with this alias: it is of this kind, and no other order has ended it. */
export const isInForce = (alias: string, kind: 'legalHoldSet' | 'pauseBegun') =>
  `${alias}.kind = '${kind}' AND NOT EXISTS (SELECT 1 FROM orders e WHERE e.ends = ${alias}.order_id)`;

/** Appends an order. Its time is later than that of the run's other orders, so that their order stays clear. */
export async function appendOrder(
  { dialect }: Unsealed,
  insert: InsertChained,
  order: Writes<Row<'orders'>>,
): Promise<OrderRow> {
  const others = (runKey: string) => `SELECT max(recorded_at) + 1 FROM orders WHERE run_key = ${runKey}`;
  const sql = (place: Place) => ({
    recorded_at: `(SELECT max(at) FROM (SELECT ${dialect.now} AS at UNION ALL ${others(place(order.runKey ?? null))}) AS times)`,
  });
  return (await insert('orders', { ...order, orderId: randomUUID() }, { sql })) as OrderRow;
}
