/**
 * Work that needs a person, as rows: runs that hold, and flags. Defines a row and its lists. The ledger writes a row
 * with its cause, and closes it with its end. So a reader needs no worker, and rows outlive a lost run. Nothing
 * personal.
 */
import type { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import type { FailureType } from '../../model/failure-types.ts';
import type { InquiryDescription, REPORT_CHANGED } from '../../model/inquiry.ts';
import { toColumnName } from '../database/rows.ts';
import type { SqlDialect, SqlValue, Transaction, Unsealed } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { selectRefusalKept } from '../inquiries/inquiries.ts';
import { type ReadersReach, readEndUsers, writeInCondition, writeOwnerCondition } from '../owners.ts';
import type { RunDecision } from '../records.ts';

export type TaskRow = Row<'operator_tasks'>;

/** A row as readers see it. An inquiry has one open hold at a time, and one open flag of each reason. */
export interface WorkRow extends Omit<TaskRow, 'heldSince'> {
  /** When a resend may follow an attempt that may still arrive. */
  resendFrom?: string;
  /** The ledger keeps what the gateway wrote beside the status of this attempt. */
  refusalKept?: true;
}

export type FlagReason = Exclude<TaskRow['reason'], FailureType>;

/** A hold of a run. The inquiry is included since the ledger may not have it yet, and a decision needs its row. */
export interface RunHold extends Required<Pick<WorkRow, 'attempt' | 'since'>>, Pick<WorkRow, 'details'> {
  inquiry: InquiryDescription;
  reason: FailureType;
}

/** A flag that no transaction of the ledger can cause. */
export type RunFlag =
  | { reason: typeof REPORT_CHANGED; customerTraceNumber: string }
  | (Pick<WorkRow, 'runKey' | 'profile' | 'endUserCode'> & {
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
export type WorkFilters = ReadersReach & Partial<Pick<WorkRow, (typeof CONDITIONS)[number] | 'since' | 'runKey'>>;

/** The place of a row in the list. */
type WorkPlace = Pick<WorkRow, 'since' | 'workId'>;

export type WorkQuery = WorkFilters & {
  /** The last row of the page before. */
  after?: WorkPlace | undefined;
  limit: number;
};

export interface WorkCount extends Pick<WorkRow, 'kind' | 'reason'> {
  count: number;
  /** Since when the oldest of them waits, RFC 3339. */
  oldest: string;
}

/** A decision that marks the flags of a run as seen. */
export type RunSeen = Pick<RunDecision, 'runKey' | 'decisionId' | 'by' | 'reason' | 'decidedAt'> & {
  /** Limits the record to flags for this reason. */
  flag?: FlagReason;
  runIsGone?: true;
};

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

/** Returns whether any row of this owner is open. */
export async function hasOpenWork({ session }: Transaction, runKey: string): Promise<boolean> {
  const { sql, values } = condition({ runKey });
  const rows = await session.rows(`SELECT 1 FROM operator_tasks w WHERE ${sql} AND closed_at IS NULL LIMIT 1`, values);
  return rows.length > 0;
}

function condition(filters: WorkFilters) {
  const { since, profiles, endUsers, runKey } = filters;
  const values: SqlValue[] = [];
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const terms = CONDITIONS.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [`w.${toColumnName(name)} = ${place(value)}`];
  });
  if (since !== undefined) terms.push(`w.since >= CAST(${place(Date.parse(since))} AS BIGINT)`);
  if (profiles) terms.push(writeInCondition('w.profile', profiles.map(place)));
  if (endUsers) terms.push(isForThese(endUsers.map(place)));
  if (runKey !== undefined) terms.push(writeOwnerCondition(runKey, values.push(runKey)));
  return { sql: ['1 = 1', ...terms].join(' AND '), values };
}

/** The end users of the run of a row `w`. The row's own end user counts too, since a review's flag has no inquiry. */
const RUN_IS_FOR = [
  `SELECT coalesce(w.end_user_code, w.end_user) AS name WHERE coalesce(w.product_code, '') <> 'SECONDUSE'`,
  readEndUsers('w.run_key'),
].join(' UNION ALL ');

/** At least one end user is known, and all of them are among these. */
function isForThese(places: readonly string[]): string {
  const known = `FROM (${RUN_IS_FOR}) f WHERE f.name IS NOT NULL`;
  return `EXISTS (SELECT 1 ${known}) AND NOT EXISTS (SELECT 1 ${known} AND NOT (${writeInCondition('f.name', places)}))`;
}

/**
 * Reads only: one page of open rows, the oldest first. An attempt whose answer can no longer come counts as held, even if
 * no program has written that yet.
 */
export async function readOpenWork(
  { session, dialect }: Unsealed,
  { after, limit, ...filters }: WorkQuery,
): Promise<{ rows: WorkRow[]; hasMore: boolean }> {
  const { sql, values } = condition(filters);
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const behind = `(CAST(${place(after ? Date.parse(after.since) : -1)} AS BIGINT), ${place(after?.workId ?? '')})`;
  const inOrder = `ORDER BY w.since, w.work_id LIMIT ${place(limit + 1)}`;
  // Each source gives its own page, by its index.
  const pages = selectOpen(dialect).map(
    (source) => `SELECT * FROM (SELECT * FROM (${source}) w
      WHERE ${sql} AND (w.since, w.work_id) > ${behind} ${inOrder}) page`,
  );
  const found = await session.read<WorkRow>(`SELECT ${SHOWN} FROM (${pages.join(' UNION ALL ')}) w ${inOrder}`, values);
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}

/** Reads only: how many are open, by kind and reason; the most first. */
export async function countWork({ session, dialect }: Unsealed, filters: WorkFilters = {}): Promise<WorkCount[]> {
  const { sql, values } = condition(filters);
  const counts = await session.read<Omit<WorkCount, 'oldest'> & { since: string }>(
    `SELECT w.kind, w.reason, count(*) AS count, min(w.since) AS since
     FROM (${selectOpen(dialect).join(' UNION ALL ')}) w WHERE ${sql} GROUP BY w.kind, w.reason`,
    values,
  );
  return counts
    .map(({ since: oldest, ...counted }) => ({ ...counted, oldest }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** Reads the rows of one owner that ever needed an operator, oldest first. */
export function readWorkOfOwner({ session }: Transaction, runKey: string): Promise<WorkRow[]> {
  const { sql, values } = condition({ runKey });
  return session.read<WorkRow>(
    `SELECT ${SHOWN}, w.closed_at, w.closed_how, w.closed_by FROM operator_tasks w WHERE ${sql} ORDER BY w.since, w.work_id`,
    values,
  );
}
