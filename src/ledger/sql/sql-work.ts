/** What needs a person, on any SQL engine: each method is one transaction. */
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import type { SqlEngine, SqlSession } from '../database/sql-session.ts';
import type { WriteTo } from '../database/writing.ts';
import { noteWork, seeRun, takeOver } from '../rows/work-notes.ts';
import { everOfOwner, pageStatements, readCounts, type WorkStatement } from '../rows/work-statements.ts';
import {
  placeAfter,
  type RunSeen,
  type Work,
  type WorkCount,
  type WorkEnd,
  type WorkFilters,
  type WorkKey,
  type WorkKind,
  type WorkNote,
  type WorkPage,
  type WorkQuery,
  type WorkRow,
} from '../work.ts';

interface Row {
  work_id: string;
  owner_id: string;
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
  resend_from: number | null;
  closed_at: number | null;
  closed_how: WorkEnd['how'] | null;
  closed_by: string | null;
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
    const wanted = { filters, sinceMs, workId, limit: limit + 1 };
    const found = await this.#engine.read(async (session) => {
      const read = ({ text, values }: WorkStatement) => session.rows<Row>(text, values);
      return (await Promise.all(pageStatements(this.#engine.dialect, wanted).map(read))).flat();
    });
    const rows = found.sort(byAge).slice(0, limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(rowOf),
      ...(last && found.length > limit ? { next: placeAfter(rowOf(last)) } : {}),
    };
  }

  async counts(filters: WorkFilters = {}): Promise<WorkCount[]> {
    const found = await this.#engine.read((session) => readCounts(session, this.#engine.dialect, filters));
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

  async takeOver(ledgerId: string, begun: { ownerId: string; before: string }): Promise<void> {
    return this.#write(ledgerId, async (writing) => {
      await takeOver(writing, begun);
      return { keep: true, value: undefined };
    });
  }

  markSeen(ledgerId: string, seen: RunSeen): Promise<boolean> {
    return this.#write(ledgerId, async (writing) => {
      const value = await seeRun(writing, seen);
      return { keep: value, value };
    });
  }
}

function readOf(session: SqlSession, ownerId: string): Promise<Row[]> {
  const { text, values } = everOfOwner(ownerId);
  return session.rows<Row>(text, values);
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
    ownerId: row.owner_id,
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
    ...detailsOf(row),
    ...(row.refusals_kept > 0 ? { refusalKept: true as const } : {}),
  };
}

function detailsOf({ details, resend_from }: Row): Pick<WorkRow, 'details'> {
  const resend = resend_from === null ? {} : { resendFrom: utcInstant(resend_from) };
  const all = { ...resend, ...(details === null ? {} : JSON.parse(details)) };
  return Object.keys(all).length === 0 ? {} : { details: all };
}

function endOf({ closed_at, closed_how, closed_by }: Row): { closed?: WorkEnd } {
  if (closed_at === null || closed_how === null) return {};
  const by = closed_by === null ? {} : { by: closed_by };
  return { closed: { at: utcInstant(closed_at), how: closed_how, ...by } };
}
