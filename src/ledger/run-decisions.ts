/**
 * Decisions of people about runs: orders that have the id of a decision. They permit nothing. A claim reads whether its
 * run was withdrawn.
 *
 * A withdrawal takes the lock of the counter of attempts, as a pause does (pauses.ts). So each claim either comes before
 * the withdrawal, and counts as in flight, or finds it.
 */

import { pick } from '../base/defined.ts';
import { appendToChain } from './audit/audit-chain.ts';
import { isIn, readRows } from './database/rows.ts';
import type { SqlSession, Transaction } from './database/sql-session.ts';
import { toClaimOwners } from './inquiries/inquiries.ts';
import { appendOrder } from './orders.ts';
import type { EndingMessage, RunDecision, RunWithdrawal } from './records.ts';

/** The members that tell two decisions under one id apart: a repeated message may come at another time. */
const CONTENT = ['kind', 'stage', 'shareId', 'customerTraceNumber', 'until', 'by', 'reason'] as const;

/**
 * Append-only, idempotent by (runKey, decisionId) and content: other content under the same key is kept beside the
 * first, since a run that was reset takes the same message again.
 */
export async function recordRunDecisions(tx: Transaction, decisions: readonly RunDecision[]): Promise<void> {
  await appendToChain(tx, async (insert) => {
    for (const { action: kind, ...decision } of decisions) {
      const order = { ...decision, kind };
      const standing = await readRows(tx, 'orders', pick(decision, ['runKey', 'decisionId']));
      if (standing.some((row) => CONTENT.every((name) => row[name] === order[name]))) continue;
      await appendOrder(tx, insert, order);
    }
  });
  const isWithdrawal = decisions.some(({ action }) => action === 'withdraw');
  if (isWithdrawal) await tx.rows(`SELECT 1 FROM attempt_counter ${tx.dialect.forUpdate}`);
}

/** The first withdrawal of the run that an inquiry belongs to. */
export async function readWithdrawal(session: SqlSession, runKey: string): Promise<RunWithdrawal> {
  const ofRun = { kind: 'withdraw', runKey: isIn(toClaimOwners(runKey)) } as const;
  const [row] = await readRows(session, 'orders', ofRun, 'ORDER BY recorded_at LIMIT 1');
  if (!row) throw new Error('a withdrawal that is not in the ledger');
  return pick(row, ['by', 'reason']);
}

/**
 * Reads only: whether the very same message was recorded before, as a decision about its run or as the withdrawal of its
 * share. So it is answered as before after its run's end.
 */
export async function hasEndingMessage(session: SqlSession, message: EndingMessage): Promise<boolean> {
  const { runKey, action, shareId = null, by, reason } = message;
  const kind = shareId === null ? action : 'withdrawShare';
  return (await readRows(session, 'orders', { runKey, kind, shareId, by, reason })).length > 0;
}
