/**
 * Detects that this ledger is an older copy of the one that was used. Attempts have places in one sequence: an attempt
 * that was seen and is missing here proves a restore. Then nothing is claimed until an operator has accepted it.
 */
import { omitUndefined } from '../base/defined.ts';
import { parseInstantMs, utcInstant } from '../base/instants.ts';
import type { RestoreState, SeenAttempt } from '../messages/ledger-watch.ts';
import { chaining } from './audit/audit-chain.ts';
import type { FieldsToWrite } from './database/columns.ts';
import type { SqlSession, Transaction } from './database/sql-session.ts';
import type { KnownAtClosing } from './inquiries/rules.ts';
import type { Authorization, OrderRow } from './orders.ts';

interface LossRow {
  found_position: number | null;
  found_claimed_at: number | null;
  newest_position: number | null;
  newest_claimed_at: number | null;
  accepted_at: number | null;
  is_there: number;
}

const LOSS = `SELECT found.position AS found_position, found.claimed_at AS found_claimed_at, accepted.accepted_at,
    newest.position AS newest_position, newest.claimed_at AS newest_claimed_at,
    (SELECT count(*) FROM attempts WHERE position = $1 AND claimed_at = $2) AS is_there
  FROM (SELECT max(recorded_at) AS accepted_at FROM orders WHERE kind = 'restoreAccepted') accepted
  LEFT JOIN (SELECT position, claimed_at, recorded_at FROM orders WHERE kind = 'restoreFound'
    ORDER BY recorded_at DESC LIMIT 1) found ON found.recorded_at > coalesce(accepted.accepted_at, -1)
  LEFT JOIN (SELECT position, claimed_at FROM attempts ORDER BY position DESC LIMIT 1) newest ON 1 = 1`;

/**
 * Reads the newest attempt, and the attempt that is known to be missing.
 *
 * @param seen by a run, or by the watch over all of them. An attempt that was claimed before an accepted restore may be
 * missing: the operator has accepted that
 */
export async function readRestore(tx: Pick<Transaction, 'session'>, seen?: SeenAttempt): Promise<RestoreState> {
  const { newest, lost } = await readLoss(tx.session, seen);
  return omitUndefined({ newest, lost });
}

async function readLoss(session: SqlSession, seen?: SeenAttempt) {
  const seenAtMs = seen ? (parseInstantMs(seen.claimedAt) ?? -1) : -1;
  const [row] = await session.rows<LossRow>(LOSS, [seen?.position ?? -1, seenAtMs]);
  const acceptedAtMs = row?.accepted_at ?? -1;
  const isMissing = row?.is_there === 0 && seenAtMs > acceptedAtMs;
  const found = toSeenAttempt(row?.found_position, row?.found_claimed_at);
  return {
    acceptedAtMs,
    newest: toSeenAttempt(row?.newest_position, row?.newest_claimed_at),
    lost: found ?? (isMissing ? seen : undefined),
  };
}

/** Clocks of Temporal and of the database may differ by so much. */
const CLOCKS_MS = 60_000;

/** Whether an attempt that began at `begunAt` may be missing since this is an older copy. */
export async function readDoubt(
  session: SqlSession,
  begunAt: string,
): Promise<Required<Pick<KnownAtClosing, 'isRestored' | 'mayLackAttempt'>>> {
  const { acceptedAtMs, lost } = await readLoss(session);
  return {
    isRestored: lost !== undefined,
    mayLackAttempt: acceptedAtMs > (parseInstantMs(begunAt) ?? 0) - CLOCKS_MS,
  };
}

function toSeenAttempt(position?: number | null, claimedAtMs?: number | null): SeenAttempt | undefined {
  if (typeof position !== 'number' || typeof claimedAtMs !== 'number') return undefined;
  return { position, claimedAt: utcInstant(claimedAtMs) };
}

/**
 * Reports the newest attempt, and whether this is an older copy of the ledger: `lost` was seen and is missing. A new loss
 * is written down, and nothing is claimed from then on.
 *
 * @param seen by the watch over all runs
 */
export async function watchForRestore(tx: Transaction, seen?: SeenAttempt): Promise<RestoreState> {
  const state = await readRestore(tx, seen);
  if (!state.lost || state.lost !== seen) return state;
  const { position, claimedAt } = state.lost;
  const claimedAtMs = parseInstantMs(claimedAt) ?? 0;
  await insertRestore(tx, {
    orderId: `found-${position}-${claimedAtMs}`,
    kind: 'restoreFound',
    position,
    claimedAt: claimedAtMs,
    by: 'credit-journey',
    reason: 'an attempt that was seen is not in this ledger',
  });
  return state;
}

/** Permits claims again, on the basis of this ledger. Returns as `lost` the missing attempt, if it was known. */
export async function acceptRestore(
  tx: Transaction,
  { acceptanceId, by, reason }: Authorization & { acceptanceId: string },
): Promise<RestoreState> {
  const state = await readRestore(tx);
  const { newest } = state;
  await insertRestore(tx, {
    orderId: acceptanceId,
    kind: 'restoreAccepted',
    position: newest?.position ?? 0,
    claimedAt: newest ? (parseInstantMs(newest.claimedAt) ?? 0) : 0,
    by,
    reason,
  });
  return state;
}

async function insertRestore(tx: Transaction, fields: FieldsToWrite<OrderRow>): Promise<void> {
  await chaining(tx, async (insert) => {
    await insert('orders', fields, { orKeep: true });
  });
}
