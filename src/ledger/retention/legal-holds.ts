/**
 * Legal holds: each is an order, and its release another. A hold in force prevents the disposal of what it covers.
 *
 * Setting a hold takes the lock of the chain's head. Each step of a disposal takes the same lock and then reads the
 * holds, and so does each claim of a share. So a step either comes before the hold, which lists the destruction up to
 * then, or finds the hold and is refused.
 */
import { appendToChain } from '../audit/audit-chain.ts';
import type { AuditedAttempt } from '../audit/audited.ts';
import { listPlaceholders, type SqlSession, type SqlValue, type Transaction } from '../database/sql-session.ts';
import { type Authorization, appendOrder, isInForce, type OrderRow } from '../orders.ts';
import { findReviewOfRow, isReview, toOwner, writeOwnerCondition } from '../owners.ts';

/** On a review it covers every row that the review has or will have. */
export type LegalHold = AuditedAttempt['legalHolds'][number];

/** The authorization to set or release a legal hold, and its legal matter. */
type HoldAuthorization = Authorization & Pick<LegalHold, 'matter'>;

/**
 * Reads the holds in force, the oldest first. With an id it reads those that cover the id or a part of it: holds on the
 * id itself, on its review, and on the rows of a review.
 */
export async function readHolds({ session }: Pick<Transaction, 'session'>, runKey?: string): Promise<LegalHold[]> {
  return (await readRows(session, runKey)).map(toLegalHold);
}

function readRows(session: SqlSession, runKey?: string): Promise<OrderRow[]> {
  if (runKey === undefined) return readInForce(session, '1 = 1', []);
  const review = findReviewOfRow(runKey);
  if (review !== null) return readInForce(session, 'run_key IN ($1, $2)', [runKey, review]);
  return readInForce(session, `(run_key = $1 ${isReview(runKey) ? `OR ${writeOwnerCondition(runKey)}` : ''})`, [
    runKey,
  ]);
}

/** Reads the holds that cover the owner of each inquiry of a list. */
export async function readHoldsByOwner(
  session: SqlSession,
  inquiries: readonly { runKey: string }[],
): Promise<(runKey: string) => LegalHold[]> {
  const held = [...new Set(inquiries.flatMap(({ runKey }) => [runKey, toOwner(runKey)]))];
  const rows = held.length === 0 ? [] : await readInForce(session, `run_key IN (${listPlaceholders(held)})`, held);
  const byScope = Map.groupBy(rows.map(toLegalHold), ({ runKey }) => runKey);
  return (runKey) => [...new Set([runKey, toOwner(runKey)])].flatMap((scope) => byScope.get(scope) ?? []);
}

function readInForce(session: SqlSession, condition: string, values: readonly SqlValue[]): Promise<OrderRow[]> {
  return session.read(
    `SELECT h.* FROM orders h WHERE ${condition} AND ${isInForce('h', 'legalHoldSet')} ORDER BY h.recorded_at, h.order_id`,
    values,
  );
}

/**
 * Adds a hold, unless one of this matter is in force on this id. `null` where the ledger has no inquiry of the id that
 * could be held.
 */
export function setLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  const { session } = tx;
  return appendToChain(tx, async (insert) => {
    const before = await readHolds(tx, runKey);
    const isOwn = (hold: LegalHold) => hold.runKey === runKey && hold.matter === authorization.matter;
    let hold = before.find(isOwn);
    const isNew = hold === undefined;
    if (!hold) {
      if (!(await isAnythingLeft(session, runKey))) return null;
      hold = toLegalHold(await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldSet' }));
    }
    const others = before.filter((other) => !isOwn(other));
    return { ...hold, isNew, others, destroyed: await countDestroyed(session, runKey) };
  });
}

/** Releases the hold of this matter on this id, and no other. */
export function releaseLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return appendToChain(tx, async (insert) => {
    const rows = await readRows(tx.session, runKey);
    const own = rows.find((row) => row.runKey === runKey && row.matter === authorization.matter);
    const others = rows.filter((row) => row !== own).map(toLegalHold);
    if (!own) return { released: null, others };
    await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldReleased', ends: own.orderId });
    return { released: toLegalHold(own), others };
  });
}

/** Returns whether the ledger has an inquiry of the id that was not disposed of. An id that it does not know is a mistake. */
async function isAnythingLeft(session: SqlSession, runKey: string): Promise<boolean> {
  const left = `SELECT 1 FROM inquiries WHERE ${writeOwnerCondition(runKey)} AND disposed_at IS NULL LIMIT 1`;
  return (await session.rows(left, [runKey])).length > 0;
}

async function countDestroyed(session: SqlSession, runKey: string): Promise<{ inquiries: number; histories: number }> {
  const [row] = await session.read<{ count: number }>(
    `SELECT count(*) AS count FROM inquiries WHERE ${writeOwnerCondition(runKey)} AND disposed_at IS NOT NULL`,
    [runKey],
  );
  return { inquiries: row?.count ?? 0, histories: await countDeletedHistories(session, toOwner(runKey)) };
}

/** The number of histories whose deletion from Temporal was begun, of an owner of runs (`toOwner`). */
export async function countDeletedHistories(session: SqlSession, runKey: string): Promise<number> {
  const [row] = await session.read<{ count: number }>(
    `SELECT count(DISTINCT run) AS count FROM orders
     WHERE (run_key = $1 ${isReview(runKey) ? `OR ${writeOwnerCondition(runKey)}` : ''}) AND kind = 'historyDeleted'`,
    [runKey],
  );
  return row?.count ?? 0;
}

function toLegalHold({ runKey = '', matter = '', recordedAt: setAt, by, reason }: OrderRow): LegalHold {
  return { runKey, matter, setAt, by, reason };
}
