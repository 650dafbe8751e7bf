/** Legal holds: nothing of a held journey is disposed of. */

import { utcInstant } from '../../base/instants.ts';
import { lockHead } from '../audit/audit-chain.ts';
import type { SqlDialect, SqlSession, Written } from '../database/sql-session.ts';
import type { Authorization, LegalHold } from '../retention.ts';
import { lockInquiriesOf } from './disposal.ts';
import { isReview, ofOwner, reviewOfRow } from './owner-rows.ts';
import { insertEvent } from './retention-events.ts';

interface HoldRow {
  owner_id: string;
  legal_hold_at: number;
  legal_hold_by: string;
  legal_hold_reason: string;
}

/** As `Retention.setLegalHold`; part of a transaction. A disposed inquiry cannot be held. */
export async function setLegalHold(
  session: SqlSession,
  dialect: SqlDialect,
  journeyId: string,
  { by, reason }: Authorization,
): Promise<Written<(LegalHold & { isNew: boolean }) | null>> {
  await lockInquiriesOf(session, dialect, journeyId);
  // The hold also covers inquiries that were made since, independent of the rows that it is written on.
  const [before] = await readHolds(session, journeyId);
  // A review goes on making rows: repeating the hold covers those that have come since.
  if (before && !isReview(journeyId)) return { keep: false, value: { ...before, isNew: false } };
  const set = await session.rows(
    `UPDATE inquiries SET legal_hold_at = ${dialect.now}, legal_hold_by = $2, legal_hold_reason = $3
     WHERE ${ofOwner(journeyId)} AND legal_hold_at IS NULL AND disposed_at IS NULL RETURNING customer_trace_number`,
    [journeyId, by, reason],
  );
  // A share's claim reads the hold under this lock: the claim comes first, or finds the hold.
  await lockHead({ session, dialect });
  if (set.length === 0) return { keep: false, value: before ? { ...before, isNew: false } : null };
  await insertEvent(session, dialect, { ownerId: journeyId, by, reason, kind: 'legalHoldSet' });
  const [hold] = await readHolds(session, journeyId);
  return { keep: true, value: hold ? { ...hold, isNew: true } : null };
}

/** Rows of a review that were held by their own ids are released by those ids. */
const NOT_BY_THEMSELVES = `AND NOT EXISTS (SELECT 1 FROM retention_events e
  WHERE e.owner_id = inquiries.owner_id AND e.kind = 'legalHoldSet')`;

/** As `Retention.releaseLegalHold`; part of a transaction. */
export async function releaseLegalHold(
  session: SqlSession,
  dialect: SqlDialect,
  journeyId: string,
  { by, reason }: Authorization,
): Promise<Written<boolean>> {
  await lockInquiriesOf(session, dialect, journeyId);
  const released = await session.rows(
    `UPDATE inquiries SET legal_hold_at = NULL, legal_hold_by = NULL, legal_hold_reason = NULL
     WHERE ${ofOwner(journeyId)} AND legal_hold_at IS NOT NULL ${isReview(journeyId) ? NOT_BY_THEMSELVES : ''}
     RETURNING customer_trace_number`,
    [journeyId],
  );
  if (released.length === 0) return { keep: false, value: false };
  await insertEvent(session, dialect, { ownerId: journeyId, by, reason, kind: 'legalHoldReleased' });
  return { keep: true, value: true };
}

/** All holds, or that of one journey; the oldest first. */
export async function readHolds(session: SqlSession, journeyId?: string): Promise<LegalHold[]> {
  const rows = await session.rows<HoldRow>(
    `SELECT DISTINCT owner_id, legal_hold_at, legal_hold_by, legal_hold_reason FROM inquiries
     WHERE legal_hold_at IS NOT NULL ${journeyId === undefined ? '' : `AND ${ofOwner(journeyId)}`}
     ORDER BY legal_hold_at, owner_id`,
    journeyId === undefined ? [] : [journeyId],
  );
  return byReview(rows).map((row) => ({
    journeyId: row.owner_id,
    setAt: utcInstant(row.legal_hold_at),
    by: row.legal_hold_by,
    reason: row.legal_hold_reason,
  }));
}

/** Joins rows of one review that were held at once into one hold. */
function byReview(rows: readonly HoldRow[]): HoldRow[] {
  const groups = Map.groupBy(rows, ({ owner_id, legal_hold_at, legal_hold_by, legal_hold_reason }) => {
    const review = reviewOfRow(owner_id);
    return review === null ? owner_id : JSON.stringify([review, legal_hold_at, legal_hold_by, legal_hold_reason]);
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const review = first ? reviewOfRow(first.owner_id) : null;
    return first && review !== null && group.length > 1 ? [{ ...first, owner_id: review }] : group;
  });
}
