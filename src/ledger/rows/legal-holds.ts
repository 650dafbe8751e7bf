/**
 * Rows of `legal_holds`: each hold, and its release. What a hold in force covers cannot be disposed of.
 *
 * Setting a hold takes the lock of the chain's head. Each step of a disposal takes the same lock and then reads the
 * holds, and so does each claim of a share. So a step either comes before the hold, which says what was destroyed by
 * then, or finds the hold and is refused.
 */
import { randomUUID } from 'node:crypto';
import { utcInstant } from '../../base/instants.ts';
import { chaining, columnsOf } from '../audit/audit-chain.ts';
import { placesOf, type SqlRow, type SqlSession, type SqlValue, type Written } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { HoldAuthorization, LegalHold, ReleasedHold, SetHold } from '../retention.ts';
import { insertRow } from './inquiry-writes.ts';
import { isReview, ofOwner, ownerOfRuns, reviewOfRow } from './owner-rows.ts';
import { countDeletedHistories, laterThanOthers } from './retention-events.ts';

interface HoldRow {
  hold_id: string;
  owner_id: string;
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
export async function readHolds(session: SqlSession, ownerId?: string): Promise<LegalHold[]> {
  return (await readRows(session, ownerId)).map(holdOf);
}

function readRows(session: SqlSession, ownerId?: string): Promise<HoldRow[]> {
  if (ownerId === undefined) return readInForce(session, '1 = 1', []);
  const review = reviewOfRow(ownerId);
  if (review !== null) return readInForce(session, 'owner_id IN ($1, $2)', [ownerId, review]);
  return readInForce(session, `(owner_id = $1 ${isReview(ownerId) ? `OR ${ofOwner(ownerId)}` : ''})`, [ownerId]);
}

/** Reads the holds that cover the owner of each inquiry of a list. */
export async function readHoldsByOwner(
  session: SqlSession,
  inquiries: readonly { owner_id: string }[],
): Promise<(ownerId: string) => LegalHold[]> {
  const ids = inquiries.flatMap(({ owner_id }) => [owner_id, ownerOfRuns(owner_id)]);
  const held = [...new Set(ids)];
  const rows = held.length === 0 ? [] : await readInForce(session, `owner_id IN (${placesOf(held)})`, held);
  const byScope = Map.groupBy(rows.map(holdOf), ({ journeyId }) => journeyId);
  return (ownerId) => [...new Set([ownerId, ownerOfRuns(ownerId)])].flatMap((scope) => byScope.get(scope) ?? []);
}

function readInForce(session: SqlSession, condition: string, values: readonly SqlValue[]): Promise<HoldRow[]> {
  return session.rows<HoldRow>(
    `SELECT h.* FROM legal_holds h WHERE ${condition} AND ${HOLD_IN_FORCE} ORDER BY h.recorded_at, h.hold_id`,
    values,
  );
}

/** Implements `Retention.setLegalHold`, as part of a transaction. */
export async function setLegalHold(
  writing: Writing,
  journeyId: string,
  authorization: HoldAuthorization,
): Promise<Written<SetHold | null>> {
  const { session } = writing;
  let set: SetHold | null = null;
  let isNew = false;
  await chaining(writing, async (append) => {
    const before = await readHolds(session, journeyId);
    const isOwn = (hold: LegalHold) => hold.journeyId === journeyId && hold.matter === authorization.matter;
    let hold = before.find(isOwn);
    if (!hold) {
      if (!(await isAnythingLeft(session, journeyId))) return;
      const row = await insertHold(writing, `hold-${randomUUID()}`, 'legalHoldSet', journeyId, authorization);
      await append('legal_holds', row);
      hold = holdOf(row as unknown as HoldRow);
      isNew = true;
    }
    const others = before.filter((other) => !isOwn(other));
    set = { ...hold, isNew, others, destroyed: await countDestroyed(session, journeyId) };
  });
  return { keep: isNew, value: set };
}

/** Implements `Retention.releaseLegalHold`, as part of a transaction. */
export async function releaseLegalHold(
  writing: Writing,
  journeyId: string,
  authorization: HoldAuthorization,
): Promise<Written<ReleasedHold>> {
  const { session } = writing;
  const result: ReleasedHold = { released: null, others: [] };
  await chaining(writing, async (append) => {
    const rows = await readRows(session, journeyId);
    const own = rows.find((row) => row.owner_id === journeyId && row.matter === authorization.matter);
    result.others = rows.filter((row) => row !== own).map(holdOf);
    if (!own) return;
    await append('legal_holds', await insertHold(writing, own.hold_id, 'legalHoldReleased', journeyId, authorization));
    result.released = holdOf(own);
  });
  return { keep: result.released !== null, value: result };
}

async function insertHold(
  { session, dialect }: Writing,
  holdId: string,
  kind: 'legalHoldSet' | 'legalHoldReleased',
  journeyId: string,
  { matter, by, reason }: HoldAuthorization,
): Promise<SqlRow> {
  const columns = { owner_id: journeyId, hold_id: holdId, kind, matter, recorded_by: by, reason };
  const row = await insertRow(session, 'legal_holds', columns, {
    sql: { recorded_at: laterThanOthers(dialect) },
    returning: columnsOf('legal_holds'),
  });
  if (!row) throw new Error('an insert that returned nothing');
  return row;
}

/** Returns whether the ledger has an inquiry of the id that was not disposed of. An id that it does not know is a mistake. */
async function isAnythingLeft(session: SqlSession, ownerId: string): Promise<boolean> {
  const found = await session.rows(
    `SELECT 1 FROM inquiries WHERE ${ofOwner(ownerId)} AND disposed_at IS NULL LIMIT 1`,
    [ownerId],
  );
  return found.length > 0;
}

async function countDestroyed(session: SqlSession, ownerId: string): Promise<SetHold['destroyed']> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT count(*) AS count FROM inquiries WHERE ${ofOwner(ownerId)} AND disposed_at IS NOT NULL`,
    [ownerId],
  );
  return { inquiries: row?.count ?? 0, histories: await countDeletedHistories(session, ownerOfRuns(ownerId)) };
}

function holdOf(row: HoldRow): LegalHold {
  return {
    journeyId: row.owner_id,
    matter: row.matter,
    setAt: utcInstant(row.recorded_at),
    by: row.recorded_by,
    reason: row.reason,
  };
}
