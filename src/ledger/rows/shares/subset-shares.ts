/**
 * Shares that name fewer consumers than their report: rows of `subset_shares`, and the other choices of a share.
 *
 * Each choice of consumers has a trace number of its own, and one share is posted for one choice. So its claim reads
 * what was sent under the other numbers. It holds the lock of the chain's head meanwhile, as every share's claim does.
 */
import { placesOf, type SqlSession } from '../../database/sql-session.ts';
import type { Writing } from '../../database/writing.ts';
import type { ClaimRequest, SubsetShare } from '../../records.ts';
import { insertRow } from '../inquiry-writes.ts';
import { NOTHING_SENT } from './withdrawn-shares.ts';

/** The number of another choice of consumers, under which this share was or may have been sent. */
export async function readOtherChoice(
  session: SqlSession,
  { ownerId, shareId, ordinal }: Pick<ClaimRequest['inquiry'], 'ownerId' | 'shareId' | 'ordinal'>,
): Promise<string | undefined> {
  const [row] = await session.rows<{ customer_trace_number: string }>(
    `SELECT a.customer_trace_number FROM attempts a
     JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE i.owner_id = $1 AND i.product_code = 'SECONDUSE' AND i.share_id = $2 AND i.ordinal <> $3
       AND NOT (${NOTHING_SENT})
     ORDER BY a.claimed_at DESC, a.customer_trace_number LIMIT 1`,
    [ownerId, shareId ?? '', ordinal],
  );
  return row?.customer_trace_number;
}

/** Records with the claim whom it leaves out, and the provider's word that permits that. */
export async function insertSubset(
  { session }: Writing,
  { inquiry: { customerTraceNumber }, attempt, subset }: ClaimRequest,
): Promise<void> {
  if (!subset) return;
  const { leftOut, confirmation } = subset;
  const columns = {
    ...{ customer_trace_number: customerTraceNumber, attempt, left_out: JSON.stringify(leftOut) },
    ...{ confirmation_reference: confirmation.reference, confirmed_at: confirmation.at },
  };
  await insertRow(session, 'subset_shares', columns, {});
}

interface SubsetRow {
  customer_trace_number: string;
  attempt: number;
  left_out: string;
  confirmation_reference: string;
  confirmed_at: string;
}

/** Whom the attempts under these numbers left out, by `subsetKey`. */
export async function readSubsets(
  session: SqlSession,
  traceNumbers: readonly string[],
): Promise<Map<string, SubsetShare>> {
  const places = placesOf(traceNumbers);
  const rows = await session.rows<SubsetRow>(
    `SELECT * FROM subset_shares WHERE customer_trace_number IN (${places})`,
    traceNumbers,
  );
  return new Map(
    rows.map((row) => [
      subsetKey(row.customer_trace_number, Number(row.attempt)),
      {
        leftOut: JSON.parse(row.left_out) as string[],
        confirmation: { reference: row.confirmation_reference, at: row.confirmed_at },
      },
    ]),
  );
}

export function subsetKey(customerTraceNumber: string, attempt: number): string {
  return `${customerTraceNumber} ${attempt}`;
}
