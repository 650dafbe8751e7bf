/**
 * Work that needs a person, as rows: runs that hold, and flags. Defines a row and its lists. The ledger writes a row
 * with its cause, and closes it with its end. So a reader needs no worker, and rows outlive a lost run. Nothing
 * personal.
 */

import { utcInstant } from '../../base/instants.ts';
import type { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import type { FailureType } from '../../model/failure-types.ts';
import type { InquiryDescription, REPORT_CHANGED, SSN_MISMATCH } from '../../model/inquiry.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import { toFields } from '../database/rows.ts';
import type { SqlDialect, SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { RawRow as TableRow } from '../database/tables.ts';
import { refusalKept } from '../inquiries/inquiries.ts';
import { endUsersOfRun, inPlaces, ofOwner, type ReadersReach } from '../owners.ts';
import type { AttentionReason } from '../records.ts';

/** `held`: an inquiry waits for a decision. `flagged`: a person should look, and nothing waits for it. */
export type WorkKind = 'held' | 'flagged';

export type FlagReason = AttentionReason | typeof SSN_MISMATCH | typeof REPORT_CHANGED | typeof PORTFOLIO_UNAVAILABLE;

/** The key of a row: an inquiry has one hold at a time, and one flag of each reason. */
export interface WorkKey {
  /** The run key (model/run-key.ts). */
  runKey: string;
  kind: WorkKind;
  reason: FailureType | FlagReason;
  /** Absent where it is about the run, and about none of its inquiries. */
  customerTraceNumber?: string;
}

/** Further details of a hold from the run's status: docs/journeys.md. */
export interface WorkDetails {
  applicantIds?: readonly string[];
  httpStatus?: number;
  returnCode?: string;
  returnReasonCode?: string;
  otherTraceNumber?: string;
  resendFrom?: string;
  problems?: readonly Problem[];
}

/** An open row. */
export interface WorkRow extends WorkKey {
  workId: string;
  /** RFC 3339. By the run's clock; where a transaction of the ledger has caused it, by the ledger's. */
  since: string;
  gatewayProfile: string;
  endUserCode?: string;
  endUser?: string;
  productCode?: ProductCode;
  shareId?: string;
  /** The attempt that a decision judges. */
  attempt?: number;
  /** Absent where the inquiry itself says it (`Ledger.inquiry`). */
  details?: WorkDetails;
  /** The ledger keeps what the gateway wrote beside the status of this attempt. */
  refusalKept?: true;
}

/** A hold of a run. The inquiry is included since the ledger may not have it yet, and a decision needs its row. */
export interface RunHold extends Required<Pick<WorkRow, 'attempt' | 'since'>> {
  inquiry: InquiryDescription;
  reason: FailureType;
  details?: WorkDetails;
}

/** A flag that no transaction of the ledger can cause. */
export type RunFlag =
  | { reason: typeof REPORT_CHANGED; customerTraceNumber: string }
  | {
      reason: typeof PORTFOLIO_UNAVAILABLE;
      runKey: string;
      gatewayProfile: string;
      endUserCode?: string;
      /** The run's clock, RFC 3339. */
      at: string;
      /** The files can be reached again: the flag is closed. */
      isOver: boolean;
    };

/**
 * How a row was closed. `decided`, `overtaken` and `seen`: by the decision `by`; an overtaken one decided nothing, and
 * the run continues with the ledger's state. `claimed`: another attempt was made. `replaced`: another reason applies.
 * `ended`: its run has ended, or a later one of its id has begun, or the cause of a flag is over. `disposed`: its inquiry was disposed of.
 */
export interface WorkEnd {
  at: string;
  how: 'decided' | 'overtaken' | 'seen' | 'claimed' | 'replaced' | 'ended' | 'disposed';
  by?: string;
}

/**
 * A reader's reach leaves only rows of runs that are for these end users alone. A run is for the end users of its
 * inquiries, without the secondary users of its shares. A share by itself is for the end user of its report. The reader
 * never finds a run of which the ledger knows no end user.
 */
export interface WorkFilters extends ReadersReach {
  kind?: WorkKind;
  reason?: WorkKey['reason'];
  gatewayProfile?: string;
  productCode?: ProductCode;
  /** The end user of the row itself: for a share, its secondary user. */
  endUserCode?: string;
  /** RFC 3339: only rows from then on. */
  since?: string;
  /** For a portfolio review, all of its rows match as well. */
  runKey?: string;
  customerTraceNumber?: string;
}

export interface WorkQuery extends WorkFilters {
  /** `next` of the page before. */
  after?: string;
  /** At most so many rows; from 1. */
  limit: number;
}

export interface WorkPage {
  /** The oldest first. */
  rows: WorkRow[];
  /** Absent on the last page. */
  next?: string;
}

/** The `next` of a page that ends with this row. */
export function placeAfter({ since, workId }: Pick<WorkRow, 'since' | 'workId'>): string {
  return `${Date.parse(since)}.${workId}`;
}

export interface WorkCount {
  kind: WorkKind;
  reason: WorkKey['reason'];
  count: number;
  /** Since when the oldest of them waits, RFC 3339. */
  oldest: string;
}

/** Fields as in `RunDecision`. */
export interface RunSeen {
  runKey: string;
  decisionId: string;
  by: string;
  reason: string;
  /** RFC 3339. */
  decidedAt: string;
  /** Limits the record to flags for this reason. */
  flag?: FlagReason;
  runIsGone?: true;
}

export interface WorkStatement {
  text: string;
  values: SqlValue[];
}

/** When a resend may follow an attempt that may still arrive: a row that the ledger itself has opened says it nowhere else. */
const RESEND_FROM = `(SELECT a.resend_from FROM attempts a WHERE w.kind = 'held' AND a.attempt = w.attempt
  AND a.customer_trace_number = w.customer_trace_number AND a.state IN ('unknown', 'sending')) AS resend_from`;

/** Columns whose names a row shares with its object. */
const OF_INQUIRY = ['end_user_code', 'end_user', 'product_code', 'share_id', 'customer_trace_number'] as const;
const SHOWN = ['work_id', 'run_key', 'kind', 'reason', 'attempt', ...OF_INQUIRY] as const;

/** The open rows. */
const WRITTEN = '(SELECT * FROM work_for_people WHERE closed_at IS NULL) w';

/** Selects attempts whose answer can no longer come, and that no row shows as held yet, in the same form. */
function overdue({ now }: SqlDialect): string {
  return `(SELECT 'z-' || a.customer_trace_number || '-' || CAST(a.attempt AS TEXT) AS work_id, i.run_key, 'held' AS kind,
      'OutcomeUnknown' AS reason, a.answer_by AS since, i.profile, i.end_user_code, i.end_user, i.product_code,
      i.share_id, a.customer_trace_number, a.attempt, NULL AS details, NULL AS closed_at, NULL AS closed_how, NULL AS closed_by
    FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
    WHERE a.state = 'sending' AND a.answer_by <= ${now} AND NOT EXISTS (SELECT 1 FROM work_for_people o
      WHERE o.customer_trace_number = a.customer_trace_number AND o.kind = 'held' AND o.closed_at IS NULL)) w`;
}

/** One page from each of the two sources, each in order of age, and of ids where two are of one age. */
export function pageStatements(
  dialect: SqlDialect,
  { filters, sinceMs, workId, limit }: { filters: WorkFilters; sinceMs: number; workId: string; limit: number },
): WorkStatement[] {
  const { sql, values } = condition(filters);
  const place = values.length;
  return [WRITTEN, overdue(dialect)].map((source) => ({
    text: `SELECT w.*, ${refusalKept('w')}, ${RESEND_FROM} FROM ${source} WHERE ${sql}
       AND (w.since, w.work_id) > (CAST($${place + 1} AS BIGINT), $${place + 2})
     ORDER BY w.since, w.work_id LIMIT $${place + 3}`,
    values: [...values, sinceMs, workId, limit],
  }));
}

type CountRow = Pick<WorkCount, 'kind' | 'reason' | 'count'> & { oldest: number };

/** By kind and reason, from each of the two sources. */
export function countStatements(dialect: SqlDialect, filters: WorkFilters): WorkStatement[] {
  const { sql, values } = condition(filters);
  return [WRITTEN, overdue(dialect)].map((source) => ({
    text: `SELECT w.kind, w.reason, count(*) AS count, min(w.since) AS oldest FROM ${source} WHERE ${sql}
     GROUP BY w.kind, w.reason`,
    values,
  }));
}

/** One kind and reason may come from both sources. */
export async function readCounts(
  session: SqlSession,
  dialect: SqlDialect,
  filters: WorkFilters = {},
): Promise<CountRow[]> {
  const read = ({ text, values }: WorkStatement) => session.rows<CountRow>(text, values);
  return (await Promise.all(countStatements(dialect, filters).map(read))).flat();
}

/** Returns whether any row of this owner is open. */
export async function hasOpenWork({ session }: Transaction, runKey: string): Promise<boolean> {
  const { sql, values } = condition({ runKey });
  const rows = await session.rows(`SELECT 1 FROM work_for_people w WHERE ${sql} AND closed_at IS NULL LIMIT 1`, values);
  return rows.length > 0;
}

function condition(filters: WorkFilters) {
  const { kind, reason, gatewayProfile, productCode, endUserCode, profiles, endUsers, runKey } = filters;
  const values: SqlValue[] = [];
  const terms: string[] = [];
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const is = (column: string, value: string | undefined) => {
    if (value !== undefined) terms.push(`w.${column} = ${place(value)}`);
  };
  is('kind', kind);
  is('reason', reason);
  is('profile', gatewayProfile);
  is('product_code', productCode);
  is('end_user_code', endUserCode);
  is('customer_trace_number', filters.customerTraceNumber);
  if (filters.since !== undefined) terms.push(`w.since >= CAST(${place(Date.parse(filters.since))} AS BIGINT)`);
  if (profiles) terms.push(inPlaces('w.profile', profiles.map(place)));
  if (endUsers) terms.push(isForThese(endUsers.map(place)));
  if (runKey !== undefined) {
    const named = place(runKey);
    terms.push(`(w.run_key = ${named} OR ${ofOwner(runKey, values.length)})`);
  }
  return { sql: ['1 = 1', ...terms].join(' AND '), values };
}

/** Everybody whom the run of a row `w` is for. The row counts as well: a flag of a review is about no inquiry. */
const RUN_IS_FOR = [
  `SELECT coalesce(w.end_user_code, w.end_user) AS name WHERE coalesce(w.product_code, '') <> 'SECONDUSE'`,
  endUsersOfRun('w.run_key'),
].join(' UNION ALL ');

/** Some end user is known, and each is one of these. */
function isForThese(places: readonly string[]): string {
  const known = `FROM (${RUN_IS_FOR}) f WHERE f.name IS NOT NULL`;
  return `EXISTS (SELECT 1 ${known}) AND NOT EXISTS (SELECT 1 ${known} AND NOT (${inPlaces('f.name', places)}))`;
}

interface Row extends TableRow<'work_for_people'> {
  reason: WorkKey['reason'];
  refusal_kept: number | null;
  resend_from: number | null;
}

/**
 * Reads only: one page of open rows. An attempt whose answer can no longer come counts as held, even if no program has
 * written that yet.
 *
 * @throws RangeError where `after` is no `next` of a page, or `limit` is below 1
 */
export async function readOpenWork(
  { session, dialect }: Transaction,
  { after, limit, ...filters }: WorkQuery,
): Promise<WorkPage> {
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError('limit must be a whole number from 1');
  const { sinceMs, workId } = after === undefined ? { sinceMs: -1, workId: '' } : parsePlace(after);
  const statements = pageStatements(dialect, { filters, sinceMs, workId, limit: limit + 1 });
  const unsorted = (await Promise.all(statements.map(({ text, values }) => session.rows<Row>(text, values)))).flat();
  const rows = unsorted.sort(byAge).slice(0, limit);
  const last = rows.at(-1);
  return {
    rows: rows.map(toWorkRow),
    ...(last && unsorted.length > limit ? { next: placeAfter(toWorkRow(last)) } : {}),
  };
}

/** Reads only: how many are open, by kind and reason; the most first. */
export async function countWork({ session, dialect }: Transaction, filters: WorkFilters = {}): Promise<WorkCount[]> {
  const unsorted = await readCounts(session, dialect, filters);
  return [...Map.groupBy(unsorted, ({ kind, reason }) => `${kind} ${reason}`).values()]
    .map((of) => ({
      ...(of[0] as CountRow),
      count: of.reduce((sum, { count }) => sum + count, 0),
      oldest: utcInstant(Math.min(...of.map(({ oldest }) => oldest))),
    }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** Reads only: everything about one owner that ever needed a person, the oldest first. */
export async function readWorkOfOwner(
  { session }: Transaction,
  runKey: string,
): Promise<(WorkRow & { closed?: WorkEnd })[]> {
  const { sql, values } = condition({ runKey });
  const rows = await session.rows<Row>(
    `SELECT w.*, ${refusalKept('w')}, ${RESEND_FROM} FROM work_for_people w WHERE ${sql} ORDER BY w.since, w.work_id`,
    values,
  );
  return rows.map((row) => ({ ...toWorkRow(row), ...readEnd(row) }));
}

/** @throws RangeError */
function parsePlace(after: string): { sinceMs: number; workId: string } {
  const dot = after.indexOf('.');
  const sinceMs = Number(after.slice(0, dot));
  if (dot < 1 || !Number.isSafeInteger(sinceMs)) throw new RangeError('after must be the next of a page');
  return { sinceMs, workId: after.slice(dot + 1) };
}

/** Sorts like the database, by any collation: ids of rows are hexadecimal, those of overdue attempts begin with `z`. */
function byAge(a: Row, b: Row): number {
  return a.since - b.since || (a.work_id < b.work_id ? -1 : 1);
}

function toWorkRow(row: Row): WorkRow {
  return {
    ...toFields(row, SHOWN),
    since: utcInstant(row.since),
    gatewayProfile: row.profile,
    ...readDetails(row),
    ...(row.refusal_kept === 1 ? { refusalKept: true as const } : {}),
  };
}

function readDetails({ details, resend_from }: Row): Pick<WorkRow, 'details'> {
  const resend = resend_from === null ? {} : { resendFrom: utcInstant(resend_from) };
  const all = { ...resend, ...(details === null ? {} : JSON.parse(details)) };
  return Object.keys(all).length === 0 ? {} : { details: all };
}

function readEnd({ closed_at, closed_how, closed_by }: Row): { closed?: WorkEnd } {
  if (closed_at === null || closed_how === null) return {};
  const by = closed_by === null ? {} : { by: closed_by };
  return { closed: { at: utcInstant(closed_at), how: closed_how, ...by } };
}
