/**
 * Rows of `withdrawn_shares`: shares that are never posted again, under any number and by any run.
 *
 * A withdrawal takes the lock of the chain's head, which a share's claim takes before it reads what permits it. So each
 * claim either comes before the withdrawal, which then is refused, or finds it.
 */
import { utcInstant } from '../../../base/instants.ts';
import { NOT_POSTED_STATES } from '../../../model/inquiry.ts';
import { chaining, columnsOf } from '../../audit/audit-chain.ts';
import type { SqlSession, Written } from '../../database/sql-session.ts';
import type { Writing } from '../../database/writing.ts';
import type { ShareWithdrawal, ShareWithdrawalVerdict, StandingShareWithdrawal } from '../../records.ts';
import { insertRow } from '../inquiry-writes.ts';

export interface WithdrawnShareRow {
  owner_id: string;
  share_id: string;
  replaced_by: string | null;
  withdrawn_by: string;
  reason: string;
  recorded_at: number;
}

/** The withdrawal of the share of this id, of the first of the owners that has one. */
export async function readWithdrawnShare(
  session: SqlSession,
  { owners, shareId }: { owners: readonly string[]; shareId: string },
): Promise<StandingShareWithdrawal | undefined> {
  const places = owners.map((_, index) => `$${index + 2}`).join(', ');
  const rows = await session.rows<WithdrawnShareRow>(
    `SELECT * FROM withdrawn_shares WHERE share_id = $1 AND owner_id IN (${places})`,
    [shareId, ...owners],
  );
  const [row] = owners.flatMap((owner) => rows.filter(({ owner_id }) => owner_id === owner));
  return row && standingWithdrawal(row);
}

/** As `Ledger.withdrawShare`. */
export async function withdrawShare(
  writing: Writing,
  withdrawal: ShareWithdrawal,
): Promise<Written<ShareWithdrawalVerdict>> {
  const { session, dialect } = writing;
  const { ownerId, shareId, replacedBy, by, reason } = withdrawal;
  let verdict: ShareWithdrawalVerdict | undefined;
  let isNew = false;
  await chaining(writing, async (append) => {
    const standing = await readWithdrawnShare(session, { owners: [ownerId], shareId });
    if (standing) {
      verdict = { kind: 'withdrawn', standing };
      return;
    }
    const claimed = await readSentAttempt(session, withdrawal);
    if (claimed) {
      verdict = { kind: 'claimed', ...claimed };
      return;
    }
    const columns = { owner_id: ownerId, share_id: shareId, replaced_by: replacedBy, withdrawn_by: by, reason };
    const row = await insertRow(session, 'withdrawn_shares', columns, {
      sql: { recorded_at: dialect.now },
      returning: columnsOf('withdrawn_shares'),
    });
    if (!row) throw new Error('an insert that returned nothing');
    await append('withdrawn_shares', row);
    verdict = { kind: 'withdrawn', standing: standingWithdrawal(row as unknown as WithdrawnShareRow) };
    isNew = true;
  });
  if (!verdict) throw new Error('a withdrawal without a verdict');
  return { keep: isNew, value: verdict };
}

/** Attempts that are known not to have been processed, whatever else comes. */
const NOTHING_SENT = `a.state IN (${NOT_POSTED_STATES.map((state) => `'${state}'`).join(', ')}) AND a.late_state IS NULL`;

/** The latest attempt of the share that may have been sent. Closed attempts have a table of their own. */
async function readSentAttempt(
  session: SqlSession,
  { ownerId, shareId }: ShareWithdrawal,
): Promise<{ customerTraceNumber: string; attempt: number } | undefined> {
  const [row] = await session.rows<{ customer_trace_number: string; attempt: number }>(
    `SELECT a.customer_trace_number, a.attempt FROM attempts a
     JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE i.owner_id = $1 AND i.product_code = 'SECONDUSE' AND i.share_id = $2 AND NOT (${NOTHING_SENT})
     ORDER BY a.claimed_at DESC, a.customer_trace_number, a.attempt DESC LIMIT 1`,
    [ownerId, shareId],
  );
  return row && { customerTraceNumber: row.customer_trace_number, attempt: row.attempt };
}

export function standingWithdrawal(row: WithdrawnShareRow): StandingShareWithdrawal {
  return {
    ...(row.replaced_by === null ? {} : { replacedBy: row.replaced_by }),
    by: row.withdrawn_by,
    reason: row.reason,
    recordedAt: utcInstant(Number(row.recorded_at)),
  };
}
