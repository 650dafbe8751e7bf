/** Pauses: while one is in force, no worker of any queue claims anything for its profiles. */

import { pick } from '../base/defined.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import { toWorkflowId } from '../model/run-key.ts';
import { appendToChain, lockHead } from './audit/audit-chain.ts';
import { LostRaceError, type SqlSession, type Transaction } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';
import { selectPauses } from './inquiries/inquiries.ts';
import { type Authorization, appendOrder, type OrderRow } from './orders.ts';
import { toOwner } from './owners.ts';

/** The scope of a pause: one gateway profile, or all of them. */
export interface PauseScope {
  /** Absent: all profiles. */
  profile?: string;
}

/** A pause, in force or past. The ledger keeps both ends for ever. */
export interface Pause extends PauseScope, Authorization {
  /** RFC 3339, by the ledger's clock. */
  since: string;
  /** Absent while it is in force. */
  ended?: Authorization & { at: string };
}

/** `duplicate`: the scope was paused already. That pause remains, and nothing was written. */
export interface PauseVerdict {
  kind: 'paused' | 'duplicate';
  pause: Pause;
  /** Attempts of the scope that were claimed before and may still be answered. */
  inFlight: number;
}

export type ResumeVerdict = { kind: 'resumed'; pause: Pause } | { kind: 'notPaused' };

/** An inquiry whose claim was refused by a pause. */
export interface WaitingInquiry {
  workflowId: string;
  customerTraceNumber: string;
  /** Time of the latest refused claim, in milliseconds since 1970. */
  notedAtMs: number;
}

/** `inquiries of all profiles`, `inquiries of the profile east`. */
export function describePauseScope({ profile }: PauseScope): string {
  return profile === undefined ? 'inquiries of all profiles' : `inquiries of the profile ${profile}`;
}

/** Words the pause as one sentence without its full stop: scope, time, person and reason. */
export function describePause(pause: Pause): string {
  return `${describePauseScope(pause)} are paused since ${pause.since}, by ${pause.by}: ${pause.reason}`;
}

// A pause takes the lock of the counter of attempts, which a claim takes last and then reads the pauses again. So each
// claim either comes before the pause, and counts as in flight, or finds it.

type PauseRow = OrderRow & { endedBy?: string; endedReason?: string; endedAt?: string };

/** Lists all pauses, oldest first; with `inForce` only those that have not ended. */
export async function readPauses(
  { session }: Pick<Transaction, 'session'>,
  { inForce = false } = {},
): Promise<Pause[]> {
  return (await readRows(session, inForce)).map(toPause);
}

function readRows(session: SqlSession, inForce: boolean): Promise<PauseRow[]> {
  return session.read(
    `SELECT p.*, e.by AS ended_by, e.reason AS ended_reason, e.recorded_at AS ended_at
     FROM orders p LEFT JOIN orders e ON e.ends = p.order_id
     WHERE p.kind = 'pauseBegun' ${inForce ? 'AND e.order_id IS NULL' : ''} ORDER BY p.recorded_at, p.order_id`,
  );
}

/** The pause of exactly this scope that is in force. */
async function readOwn(session: SqlSession, { profile }: PauseScope): Promise<PauseRow | undefined> {
  return (await readRows(session, true)).find((row) => row.profile === profile);
}

/**
 * Starts a pause. After its commit the ledger refuses claims of the scope until `endPause` of the same scope. No claim
 * is then between its checks and its commit.
 */
export async function beginPause(
  tx: Transaction,
  scope: PauseScope,
  authorization: Authorization,
): Promise<PauseVerdict> {
  const { session, dialect } = tx;
  // The lock of the chain's head keeps two pauses of one scope apart.
  const isNew = await appendToChain(tx, async (insert) => {
    if (await readOwn(session, scope)) return false;
    await appendOrder(tx, insert, { ...scope, ...authorization, kind: 'pauseBegun' });
    return true;
  });
  await session.rows(`SELECT 1 FROM attempt_counter ${dialect.forUpdate}`);
  const row = await readOwn(session, scope);
  if (!row) throw new Error('a pause that was not written');
  const inFlight = await countInFlight(tx, scope);
  return { kind: isNew ? 'paused' : 'duplicate', pause: toPause(row), inFlight };
}

/** Ends the pause of exactly this scope. A profile that another pause covers too stays paused. */
export function endPause(tx: Transaction, scope: PauseScope, authorization: Authorization): Promise<ResumeVerdict> {
  return appendToChain(tx, async (insert) => {
    const row = await readOwn(tx.session, scope);
    if (!row) return { kind: 'notPaused' };
    const end = await appendOrder(tx, insert, { ...scope, ...authorization, kind: 'pauseEnded', ends: row.orderId });
    const ended = { ...authorization, at: end.recordedAt };
    return { kind: 'resumed', pause: { ...toPause(row), ended } };
  });
}

/** Attempts of the scope that may still be answered. */
async function countInFlight({ session, dialect }: Transaction, { profile }: PauseScope): Promise<number> {
  const [row] = await session.read<{ count: number }>(
    `SELECT count(*) AS count FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE a.state = 'sending' AND a.answer_by > ${dialect.now} ${profile === undefined ? '' : 'AND i.profile = $1'}`,
    profile === undefined ? [] : [profile],
  );
  return row?.count ?? 0;
}

/**
 * Notes on the inquiry that a pause has refused its claim, so that `resume` finds the run. The lock of the chain's head
 * makes it come before the pause's end, or after it.
 *
 * @throws LostRaceError where no pause is in force any more: the claim is made again
 */
export async function noteWaiting(
  tx: Transaction,
  { customerTraceNumber, profile }: Pick<InquiryDescription, 'customerTraceNumber' | 'profile'>,
): Promise<void> {
  await lockHead(tx);
  const noted = await tx.session.rows(
    `UPDATE inquiries SET paused_at = ${tx.dialect.now}
     WHERE customer_trace_number = $1 AND EXISTS (${selectPauses('$2')}) RETURNING paused_at`,
    [customerTraceNumber, profile],
  );
  if (noted.length === 0) throw new LostRaceError('the pause is over');
}

/** Inquiries that a pause has stopped, and that no pause covers any more. */
export async function readWaiting({ session }: Transaction): Promise<WaitingInquiry[]> {
  const rows = await session.read<Row<'inquiries'>>(
    `SELECT * FROM inquiries i WHERE paused_at IS NOT NULL AND NOT EXISTS (${selectPauses('i.profile')})
     ORDER BY run_key, customer_trace_number`,
  );
  return rows.map(({ runKey, customerTraceNumber, pausedAt = '' }) => ({
    workflowId: toWorkflowId(toOwner(runKey)),
    customerTraceNumber,
    notedAtMs: Date.parse(pausedAt),
  }));
}

/** Forgets inquiries whose runs got the signal; keeps those that a pause has stopped again since. Idempotent. */
export async function forgetWaiting({ session }: Transaction, inquiries: readonly WaitingInquiry[]): Promise<void> {
  for (const { customerTraceNumber, notedAtMs } of inquiries) {
    const isSame = 'customer_trace_number = $1 AND paused_at <= $2';
    await session.rows(`UPDATE inquiries SET paused_at = NULL WHERE ${isSame}`, [customerTraceNumber, notedAtMs]);
  }
}

function toPause({
  recordedAt: since,
  endedAt: at,
  endedBy: by = '',
  endedReason: reason = '',
  ...row
}: PauseRow): Pause {
  const pause = { ...pick(row, ['profile', 'by', 'reason']), since };
  return at === undefined ? pause : { ...pause, ended: { by, reason, at } };
}
