/**
 * Legal holds: each is an order, and its release another. A hold in force prevents the disposal of what it covers.
 *
 * Setting a hold takes the lock of the chain's head. Each step of a disposal takes the same lock and then reads the
 * holds, and so does each claim of a share. So a step either comes before the hold, which lists the destruction up to
 * then, or finds the hold and is refused.
 */
import { appendToChain } from '../audit/audit-chain.ts';
import type { AuditedAttempt } from '../audit/audited.ts';
import { type Condition, isIn } from '../database/rows.ts';
import type { SqlSession, Transaction } from '../database/sql-session.ts';
import { type Authorization, appendOrder, compareAuthorizations, type OrderRow, readOrders } from '../orders.ts';
import { isOfOwner, toOwner, writeOwnerCondition } from '../owners.ts';

/** On a review it covers every row that the review has or will have. */
export type LegalHold = AuditedAttempt['legalHolds'][number];

/** The authorization to set or release a legal hold, and its legal matter. */
type HoldAuthorization = Authorization & Pick<LegalHold, 'matter'>;

/**
 * Reads the holds in force, the oldest first. With an id it reads those that cover the id or a part of it: holds on the
 * id itself, on its review, and on the rows of a review.
 */
export async function readHolds(session: SqlSession, runKey?: string): Promise<LegalHold[]> {
  return (await readRows(session, runKey)).map(toLegalHold);
}

function readRows(session: SqlSession, runKey?: string): Promise<OrderRow[]> {
  if (runKey === undefined) return readOrders(session, { kind: 'legalHoldSet' });
  const isCovered: Condition = (column, place) =>
    `(${column} = ${place(toOwner(runKey))} OR ${isOfOwner(runKey)(column, place)})`;
  return readOrders(session, { kind: 'legalHoldSet', runKey: isCovered });
}

/** Reads the holds in force on these ids, the oldest first. */
export async function readHoldsOn(session: SqlSession, runKeys: readonly string[]): Promise<LegalHold[]> {
  return (await readOrders(session, { kind: 'legalHoldSet', runKey: isIn(runKeys) })).map(toLegalHold);
}

/** Reads the last hold of this matter on this id, and the others in force that cover it. */
async function readOwn(session: SqlSession, runKey: string, matter: string) {
  const own = (await readOrders(session, { kind: 'legalHoldSet', runKey, matter }, { withEnded: true })).at(-1);
  const others = (await readRows(session, runKey)).filter(({ orderId }) => orderId !== own?.orderId).map(toLegalHold);
  return { own, others };
}

/**
 * Adds a hold, unless one of this matter is in force on this id. `null` where the ledger has no inquiry of the id that
 * could be held: an id that it does not know is a mistake. `paths`: where person or reason differ from the hold in force.
 */
export function setLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return appendToChain(tx, async (insert) => {
    const { own: last, others } = await readOwn(tx, runKey, authorization.matter);
    const own = last?.endedAt === undefined ? last : undefined;
    const { remaining, ...destroyed } = await countDestroyed(tx, runKey);
    if (!own && remaining === 0) return null;
    const hold = own ?? (await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldSet' }));
    const paths = compareAuthorizations(hold, authorization);
    return { ...toLegalHold(hold), duplicate: own !== undefined, paths, others, destroyed };
  });
}

/**
 * Releases the hold of this matter on this id, and no other. `duplicate`: it was released before; `paths` says where person
 * or reason of that release differ. Without `released` there was none.
 */
export function releaseLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return appendToChain(tx, async (insert) => {
    const { own, others } = await readOwn(tx, runKey, authorization.matter);
    if (!own) return { duplicate: false, paths: [], others };
    const { endedAt, endedBy = '', endedReason = '' } = own;
    const duplicate = endedAt !== undefined;
    const paths = duplicate ? compareAuthorizations({ by: endedBy, reason: endedReason }, authorization) : [];
    if (!duplicate) {
      await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldReleased', ends: own.orderId });
    }
    return { duplicate, paths, released: toLegalHold(own), others };
  });
}

/**
 * Counts the inquiries of an id that were disposed of, and those that are left. `histories`: those of the id's runs
 * (`toOwner`) whose deletion from Temporal was begun.
 */
export async function countDestroyed(session: SqlSession, runKey: string) {
  const owner = toOwner(runKey);
  const [counted] = await session.read<{ remaining: number; inquiries: number; histories: number }>(
    `SELECT count(*) - count(disposed_at) AS remaining, count(disposed_at) AS inquiries,
       (SELECT count(DISTINCT run) FROM orders WHERE ${writeOwnerCondition(owner, '$2')} AND kind = 'historyDeleted') AS histories
     FROM inquiries WHERE ${writeOwnerCondition(runKey)}`,
    [runKey, owner],
  );
  return counted ?? { remaining: 0, inquiries: 0, histories: 0 };
}

function toLegalHold({ runKey = '', matter = '', recordedAt: setAt, by, reason }: OrderRow): LegalHold {
  return { runKey, matter, setAt, by, reason };
}
