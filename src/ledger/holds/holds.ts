/**
 * Opens and closes rows of `operator_tasks`, each in the transaction that causes it.
 *
 * A hold ends only by a decision or a later attempt: its run waits for one also where an answer came after all.
 */

import { randomUUID } from 'node:crypto';
import { pick } from '../../base/defined.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { type FailureType, MAY_BE_POSTED } from '../../model/failure-types.ts';
import { type AttemptState, LASTING_FLAGS, REPORT_CHANGED, type SSN_MISMATCH } from '../../model/inquiry.ts';
import { HELD_STATES } from '../claim.ts';
import type { Writes } from '../database/columns.ts';
import { insertRow, readRows, updateRows } from '../database/rows.ts';
import type { Transaction, Unsealed } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { readUndecided } from '../inquiries/inquiries.ts';
import { insertInquiry, lockInquiry } from '../inquiries/inquiry-writes.ts';
import { findReviewOfRow, writeOwnerCondition } from '../owners.ts';
import type { AttentionReason, DecisionRecord, OutcomeRecord, SeenRecord } from '../records.ts';
import { recordRunDecisions } from '../run-decisions.ts';
import type { ClosedHow, RunFlag, RunHold, RunSeen, TaskRow } from './work.ts';

/** Whether such an outcome waits for a decision. */
export function isHeldBy({ state, answer }: Pick<OutcomeRecord, 'state' | 'answer'>): boolean {
  const held: readonly AttemptState[] = HELD_STATES;
  return held.includes(state) || (state === 'answered' && answer !== undefined && answer.kind !== 'outcome');
}

/** Opens a row for an inquiry whose latest attempt needs a decision, unless a row exists. */
export async function openHeld(
  tx: Transaction,
  customerTraceNumber: string,
  isWanted: (reason: FailureType) => boolean = () => true,
): Promise<void> {
  const undecided = await readUndecided(tx, customerTraceNumber);
  if (!undecided || !isWanted(undecided.reason)) return;
  const { attempt, reason } = undecided;
  const open = await readHeld(tx, customerTraceNumber);
  // A hold that the run waits for has priority, because its decision makes the run look at this attempt next.
  if (open && (open.heldSince !== undefined || (open.attempt === attempt && open.reason === reason))) return;
  if (open) await close(tx, { how: 'replaced' }, 'work_id = $1', [open.workId]);
  await insertOfInquiry(tx, { kind: 'held', reason, customerTraceNumber, attempt });
}

/** Flags late news about an inquiry. News after an operator has seen the flag opens another one. */
export async function drawAttention(
  tx: Transaction,
  reason: AttentionReason,
  customerTraceNumber: string,
): Promise<void> {
  await insertOfInquiry(tx, { kind: 'flagged', reason, customerTraceNumber });
}

type Task = Omit<Writes<Row<'operator_tasks'>>, 'workId'>;

/** Opens a row of the inquiry's run, for the same end user. */
async function insertOfInquiry(tx: Transaction, task: Task & { customerTraceNumber: string }): Promise<void> {
  const [inquiry] = await readRows(tx.session, 'inquiries', { customerTraceNumber: task.customerTraceNumber });
  if (inquiry) await insertTask(tx, { ...pick(inquiry, OF_INQUIRY), ...task });
}

const OF_INQUIRY = ['runKey', 'profile', 'endUserCode', 'endUser', 'productCode', 'shareId'] as const;

/** A row that is open for the same reason already stays. */
async function insertTask({ session, dialect }: Transaction, task: Task): Promise<void> {
  const sql = (): Record<string, string> => (task.since === undefined ? { since: dialect.now } : {});
  await insertRow(session, 'operator_tasks', { ...task, workId: randomUUID() }, { sql, orKeep: true });
}

/** Closes the hold that the decision is about. Opens it again if the decision judged nothing that the ledger knows. */
export async function endByDecision(
  tx: Transaction,
  { customerTraceNumber, attempt, action, decisionId }: DecisionRecord,
  how: 'decided' | 'overtaken',
): Promise<boolean> {
  if (action === 'repeat') return false;
  const upTo = how === 'decided' && action === 'abandon' ? Number.MAX_SAFE_INTEGER : attempt;
  const closed = await close(
    tx,
    { how, by: decisionId },
    "kind = 'held' AND customer_trace_number = $1 AND attempt <= $2",
    [customerTraceNumber, upTo],
  );
  await openHeld(tx, customerTraceNumber);
  return closed > 0;
}

/** Closes the rows of an inquiry after a further claim. */
export async function endByClaim(tx: Transaction, customerTraceNumber: string): Promise<void> {
  await close(tx, { how: 'claimed' }, "kind = 'held' AND customer_trace_number = $1", [customerTraceNumber]);
}

/** Takes late news off that list; append-only, idempotent by (customerTraceNumber, decisionId). */
export async function recordSeen(
  tx: Transaction,
  seen: SeenRecord,
): Promise<{ kind: 'recorded' | 'nothingToSee' } | { kind: 'known'; paths: string[] }> {
  const { session, dialect } = tx;
  const { customerTraceNumber, decisionId, by, reason, runIsGone } = seen;
  await lockInquiry(tx, customerTraceNumber);
  // If the run is gone, no decision can close a hold but the one that the ledger itself needs.
  const undecided = runIsGone ? await readUndecided(tx, customerTraceNumber) : undefined;
  const ofGone = undecided ? "OR (kind = 'held' AND NOT (attempt = $2 AND reason = $3))" : "OR kind = 'held'";
  const query = { action: 'seen', customerTraceNumber, decisionId } as const;
  const [known] = await readRows(session, 'run_decisions', query, 'ORDER BY version');
  if (known) return { kind: 'known', paths: findDifferingPaths(pick(known, ['by', 'reason']), { by, reason }) };
  const [row] = await session.read<{ runKey: string; decidedAt: string }>(
    `SELECT run_key, ${dialect.now} AS decided_at FROM inquiries WHERE customer_trace_number = $1`,
    [customerTraceNumber],
  );
  if (!row) return { kind: 'nothingToSee' };
  const closed = await close(
    tx,
    { how: 'seen', by: decisionId },
    `customer_trace_number = $1 AND (kind = 'flagged' ${runIsGone ? ofGone : ''})`,
    [customerTraceNumber, ...(undecided ? [undecided.attempt, undecided.reason] : [])],
  );
  if (closed === 0) return { kind: 'nothingToSee' };
  await recordRunDecisions(tx, [{ ...row, customerTraceNumber, decisionId, action: 'seen', by, reason }]);
  return { kind: 'recorded' };
}

export async function endByDisposal(tx: Unsealed, runKey: string): Promise<void> {
  await close(tx, { how: 'disposed' }, writeOwnerCondition(runKey), [runKey]);
}

/** @param where its values begin at `$1` */
async function close(
  { session, dialect }: Unsealed,
  { how, by }: { how: ClosedHow; by?: string },
  where: string,
  values: (string | number)[],
): Promise<number> {
  const place = values.length;
  const closed = await session.rows(
    `UPDATE operator_tasks SET closed_at = ${dialect.now}, closed_how = $${place + 1}, closed_by = $${place + 2}
     WHERE ${where} AND closed_at IS NULL RETURNING work_id`,
    [...values, how, by],
  );
  return closed.length;
}

async function readHeld({ session }: Transaction, customerTraceNumber: string): Promise<TaskRow | undefined> {
  const isOpen = { kind: 'held', customerTraceNumber, closedAt: undefined } as const;
  return (await readRows(session, 'operator_tasks', isOpen))[0];
}

// Rows that runs open and close themselves. Each function is one transaction of an activity, which may be repeated.

/**
 * Opens the row of a hold before its run waits, or finds that the ledger has opened it. Idempotent by attempt, reason
 * and `since`, so a try that comes late opens nothing again.
 */
export async function openHold(tx: Transaction, hold: RunHold): Promise<void> {
  const { session } = tx;
  const { inquiry, reason, attempt, details, since } = hold;
  const { customerTraceNumber } = inquiry;
  await insertInquiry(tx, inquiry);
  await lockInquiry(tx, customerTraceNumber);
  const isThis = { kind: 'held', customerTraceNumber, attempt, reason } as const;
  const known = await readRows(session, 'operator_tasks', isThis, 'AND held_since IS NOT NULL');
  if (known.some(({ heldSince }) => Date.parse(heldSince ?? '') >= Date.parse(since))) return;
  const open = await readHeld(tx, customerTraceNumber);
  if (open?.attempt === attempt && open.reason === reason) {
    await updateRows(session, 'operator_tasks', { workId: open.workId }, { heldSince: since });
    return;
  }
  if (open) await close(tx, { how: 'replaced' }, 'work_id = $1', [open.workId]);
  await insertOfInquiry(tx, { ...isThis, details, since, heldSince: since });
}

/**
 * Closes what the runs of this id opened `until` their end or the begin of a new run (RFC 3339, by Temporal's clock). Only inquiries that may have been posted still need a decision; flags stay that outlast a run.
 */
export async function closeWork(tx: Transaction, { runKey, until }: { runKey: string; until: string }): Promise<void> {
  const untilMs = Date.parse(until);
  const ofRun = `${writeOwnerCondition(runKey)} AND closed_at IS NULL`;
  const rows = await tx.session.read<TaskRow & { customerTraceNumber: string }>(
    `SELECT * FROM operator_tasks
     WHERE ${ofRun} AND kind = 'held' AND (held_since IS NULL OR held_since <= $2) ORDER BY customer_trace_number`,
    [runKey, untilMs],
  );
  for (const { workId, reason, attempt, customerTraceNumber } of rows) {
    await lockInquiry(tx, customerTraceNumber);
    const undecided = await readUndecided(tx, customerTraceNumber);
    const isSame = undecided?.reason === reason && undecided.attempt === attempt;
    if (isSame && MAY_BE_POSTED.includes(undecided.reason)) continue;
    await close(tx, { how: 'ended' }, 'work_id = $1', [workId]);
    await openHeld(tx, customerTraceNumber, (wanted) => MAY_BE_POSTED.includes(wanted));
  }
  const isFlag = `${ofRun} AND kind = 'flagged' AND reason = $2 AND since <= $3`;
  await close(tx, { how: 'ended' }, isFlag, [runKey, PORTFOLIO_UNAVAILABLE, untilMs]);
}

/** Opens or closes a flag that only the run knows of. A repeated or late try changes nothing. */
export async function flagRun(tx: Transaction, flag: RunFlag): Promise<void> {
  if (flag.reason === REPORT_CHANGED) {
    await lockInquiry(tx, flag.customerTraceNumber);
    return flagReport(tx, flag.reason, flag.customerTraceNumber);
  }
  const { runKey, reason, profile, endUserCode, at } = flag;
  const isSame = { kind: 'flagged', runKey, reason } as const;
  if (flag.isOver) {
    const isEarlier = "kind = 'flagged' AND run_key = $1 AND reason = $2 AND since <= $3";
    await close(tx, { how: 'ended' }, isEarlier, [runKey, reason, Date.parse(at)]);
    return;
  }
  const known = await readRows(tx.session, 'operator_tasks', isSame);
  if (known.some(({ since }) => Date.parse(since) >= Date.parse(at))) return;
  await insertTask(tx, { ...isSame, since: at, profile, endUserCode, productCode: 'ACCTRVW' });
}

/**
 * Flags a report. Such a flag never changes, so it is opened once. Of a review's row it is the review's flag: the result
 * file names the rows.
 */
export async function flagReport(
  tx: Transaction,
  reason: typeof SSN_MISMATCH | typeof REPORT_CHANGED,
  customerTraceNumber: string,
): Promise<void> {
  const [inquiry] = await readRows(tx.session, 'inquiries', { customerTraceNumber });
  if (!inquiry) return;
  const review = findReviewOfRow(inquiry.runKey);
  const about = review === null ? { runKey: inquiry.runKey, customerTraceNumber } : { runKey: review };
  const known = await readRows(tx.session, 'operator_tasks', { kind: 'flagged', reason, ...about });
  if (known.length === 0) await insertTask(tx, { ...pick(inquiry, OF_INQUIRY), ...about, kind: 'flagged', reason });
}

/**
 * Records who has seen the flags of a run that are about none of its inquiries (for those: `recordSeen`). Closes
 * lasting flags, and all others too if the run is gone. Returns whether there was any.
 */
export async function recordRunSeen(tx: Transaction, { runIsGone, flag, ...seen }: RunSeen): Promise<boolean> {
  const { runKey, decisionId } = seen;
  const lasting = LASTING_FLAGS.map((reason) => `'${reason}'`).join(', ');
  const closed = await close(
    tx,
    { how: 'seen', by: decisionId },
    `run_key = $1 AND kind = 'flagged' AND customer_trace_number IS NULL ${runIsGone ? '' : `AND reason IN (${lasting})`} ${flag === undefined ? '' : 'AND reason = $2'}`,
    [runKey, ...(flag === undefined ? [] : [flag])],
  );
  if (closed > 0) await recordRunDecisions(tx, [{ ...seen, action: 'seen' }]);
  return closed > 0;
}
