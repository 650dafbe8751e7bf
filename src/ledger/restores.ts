/**
 * Detects that this ledger is an older copy of the one that was used. Attempts have places in one sequence: an attempt
 * that was seen and is missing here proves a restore. Then nothing is claimed until an operator has accepted it.
 */
import { pick } from '../base/defined.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { HighWaterMark, RestoreState } from '../model/ledger-watch.ts';
import { appendToChain } from './audit/audit-chain.ts';
import { type Condition, isIn, readRows } from './database/rows.ts';
import type { SqlSession, Transaction } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';
import { type Authorization, appendOrder } from './orders.ts';

/** The latest order about a restore, if there is one, and the newest attempt. */
interface Found extends Partial<Pick<Row<'orders'>, 'kind' | 'position' | 'claimedAt' | 'recordedAt'>> {
  newestPosition?: number;
  newestClaimedAt?: string;
  isThere: number;
}

const FOUND = `SELECT o.*, newest.position AS newest_position, newest.claimed_at AS newest_claimed_at,
    (SELECT count(*) FROM attempts WHERE position = $1 AND claimed_at = $2) AS is_there
  FROM ledger_identity
  LEFT JOIN (SELECT kind, position, claimed_at, recorded_at FROM orders WHERE kind IN ('restoreAccepted', 'restoreFound')
    ORDER BY recorded_at DESC, kind LIMIT 1) o ON 1 = 1
  LEFT JOIN (SELECT position, claimed_at FROM attempts ORDER BY position DESC LIMIT 1) newest ON 1 = 1`;

/**
 * Reads the newest attempt, and the attempt that is known to be missing.
 *
 * @param highWaterMark by a run, or by the watch over all of them. An attempt that was claimed before an accepted restore may be
 * missing: the operator has accepted that
 */
export async function readRestore(session: SqlSession, highWaterMark?: HighWaterMark): Promise<RestoreState> {
  const markedAtMs = highWaterMark ? (parseInstantMs(highWaterMark.claimedAt) ?? -1) : -1;
  const [row] = await session.read<Found>(FOUND, [highWaterMark?.position ?? -1, markedAtMs]);
  if (!row) throw new Error('a ledger without identity');
  const found = row.kind === 'restoreFound' ? toHighWaterMark(row.position, row.claimedAt) : undefined;
  const acceptedAtMs = row.kind === 'restoreAccepted' ? Date.parse(row.recordedAt ?? '') : -1;
  const isMissing = row.isThere === 0 && markedAtMs > acceptedAtMs;
  return {
    newest: toHighWaterMark(row.newestPosition, row.newestClaimedAt),
    lost: found ?? (isMissing ? highWaterMark : undefined),
  };
}

/** Clocks of Temporal and of the database may differ by so much. */
const CLOCKS_MS = 60_000;

/** Whether an attempt that began at `begunAt` may be missing since this is an older copy. */
export async function readDoubt(session: SqlSession, begunAt: string) {
  const { lost } = await readRestore(session);
  const isSince: Condition = (column, place) => `${column} > ${place((parseInstantMs(begunAt) ?? 0) - CLOCKS_MS)}`;
  const accepted = await readRows(session, 'orders', { kind: 'restoreAccepted', recordedAt: isSince }, 'LIMIT 1');
  return { isRestored: lost !== undefined, mayLackAttempt: accepted.length > 0 };
}

function toHighWaterMark(position?: number, claimedAt?: string): HighWaterMark | undefined {
  return position === undefined || claimedAt === undefined ? undefined : { position, claimedAt };
}

/**
 * Reports the newest attempt, and whether this is an older copy of the ledger: `lost` was seen and is missing. A new loss
 * is written down, and nothing is claimed from then on.
 *
 * @param highWaterMark by the watch over all runs
 */
export async function watchForRestore(tx: Transaction, highWaterMark?: HighWaterMark): Promise<RestoreState> {
  const state = await readRestore(tx, highWaterMark);
  if (!state.lost || state.lost !== highWaterMark) return state;
  const { position, claimedAt } = state.lost;
  const found = { by: 'credit-journey', reason: 'this ledger lacks an attempt that workers have seen' };
  const orderId = `found-${position}-${claimedAt}`;
  const order = { ...state.lost, ...found, orderId, kind: 'restoreFound' } as const;
  await appendToChain(tx, (insert) => appendOrder(tx, insert, order));
  return state;
}

/** Each older copy that was found or accepted, by whom, when and why; the oldest first. */
export async function listRestores(session: SqlSession) {
  const kind = isIn(['restoreFound', 'restoreAccepted']);
  const rows = await readRows(session, 'orders', { kind }, 'ORDER BY recorded_at');
  return rows.map((row) => pick(row, ['recordedAt', 'kind', 'by', 'reason', 'position', 'claimedAt']));
}

/** Permits claims again, on the basis of this ledger. Returns as `lost` the missing attempt, if it was known. */
export async function acceptRestore(tx: Transaction, authorization: Authorization): Promise<RestoreState> {
  const state = await readRestore(tx);
  const order = { ...state.newest, ...authorization, kind: 'restoreAccepted' } as const;
  await appendToChain(tx, (insert) => appendOrder(tx, insert, order));
  return state;
}
