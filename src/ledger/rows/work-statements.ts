/** The statements that read `work_for_people`, and its counts. */
import type { SqlDialect, SqlSession, SqlValue } from '../database/sql-session.ts';
import type { WorkFilters } from '../work.ts';
import { ofOwner } from './owner-rows.ts';
import { endUsersOfRun, isOneOf } from './readers-reach.ts';

export interface WorkStatement {
  text: string;
  values: SqlValue[];
}

/** A refusal that is kept of the attempt of a row `w`. */
const REFUSALS_KEPT = `(SELECT count(*) FROM refusal_bodies b WHERE b.customer_trace_number = w.customer_trace_number
  AND b.attempt = w.attempt AND b.late = 0 AND b.body IS NOT NULL) AS refusals_kept`;

/** When a resend may follow an attempt that may still arrive: a row that the ledger itself has opened says it nowhere else. */
const RESEND_FROM = `(SELECT a.resend_from FROM attempts a WHERE w.kind = 'held' AND a.attempt = w.attempt
  AND a.customer_trace_number = w.customer_trace_number AND a.state IN ('unknown', 'sending')) AS resend_from`;

/** The open rows. */
const WRITTEN = '(SELECT * FROM work_for_people WHERE closed_at IS NULL) w';

/** Attempts whose answer can no longer come, and of which nobody has written yet that they are held, in the same form. */
function overdue({ now }: SqlDialect): string {
  return `(SELECT 'z-' || a.customer_trace_number || '-' || CAST(a.attempt AS TEXT) AS work_id, i.owner_id, 'held' AS kind,
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
    text: `SELECT w.*, ${REFUSALS_KEPT}, ${RESEND_FROM} FROM ${source} WHERE ${sql}
       AND (w.since, w.work_id) > (CAST($${place + 1} AS BIGINT), $${place + 2})
     ORDER BY w.since, w.work_id LIMIT $${place + 3}`,
    values: [...values, sinceMs, workId, limit],
  }));
}

interface CountRow {
  kind: string;
  reason: string;
  count: number;
  oldest: number;
}

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

/** Everything about one owner, open or closed. */
export function everOfOwner(ownerId: string): WorkStatement {
  const { sql, values } = condition({ ownerId });
  return {
    text: `SELECT w.*, ${REFUSALS_KEPT}, ${RESEND_FROM} FROM work_for_people w WHERE ${sql} ORDER BY w.since, w.work_id`,
    values,
  };
}

/** Whether anything stands by the word of a run of this owner. */
export function openOfOwner(ownerId: string): WorkStatement {
  const { sql, values } = condition({ ownerId });
  return {
    text: `SELECT 1 FROM work_for_people w WHERE ${sql} AND noted_at IS NOT NULL AND closed_at IS NULL LIMIT 1`,
    values,
  };
}

function condition(filters: WorkFilters) {
  const { kind, reason, gatewayProfile, endUserCode, profiles, endUsers, ownerId, customerTraceNumber } = filters;
  const values: SqlValue[] = [];
  const terms: string[] = [];
  const place = (value: string) => `$${values.push(value)}`;
  const is = (column: string, value: string | undefined) => {
    if (value !== undefined) terms.push(`w.${column} = ${place(value)}`);
  };
  is('kind', kind);
  is('reason', reason);
  is('profile', gatewayProfile);
  is('end_user_code', endUserCode);
  is('customer_trace_number', customerTraceNumber);
  if (profiles) terms.push(isOneOf('w.profile', profiles.map(place)));
  if (endUsers) terms.push(isForThese(endUsers.map(place)));
  if (ownerId !== undefined) {
    const named = place(ownerId);
    terms.push(`(w.owner_id = ${named} OR ${ofOwner(ownerId, values.length)})`);
  }
  return { sql: ['1 = 1', ...terms].join(' AND '), values };
}

/** Everybody whom the run of a row `w` is for. The row counts as well: its inquiry may be no row yet. */
const RUN_IS_FOR = [
  `SELECT coalesce(w.end_user_code, w.end_user) AS name WHERE coalesce(w.product_code, '') <> 'SECONDUSE'`,
  endUsersOfRun('w.owner_id'),
].join(' UNION ALL ');

/** Some end user is known, and each is one of these. */
function isForThese(places: readonly string[]): string {
  const known = `FROM (${RUN_IS_FOR}) f WHERE f.name IS NOT NULL`;
  return `EXISTS (SELECT 1 ${known}) AND NOT EXISTS (SELECT 1 ${known} AND NOT (${isOneOf('f.name', places)}))`;
}
