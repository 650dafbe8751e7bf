/**
 * Work that needs a person, as rows of `operator_tasks`: runs that hold, and flags. The ledger opens a row in the
 * transaction that causes it, and closes it with its end. So a reader needs no worker, and rows outlive a lost run.
 * Nothing personal.
 *
 * A hold ends only by a decision or a later attempt: its run waits for one also where an answer came after all.
 */

import { randomUUID } from 'node:crypto';
import { omitUndefined, pick } from '../../base/defined.ts';
import { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { type FailureType, MAY_BE_POSTED } from '../../model/failure-types.ts';
import { type InquiryDescription, LASTING_FLAGS, REPORT_CHANGED, type SSN_MISMATCH } from '../../model/inquiry.ts';
import { lockHead } from '../audit/audit-chain.ts';
import {
  type Condition,
  hasMembers,
  insertRow,
  isAtMost,
  isIn,
  type Members,
  NOW,
  readRows,
  updateRows,
} from '../database/rows.ts';
import type { SqlDialect, SqlSession, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { insertInquiry, lockInquiry, readUndecided, selectRefusalKept } from '../inquiries/inquiries.ts';
import { findLeastDifference, recordRunDecisions } from '../orders.ts';
import { isOfOwner, type ReadersReach, selectMadeFor, toOwner, withoutForeignRuns } from '../owners.ts';
import type { DecisionRecord, OpenInquiry, RunDecision } from '../records.ts';

export type TaskRow = Row<'operator_tasks'>;

/** A row as readers see it. An inquiry has one open hold at a time, and one open flag of each reason. */
export interface OperatorTask extends Omit<TaskRow, 'heldSince'> {
  /** When a resend may follow an attempt that may still arrive. */
  resendFrom?: string;
  /** The ledger keeps what the gateway wrote beside the status of this attempt. */
  refusalKept?: true;
}

export type FlagReason = Exclude<TaskRow['reason'], FailureType>;

/** A hold of a run. The inquiry is included since the ledger may not have it yet, and a decision needs its row. */
export interface RunHold extends Required<Pick<OperatorTask, 'attempt' | 'since'>>, Pick<OperatorTask, 'details'> {
  inquiry: InquiryDescription;
  reason: FailureType;
}

/** A flag that no transaction of the ledger can cause. */
export type RunFlag =
  | { reason: typeof REPORT_CHANGED; customerTraceNumber: string }
  | (Pick<OperatorTask, 'runKey' | 'profile' | 'endUserCode'> & {
      reason: typeof PORTFOLIO_UNAVAILABLE;
      /** The run's clock, RFC 3339. */
      at: string;
      /** The files can be reached again: the flag is closed. */
      isOver: boolean;
    });

/**
 * How a row was closed. `decided`, `overtaken` and `seen`: by the decision `closedBy`; an overtaken one decided nothing,
 * and the run continues with the ledger's state. `claimed`: another attempt was made. `replaced`: another reason applies.
 * `ended`: its run has ended, or a later one of its id has begun, or the cause of a flag is over. `disposed`: its inquiry was disposed of.
 */
export type ClosedHow = NonNullable<TaskRow['closedHow']>;

/** The columns that a condition may name. */
const CONDITIONS = ['kind', 'reason', 'profile', 'productCode', 'endUserCode', 'customerTraceNumber'] as const;

/**
 * A reader's reach leaves only rows of runs that are for these end users alone. A run is for the end users of its
 * inquiries, without the secondary users of its shares. A share by itself is for the end user of its report. The reader
 * never finds a run of which the ledger knows no end user. `endUserCode` is of the row itself: for a share, its secondary
 * user. `since`: only rows from then on. With the `runKey` of a portfolio review, all of its rows match as well.
 */
export type TaskFilters = ReadersReach & Partial<Pick<OperatorTask, (typeof CONDITIONS)[number] | 'since' | 'runKey'>>;

export type TaskQuery = TaskFilters & {
  /** The last row of the page before. */
  after?: Pick<OperatorTask, 'since' | 'workId'> | undefined;
  limit: number;
};

/** Names the operator who has seen the late news of an inquiry, or one flag of a run that is about none of its inquiries. */
export type SeenRecord = Pick<RunDecision, 'decisionId' | 'by' | 'reason'> &
  ({ customerTraceNumber: string } | { runKey: string; flag: FlagReason }) & {
    /** No run waits: its flags go, and a hold of which nothing was sent, or about which nothing is undecided. */
    runIsGone?: boolean;
  };

/** Opens a row for an inquiry whose latest attempt needs a decision, unless a row exists. */
export async function openHeld(tx: Transaction, customerTraceNumber: string): Promise<void> {
  const undecided = await readUndecided(tx, customerTraceNumber);
  if (!undecided) return;
  const { attempt, failureType: reason } = undecided;
  const open = await readHeld(tx, customerTraceNumber);
  // A hold that the run waits for has priority, because its decision makes the run look at this attempt next.
  if (open && (open.heldSince !== undefined || isAbout(open, undecided))) return;
  if (open) await closeRows(tx, 'replaced', { workId: open.workId });
  await openTask(tx, { kind: 'held', reason, customerTraceNumber, attempt });
}

type Task = Partial<Omit<Row<'operator_tasks'>, 'workId'>>;

/**
 * Opens a row of the inquiry's run, for the same end user. A row that is open for the same reason stays; one that an
 * operator has seen does not count.
 */
export async function openTask(tx: Transaction, task: Task & { customerTraceNumber: string }): Promise<void> {
  const [inquiry] = await readRows(tx, 'inquiries', { customerTraceNumber: task.customerTraceNumber });
  if (inquiry) await insertTask(tx, { ...pick(inquiry, OF_INQUIRY), ...task });
}

const OF_INQUIRY = ['runKey', 'profile', 'endUserCode', 'endUser', 'productCode', 'shareId'] as const;

async function insertTask(session: SqlSession, task: Task): Promise<void> {
  const sql = (): Record<string, string> => (task.since === undefined ? { since: session.dialect.now } : {});
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
  const judged = { kind: 'held', customerTraceNumber, attempt: isAtMost(upTo) } as const;
  const closed = await closeRows(tx, how, judged, decisionId);
  await openHeld(tx, customerTraceNumber);
  return closed > 0;
}

/**
 * Takes such news or such a flag off the list; append-only, idempotent by its subject and decisionId. While the run is open, of the
 * flags that are about none of its inquiries only lasting ones go.
 */
export async function recordSeen(
  tx: Transaction,
  { decisionId, by, reason, runIsGone, ...subject }: SeenRecord,
): Promise<{ kind: 'recorded' | 'nothingToSee' } | { kind: 'known'; paths: string[] }> {
  const isOfRun = 'flag' in subject;
  const customerTraceNumber = isOfRun ? null : subject.customerTraceNumber;
  // In the order in which `flagRun` takes its locks.
  await (isOfRun ? lockHead(tx) : lockInquiry(tx, subject.customerTraceNumber));
  const ofSubject = isOfRun ? { runKey: subject.runKey, reason: subject.flag } : {};
  const rows = await readRows(tx, 'operator_tasks', { ...ofSubject, customerTraceNumber });
  const [row] = rows;
  if (!row) return { kind: 'nothingToSee' };
  const order = { runKey: row.runKey, decisionId };
  if (rows.some(({ closedHow, closedBy }) => closedHow === 'seen' && closedBy === decisionId)) {
    const known = await readRows(tx, 'orders', { ...order, kind: 'seen', customerTraceNumber }, 'ORDER BY recorded_at');
    return { kind: 'known', paths: findLeastDifference(known, { by, reason }) ?? [] };
  }
  const mayGo = !isOfRun || runIsGone || LASTING_FLAGS.includes(subject.flag);
  const isFlag = { ...ofSubject, customerTraceNumber, kind: 'flagged' } as const;
  let closed = mayGo ? await closeRows(tx, 'seen', isFlag, decisionId) : 0;
  // If the run is gone, no decision can close a hold but the one that the ledger itself needs.
  const held = runIsGone && rows.find(({ kind, closedAt }) => kind === 'held' && closedAt === undefined);
  if (held && !isAbout(held, await readUndecided(tx, held.customerTraceNumber ?? ''))) {
    closed += await closeRows(tx, 'seen', { workId: held.workId }, decisionId);
  }
  if (closed === 0) return { kind: 'nothingToSee' };
  const seen = { ...order, customerTraceNumber: customerTraceNumber ?? undefined, by, reason };
  await recordRunDecisions(tx, [{ ...seen, action: 'seen', decidedAt: new Date().toISOString() }]);
  return { kind: 'recorded' };
}

/** Closes the open rows that have these members, and returns how many there were. */
export function closeRows(
  tx: SqlSession,
  closedHow: ClosedHow,
  rows: Members<TaskRow>,
  closedBy?: string,
): Promise<number> {
  return updateRows(tx, 'operator_tasks', { ...rows, closedAt: null }, { closedAt: NOW, closedHow, closedBy });
}

/** Whether the row is about this undecided attempt, for the same reason. */
function isAbout({ attempt, reason }: TaskRow, undecided: OpenInquiry['undecided']): boolean {
  return undecided?.attempt === attempt && undecided?.failureType === reason;
}

async function readHeld(session: SqlSession, customerTraceNumber: string): Promise<TaskRow | undefined> {
  const isOpen = { kind: 'held', customerTraceNumber, closedAt: null } as const;
  return (await readRows(session, 'operator_tasks', isOpen))[0];
}

// Rows that runs open and close themselves. Each function is one transaction of an activity, which may be repeated.

/**
 * Opens the row of a hold before its run waits, or finds that the ledger has opened it. Idempotent by attempt, reason
 * and `since`, so a try that comes late opens nothing again.
 */
export async function openHold(tx: Transaction, hold: RunHold): Promise<void> {
  const { inquiry, reason, attempt, details, since } = hold;
  const { customerTraceNumber } = inquiry;
  await insertInquiry(tx, inquiry);
  await lockInquiry(tx, customerTraceNumber);
  const isThis = { kind: 'held', customerTraceNumber, attempt, reason } as const;
  const known = await readRows(tx, 'operator_tasks', { ...isThis, heldSince: isSince(since) });
  if (known.length > 0) return;
  const open = await readHeld(tx, customerTraceNumber);
  if (open?.attempt === attempt && open.reason === reason) {
    await updateRows(tx, 'operator_tasks', { workId: open.workId }, { heldSince: since });
    return;
  }
  if (open) await closeRows(tx, 'replaced', { workId: open.workId });
  await openTask(tx, { ...isThis, details, since, heldSince: since });
}

/**
 * Closes what the runs of this id opened `until` their end or the begin of a new run (RFC 3339, by Temporal's clock). Only inquiries that may have been posted still need a decision; flags stay that outlast a run.
 */
export async function closeTasks(tx: Transaction, { runKey, until }: { runKey: string; until: string }): Promise<void> {
  const isBegun = isAtMost(Date.parse(until));
  const heldSince: Condition = (column, place) => `(${column} IS NULL OR ${isBegun(column, place)})`;
  const ofRun = { kind: 'held', runKey: isOfOwner(runKey), closedAt: null, heldSince } as const;
  for (const held of await readRows(tx, 'operator_tasks', ofRun, 'ORDER BY customer_trace_number')) {
    const { customerTraceNumber = '' } = held;
    await lockInquiry(tx, customerTraceNumber);
    const undecided = await readUndecided(tx, customerTraceNumber);
    const mayBePosted = undecided !== undefined && MAY_BE_POSTED.includes(undecided.failureType);
    if (mayBePosted && isAbout(held, undecided)) continue;
    await closeRows(tx, 'ended', { workId: held.workId });
    if (mayBePosted) await openHeld(tx, customerTraceNumber);
  }
  const isOver = { kind: 'flagged', runKey: isOfOwner(runKey), reason: PORTFOLIO_UNAVAILABLE, since: isBegun } as const;
  await closeRows(tx, 'ended', isOver);
}

/** Opens or closes a flag that only the run knows of. A repeated or late try changes nothing. */
export async function flagRun(tx: Transaction, flag: RunFlag): Promise<void> {
  if (flag.reason === REPORT_CHANGED) return flagReport(tx, flag.reason, flag.customerTraceNumber);
  // A late try waits for the others of its flag, and then finds what they have written.
  await lockHead(tx);
  const { runKey, reason, profile, endUserCode, at } = flag;
  const isSame = { kind: 'flagged', runKey, reason } as const;
  if (flag.isOver) {
    await closeRows(tx, 'ended', { ...isSame, since: isAtMost(Date.parse(at)) });
    return;
  }
  const known = await readRows(tx, 'operator_tasks', { ...isSame, since: isSince(at) });
  if (known.length > 0) return;
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
  await lockInquiry(tx, customerTraceNumber);
  const [inquiry] = await readRows(tx, 'inquiries', { customerTraceNumber });
  if (!inquiry) return;
  const runKey = toOwner(inquiry.runKey);
  const about = runKey === inquiry.runKey ? { runKey, customerTraceNumber } : { runKey };
  const known = await readRows(tx, 'operator_tasks', { kind: 'flagged', reason, ...about });
  if (known.length === 0) await insertTask(tx, { ...pick(inquiry, OF_INQUIRY), ...about, kind: 'flagged', reason });
}

// The lists of open rows, for readers.

/** The columns of a row `w`. `SHOWN` adds the earliest time of a resend, which a row of the ledger does not store. */
const COLUMNS = `w.work_id, w.run_key, w.kind, w.reason, w.since, w.profile, w.end_user_code, w.end_user, w.product_code,
  w.share_id, w.customer_trace_number, w.attempt, w.details`;
const SHOWN = `${COLUMNS}, ${selectRefusalKept('w')}, (SELECT a.resend_from FROM attempts a WHERE w.kind = 'held' AND a.attempt = w.attempt
  AND a.customer_trace_number = w.customer_trace_number AND a.state IN ('unknown', 'sending')) AS resend_from`;

/** Selects the open rows, and attempts whose answer can no longer arrive and that have no row yet. */
const selectOpen = ({ now }: SqlDialect) => [
  `SELECT ${COLUMNS} FROM operator_tasks w WHERE w.closed_at IS NULL`,
  `SELECT 'z-' || a.customer_trace_number || '-' || CAST(a.attempt AS TEXT) AS work_id, i.run_key, 'held' AS kind,
      'OutcomeUnknown' AS reason, a.answer_by AS since, i.profile, i.end_user_code, i.end_user, i.product_code, i.share_id,
      a.customer_trace_number, a.attempt, NULL AS details
    FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
    WHERE a.state = 'sending' AND a.answer_by <= ${now} AND NOT EXISTS (SELECT 1 FROM operator_tasks o
      WHERE o.customer_trace_number = a.customer_trace_number AND o.kind = 'held' AND o.closed_at IS NULL)`,
];

function condition(filters: TaskFilters) {
  const { since, runKey, profiles, endUsers } = filters;
  const wanted = { ...pick(filters, CONDITIONS), since: since && isSince(since), runKey: runKey && isOfOwner(runKey) };
  const { sql, values, place } = hasMembers(omitUndefined(wanted), 'w.');
  const terms = [sql || '1 = 1'];
  if (profiles) terms.push(isIn(profiles)('w.profile', place));
  if (endUsers) {
    const isKnown = `EXISTS (SELECT 1 FROM (${selectMadeFor('w.run_key')}) f WHERE f.end_user IS NOT NULL)`;
    terms.push(isKnown, ...withoutForeignRuns('w.run_key', { endUsers }, place));
  }
  return { sql: terms.join(' AND '), values, place };
}

function isSince(instant: string): Condition {
  return (column, place) => `${column} >= CAST(${place(Date.parse(instant))} AS BIGINT)`;
}

/**
 * Reads only: one page of open rows, the oldest first. An attempt whose answer can no longer come counts as held, even if
 * no program has written that yet.
 */
export async function readOpenTasks(
  session: SqlSession,
  { after, limit, ...filters }: TaskQuery,
): Promise<{ rows: OperatorTask[]; hasMore: boolean }> {
  const { sql, values, place } = condition(filters);
  const behind = `(CAST(${place(after ? Date.parse(after.since) : -1)} AS BIGINT), ${place(after?.workId ?? '')})`;
  const inOrder = `ORDER BY w.since, w.work_id LIMIT ${place(limit + 1)}`;
  // Each source gives its own page, by its index.
  const pages = selectOpen(session.dialect).map(
    (source) => `SELECT * FROM (SELECT * FROM (${source}) w
      WHERE ${sql} AND (w.since, w.work_id) > ${behind} ${inOrder}) page`,
  );
  const found = await session.read<OperatorTask>(
    `SELECT ${SHOWN} FROM (${pages.join(' UNION ALL ')}) w ${inOrder}`,
    values,
  );
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}

/** How many are open, and since when the oldest waits (RFC 3339). */
export type TaskCount = Pick<OperatorTask, 'kind' | 'reason'> & { count: number; oldest: string };

/** Reads only: the counts by kind and reason; the most first. */
export async function countTasks(session: SqlSession, filters: TaskFilters = {}): Promise<TaskCount[]> {
  return addCounts(await readCounts(session, filters, 'w.kind, w.reason'));
}

/** Reads only: the counts of each run, by kind and reason. */
export function countTasksOfRuns(session: SqlSession, filters: TaskFilters) {
  return readCounts(session, filters, 'w.run_key, w.kind, w.reason');
}

async function readCounts(session: SqlSession, filters: TaskFilters, by: string) {
  const { sql, values } = condition(filters);
  return session.read<TaskCount & Pick<OperatorTask, 'runKey'>>(
    `SELECT ${by}, count(*) AS count, min(w.since) AS oldest
     FROM (${selectOpen(session.dialect).join(' UNION ALL ')}) w WHERE ${sql} GROUP BY ${by}`,
    values,
  );
}

/** Adds up the counts of one kind and reason; the most first. */
export function addCounts(counts: readonly TaskCount[]): TaskCount[] {
  const sums = new Map<string, TaskCount>();
  for (const { kind, reason, count, oldest } of counts) {
    const sum = sums.get(`${kind} ${reason}`) ?? { kind, reason, count: 0, oldest };
    const isOlder = oldest < sum.oldest;
    sums.set(`${kind} ${reason}`, { ...sum, count: sum.count + count, oldest: isOlder ? oldest : sum.oldest });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** Reads the rows of one owner that ever needed an operator, oldest first. */
export function readTasksOfOwner(session: SqlSession, runKey: string): Promise<OperatorTask[]> {
  const { sql, values } = condition({ runKey });
  return session.read<OperatorTask>(
    `SELECT ${SHOWN}, w.closed_at, w.closed_how, w.closed_by FROM operator_tasks w WHERE ${sql} ORDER BY w.since, w.work_id`,
    values,
  );
}
