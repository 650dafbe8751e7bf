/**
 * Orders: what people decide about runs, about their data, or about the ledger as a whole. These are decisions about runs,
 * disposals, legal holds, pauses, and older copies of the ledger that they accept. Each is a row with person, time and reason that nothing
 * changes. A pause or a legal hold is in force until another order ends it.
 */
import { randomUUID } from 'node:crypto';
import { pick } from '../base/defined.ts';
import { findDifferingPaths } from '../base/differing-paths.ts';
import { appendToChain, type InsertChained } from './audit/audit-chain.ts';
import { hasMembers, isIn, type Members, type Place, readRows } from './database/rows.ts';
import type { SqlSession, Transaction } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';
import { toClaimOwners } from './owners.ts';
import type { EndingMessage, RunDecision, RunWithdrawal } from './records.ts';

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

/**
 * Appends an order. Its time is later than that of the run's other orders, or of those about no run, and than the attempts
 * that they name: their order stays clear also where a clock was set back. One with an `orderId` is written once.
 */
export async function appendOrder(session: SqlSession, insert: InsertChained, order: Partial<Row<'orders'>>) {
  const { runKey, orderId } = order;
  const sql = (place: Place) => {
    const others = `FROM orders WHERE run_key ${runKey === undefined ? 'IS NULL' : `= ${place(runKey)}`}`;
    const times = [`${session.dialect.now} AS at`, `max(recorded_at) + 1 ${others}`, `max(claimed_at) + 1 ${others}`];
    return { recorded_at: `(SELECT max(at) FROM (SELECT ${times.join(' UNION ALL SELECT ')}) AS times)` };
  };
  const options = { sql, orKeep: orderId !== undefined };
  return (await insert('orders', { orderId: randomUUID(), ...order }, options)) as OrderRow;
}

// Decisions about runs have the id of a decision, and permit nothing. A claim reads whether its run was withdrawn.
//
// A withdrawal takes the lock of the counter of attempts, as a pause does (pauses.ts). So each claim either comes before
// the withdrawal, and counts as in flight, or finds it.

/** The members that tell two decisions under one id apart: a repeated message may come at another time. */
const CONTENT = ['kind', 'stage', 'shareId', 'customerTraceNumber', 'until', 'by', 'reason'] as const;

/**
 * Append-only, idempotent by (runKey, decisionId) and content: other content under the same key is kept beside the
 * first, since a run that was reset takes the same message again.
 */
export async function recordRunDecisions(tx: Transaction, decisions: readonly RunDecision[]): Promise<void> {
  await appendToChain(tx, async (insert) => {
    for (const { action: kind, ...decision } of decisions) {
      const order = { ...decision, kind };
      const standing = await readRows(tx, 'orders', pick(decision, ['runKey', 'decisionId']));
      if (standing.some((row) => CONTENT.every((name) => row[name] === order[name]))) continue;
      await appendOrder(tx, insert, order);
    }
  });
  const isWithdrawal = decisions.some(({ action }) => action === 'withdraw');
  if (isWithdrawal) await tx.rows(`SELECT 1 FROM attempt_counter ${tx.dialect.forUpdate}`);
}

/** The first withdrawal of the run that an inquiry belongs to. */
export async function readWithdrawal(session: SqlSession, runKey: string): Promise<RunWithdrawal> {
  const ofRun = { kind: 'withdraw', runKey: isIn(toClaimOwners(runKey)) } as const;
  const [row] = await readRows(session, 'orders', ofRun, 'ORDER BY recorded_at LIMIT 1');
  if (!row) throw new Error('a withdrawal that is not in the ledger');
  return pick(row, ['by', 'reason']);
}

/**
 * The paths at which a withdrawal or cancellation differs from the recorded one of its run or share; `undefined` if there
 * is none. So a repeat is answered as before after its run's end.
 */
export async function findEndingDifferences(session: SqlSession, message: EndingMessage) {
  const { runKey, action, shareId = null, by, reason } = message;
  const kind = shareId === null ? action : 'withdrawShare';
  const rows = await readRows(session, 'orders', { runKey, kind, shareId }, 'ORDER BY recorded_at');
  return findLeastDifference(rows, { by, reason });
}

/** The paths at which person or reason differ from the first row; none if a row has the same. `undefined`: no rows. */
export function findLeastDifference(rows: readonly Authorization[], sent: Authorization): string[] | undefined {
  const differences = rows.map((row) => compareAuthorizations(row, sent));
  return differences.find(({ length }) => length === 0) ?? differences[0];
}

/** The paths at which person or reason differ. */
export function compareAuthorizations(kept: Authorization, sent: Authorization): string[] {
  return findDifferingPaths(pick(kept, ['by', 'reason']), pick(sent, ['by', 'reason']));
}
