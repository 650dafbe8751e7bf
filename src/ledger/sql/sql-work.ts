/** What needs a person, on any SQL engine: each method is one transaction. */
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import type { SqlDialect, SqlEngine, SqlSession, SqlValue } from '../database/sql-session.ts';
import type { WriteTo } from '../database/writing.ts';
import { ofOwner } from '../rows/owner-rows.ts';
import { noteWork } from '../rows/work-for-people.ts';
import type {
  Work,
  WorkCount,
  WorkEnd,
  WorkFilters,
  WorkKey,
  WorkKind,
  WorkNote,
  WorkPage,
  WorkQuery,
  WorkRow,
} from '../work.ts';

interface Row {
  work_id: string;
  caller_id: string;
  kind: WorkKind;
  reason: WorkKey['reason'];
  since: number;
  profile: string;
  end_user_code: string | null;
  end_user: string | null;
  product_code: ProductCode | null;
  share_id: string | null;
  customer_trace_number: string | null;
  attempt: number | null;
  details: string | null;
  refusals_kept: number;
  closed_at: number | null;
  closed_how: WorkEnd['how'] | null;
  closed_by: string | null;
}

/** A refusal that is kept of the attempt of a row `w`. */
const REFUSALS_KEPT = `(SELECT count(*) FROM refusal_bodies b WHERE b.customer_trace_number = w.customer_trace_number
  AND b.attempt = w.attempt AND b.late = 0 AND b.body IS NOT NULL) AS refusals_kept`;

/** The open rows. */
const WRITTEN = '(SELECT * FROM work_for_people WHERE closed_at IS NULL) w';

/** Attempts whose answer can no longer come, and of which nobody has written yet that they are held, in the same form. */
function overdue({ now }: SqlDialect): string {
  return `(SELECT 'z-' || a.customer_trace_number || '-' || CAST(a.attempt AS TEXT) AS work_id, i.caller_id, 'held' AS kind,
      'OutcomeUnknown' AS reason, a.answer_by AS since, i.profile, i.end_user_code, i.end_user, i.product_code,
      i.share_id, a.customer_trace_number, a.attempt, NULL AS details, NULL AS closed_at, NULL AS closed_how, NULL AS closed_by
    FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
    WHERE a.state = 'sending' AND a.answer_by <= ${now} AND NOT EXISTS (SELECT 1 FROM work_for_people o
      WHERE o.customer_trace_number = a.customer_trace_number AND o.kind = 'held' AND o.closed_at IS NULL)) w`;
}

export class SqlWork implements Work {
  readonly #engine: SqlEngine;
  readonly #write: WriteTo;

  constructor(engine: SqlEngine, write: WriteTo) {
    this.#engine = engine;
    this.#write = write;
  }

  async open({ after, limit, ...filters }: WorkQuery): Promise<WorkPage> {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError('limit must be a whole number from 1');
    const { sinceMs, workId } = after === undefined ? { sinceMs: -1, workId: '' } : placeOf(after);
    const where = condition(filters);
    const place = where.values.length;
    const { dialect } = this.#engine;
    const found = await this.#engine.read((session) =>
      both(dialect, (source) =>
        session.rows<Row>(
          `SELECT w.*, ${REFUSALS_KEPT} FROM ${source} WHERE ${where.sql}
             AND (w.since, w.work_id) > (CAST($${place + 1} AS BIGINT), $${place + 2})
           ORDER BY w.since, w.work_id LIMIT $${place + 3}`,
          [...where.values, sinceMs, workId, limit + 1],
        ),
      ),
    );
    const rows = found.sort(byAge).slice(0, limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(rowOf),
      ...(last && found.length > limit ? { next: `${last.since}.${last.work_id}` } : {}),
    };
  }

  async counts(filters: WorkFilters = {}): Promise<WorkCount[]> {
    const { sql, values } = condition(filters);
    const found = await this.#engine.read((session) =>
      both(this.#engine.dialect, (source) =>
        session.rows<Pick<Row, 'kind' | 'reason'> & { count: number; oldest: number }>(
          `SELECT w.kind, w.reason, count(*) AS count, min(w.since) AS oldest FROM ${source} WHERE ${sql}
           GROUP BY w.kind, w.reason`,
          values,
        ),
      ),
    );
    return [...Map.groupBy(found, ({ kind, reason }) => `${kind} ${reason}`).values()]
      .map((of) => ({
        kind: of[0]?.kind as WorkKind,
        reason: of[0]?.reason as WorkKey['reason'],
        count: of.reduce((sum, { count }) => sum + count, 0),
        oldest: utcInstant(Math.min(...of.map(({ oldest }) => oldest))),
      }))
      .sort((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1));
  }

  async of(ownerId: string): Promise<(WorkRow & { closed?: WorkEnd })[]> {
    const rows = await this.#engine.read((session) => readOf(session, ownerId));
    return rows.map((row) => ({ ...rowOf(row), ...endOf(row) }));
  }

  note(ledgerId: string, note: WorkNote): Promise<void> {
    return this.#write(ledgerId, async (writing) => {
      await noteWork(writing, note);
      return { keep: true, value: undefined };
    });
  }
}

async function both<T>(dialect: SqlDialect, read: (source: string) => Promise<T[]>): Promise<T[]> {
  return [...(await read(WRITTEN)), ...(await read(overdue(dialect)))];
}

function readOf(session: SqlSession, ownerId: string): Promise<Row[]> {
  const { sql, values } = condition({ ownerId });
  return session.rows<Row>(
    `SELECT w.*, ${REFUSALS_KEPT} FROM work_for_people w WHERE ${sql} ORDER BY w.since, w.work_id`,
    values,
  );
}

function condition({ kind, reason, gatewayProfile, endUserCode, ownerId }: WorkFilters) {
  const values: SqlValue[] = [];
  const terms: string[] = [];
  const add = (term: (place: number) => string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    terms.push(term(values.length));
  };
  add((place) => `w.kind = $${place}`, kind);
  add((place) => `w.reason = $${place}`, reason);
  add((place) => `w.profile = $${place}`, gatewayProfile);
  add((place) => `w.end_user_code = $${place}`, endUserCode);
  add((place) => `(caller_id = $${place} OR ${ofOwner(ownerId ?? '', place)})`, ownerId);
  return { sql: ['1 = 1', ...terms].join(' AND '), values };
}

/** @throws RangeError */
function placeOf(after: string): { sinceMs: number; workId: string } {
  const dot = after.indexOf('.');
  const sinceMs = Number(after.slice(0, dot));
  if (dot < 1 || !Number.isSafeInteger(sinceMs)) throw new RangeError('after must be the next of a page');
  return { sinceMs, workId: after.slice(dot + 1) };
}

/** As the database sorts, by any collation: ids of rows are hexadecimal, and those of overdue attempts begin with `z`. */
function byAge(one: Row, other: Row): number {
  return one.since - other.since || (one.work_id < other.work_id ? -1 : 1);
}

function rowOf(row: Row): WorkRow {
  const { end_user_code, end_user, product_code, share_id, customer_trace_number, attempt } = row;
  return {
    workId: row.work_id,
    ownerId: row.caller_id,
    kind: row.kind,
    reason: row.reason,
    since: utcInstant(row.since),
    gatewayProfile: row.profile,
    ...(end_user_code === null ? {} : { endUserCode: end_user_code }),
    ...(end_user === null ? {} : { endUser: end_user }),
    ...(product_code === null ? {} : { productCode: product_code }),
    ...(share_id === null ? {} : { shareId: share_id }),
    ...(customer_trace_number === null ? {} : { customerTraceNumber: customer_trace_number }),
    ...(attempt === null ? {} : { attempt }),
    ...(row.details === null ? {} : { details: JSON.parse(row.details) }),
    ...(row.refusals_kept > 0 ? { refusalKept: true as const } : {}),
  };
}

function endOf({ closed_at, closed_how, closed_by }: Row): { closed?: WorkEnd } {
  if (closed_at === null || closed_how === null) return {};
  const by = closed_by === null ? {} : { by: closed_by };
  return { closed: { at: utcInstant(closed_at), how: closed_how, ...by } };
}
