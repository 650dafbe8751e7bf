/** Pauses: while one is in force, no worker of any queue claims anything for its profiles. */

import { z } from 'zod';
import { pick } from '../base/defined.ts';
import { instant } from '../messages/journey/shapes.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import { toWorkflowId } from '../model/run-key.ts';
import { appendToChain, lockHead } from './audit/audit-chain.ts';
import { type Condition, IS_SET, NOW, readRows, updateRows } from './database/rows.ts';
import { LostRaceError, type SqlSession, type Transaction } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';
import { selectPauses } from './inquiries/inquiries.ts';
import { type Authorization, appendOrder, compareAuthorizations, type EndableOrder, readOrders } from './orders.ts';
import { toOwner } from './owners.ts';

const authorization = { by: z.string(), reason: z.string() };

/** A pause, in force or past. The ledger keeps both ends for ever, by its own clock. */
export const pauseSchema = z
  .object({
    profile: z.string().optional().describe('Absent if the pause covers all profiles.'),
    since: instant,
    ...authorization,
    ended: z
      .object({ at: instant, ...authorization })
      .optional()
      .describe('Absent while it is in force.'),
  })
  .meta({ id: 'pause' });

export type Pause = z.infer<typeof pauseSchema>;

/** The scope of a pause: one gateway profile, or all of them. */
export type PauseScope = Pick<Pause, 'profile'>;

/** An inquiry whose claim was refused by a pause. */
export interface WaitingInquiry extends Required<Pick<Row<'inquiries'>, 'customerTraceNumber' | 'pausedAt'>> {
  workflowId: string;
}

/** Words the pause as one sentence without its full stop: scope, time, person and reason. */
export function describePause({ profile, since, by, reason }: Pause): string {
  const scope = profile === undefined ? 'inquiries of all profiles' : `inquiries of the profile ${profile}`;
  return `${scope} are paused since ${since}, by ${by}: ${reason}`;
}

// A pause takes the lock of the counter of attempts, which a claim takes last and then reads the pauses again. So each
// claim either comes before the pause, and counts as in flight, or finds it.

/** Lists all pauses, oldest first; with `inForce` only those that have not ended. */
export async function readPauses(session: SqlSession, { inForce = false } = {}): Promise<Pause[]> {
  return (await readOrders(session, { kind: 'pauseBegun' }, { withEnded: !inForce })).map(toPause);
}

/** The last pause of exactly this scope: only it may be in force. */
async function readOwn(session: SqlSession, { profile }: PauseScope): Promise<EndableOrder | undefined> {
  return (await readOrders(session, { kind: 'pauseBegun', profile: profile ?? null }, { withEnded: true })).at(-1);
}

/**
 * Starts a pause. After its commit the ledger refuses claims of the scope until `endPause` of the same scope. No claim
 * is then between its checks and its commit. `duplicate`: the scope was paused already. That pause remains, and nothing
 * was written; `paths` says where person or reason differ. `inFlight`: attempts of the scope that were claimed before and
 * may still be answered.
 */
export async function beginPause(tx: Transaction, scope: PauseScope, authorization: Authorization) {
  // The lock of the chain's head keeps two pauses of one scope apart.
  const begun = await appendToChain(tx, async (insert) => {
    const own = await readOwn(tx, scope);
    if (own && own.endedAt === undefined) {
      return { duplicate: true, paths: compareAuthorizations(own, authorization), pause: toPause(own) };
    }
    const order = await appendOrder(tx, insert, { ...scope, ...authorization, kind: 'pauseBegun' });
    return { duplicate: false, paths: [], pause: toPause(order) };
  });
  await tx.rows(`SELECT 1 FROM attempt_counter ${tx.dialect.forUpdate}`);
  return { ...begun, inFlight: await countInFlight(tx, scope) };
}

/**
 * Ends the pause of exactly this scope. A profile that another pause covers too stays paused. `duplicate`: the last pause
 * of the scope had ended before; `paths` says where person or reason of that end differ. Without `pause` there was none.
 */
export function endPause(tx: Transaction, scope: PauseScope, authorization: Authorization) {
  return appendToChain(tx, async (insert) => {
    const own = await readOwn(tx, scope);
    if (!own) return { duplicate: false, paths: [] };
    const pause = toPause(own);
    if (pause.ended) return { duplicate: true, paths: compareAuthorizations(pause.ended, authorization), pause };
    const end = await appendOrder(tx, insert, { ...scope, ...authorization, kind: 'pauseEnded', ends: own.orderId });
    return { duplicate: false, paths: [], pause: { ...pause, ended: { ...authorization, at: end.recordedAt } } };
  });
}

/** Attempts of the scope that may still be answered. */
async function countInFlight(session: SqlSession, { profile }: PauseScope): Promise<number> {
  const [row] = await session.read<{ count: number }>(
    `SELECT count(*) AS count FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE a.state = 'sending' AND a.answer_by > ${session.dialect.now} AND i.profile = coalesce($1, i.profile)`,
    [profile],
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
  const isPaused: Condition = (_column, place) => `EXISTS (${selectPauses(place(profile))})`;
  const noted = await updateRows(tx, 'inquiries', { customerTraceNumber, profile: isPaused }, { pausedAt: NOW });
  if (noted === 0) throw new LostRaceError('the pause is over');
}

/** Inquiries that a pause has stopped, and that no pause covers any more. */
export async function readWaiting(session: SqlSession): Promise<WaitingInquiry[]> {
  const isFree: Condition = (column) => `NOT EXISTS (${selectPauses(`inquiries.${column}`)})`;
  const stopped = { pausedAt: IS_SET, profile: isFree };
  const rows = await readRows(session, 'inquiries', stopped, 'ORDER BY run_key, customer_trace_number');
  return rows.map(({ runKey, customerTraceNumber, pausedAt = '' }) => ({
    workflowId: toWorkflowId(toOwner(runKey)),
    customerTraceNumber,
    pausedAt,
  }));
}

/** Forgets inquiries whose runs got the signal; keeps those that a pause has stopped again since. Idempotent. */
export async function forgetWaiting(session: SqlSession, inquiries: readonly WaitingInquiry[]): Promise<void> {
  for (const { customerTraceNumber, pausedAt } of inquiries) {
    await updateRows(session, 'inquiries', { customerTraceNumber, pausedAt }, { pausedAt: undefined });
  }
}

function toPause({ recordedAt, endedAt, endedBy = '', endedReason = '', ...row }: EndableOrder): Pause {
  const pause = { ...pick(row, ['profile', 'by', 'reason']), since: recordedAt };
  return endedAt === undefined ? pause : { ...pause, ended: { by: endedBy, reason: endedReason, at: endedAt } };
}
