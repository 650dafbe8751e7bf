/** Reads audited decisions, consents, disposals and readings in pages, and finds records by their names. */

import { utcInstant } from '../../base/instants.ts';
import { type ConsentRow, consentRecord } from '../consents/consents.ts';
import { type Page, periodMs, readKeyset } from '../database/pages.ts';
import { type Columns, toFields } from '../database/rows.ts';
import type { SqlValue, Transaction } from '../database/sql-session.ts';

import { withoutForeignRuns } from '../owners.ts';
import { toEvent } from '../retention/retention-log.ts';
import type {
  AccessesQuery,
  AuditedAccess,
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShareWithdrawal,
  DecisionsQuery,
  NamedRecord,
  RecordsQuery,
} from './audited.ts';

/** No index has their times, since they are few beside attempts: a page looks at all of them. */
const PAGE_SIZE = 5_000;

/** The columns by which rows are ordered. `row_key` makes the order total. */
interface Ordered {
  recorded_at: number;
  row_key: string;
}

/**
 * Reads only: decisions of people that were recorded in a period, oldest first: about inquiries, `seen` among them, and
 * about runs.
 */
export function readDecisionsPage(
  tx: Transaction,
  query: DecisionsQuery,
  after?: Ordered,
): Promise<Page<AuditedDecision, Ordered>> {
  const { runKey, customerTraceNumber, by } = query;
  const rows = `SELECT d.recorded_at, d.customer_trace_number || ' ' || d.decision_id AS row_key, d.customer_trace_number,
      d.decision_id, d.attempt, d.action, d.by, d.reason, d.provider_said, d.failure_type, d.decided_at, d.proven_by,
      i.run_key, i.product_code, i.profile, i.share_id, i.end_user_code, i.end_user, NULL AS until
      FROM decisions d JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
    UNION ALL
    SELECT r.recorded_at, r.run_key || ' ' || r.decision_id || ' ' || r.version, r.customer_trace_number, r.decision_id,
      NULL, r.action, r.by, r.reason, NULL, NULL, r.decided_at, NULL, r.run_key, coalesce(r.stage, i.product_code),
      i.profile, coalesce(r.share_id, i.share_id), i.end_user_code, i.end_user, r.until
      FROM run_decisions r LEFT JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
      WHERE r.action <> 'withdrawShare'`;
  const conditions = { run_key: runKey, customer_trace_number: customerTraceNumber, by };
  return readPage<AuditedDecision>(tx, { rows, conditions, query, after });
}

/** Reads like `readDecisionsPage`: consents and refusals, including those under which nothing was sent. */
export function readConsentsPage(
  tx: Transaction,
  query: RecordsQuery,
  after?: Ordered,
): Promise<Page<AuditedConsent, Ordered>> {
  const rows = `SELECT c.*, c.journey_id || ' ' || c.share_id || ' ' || c.applicant_id || ' ' || c.consent_id || ' ' ||
      c.decision AS row_key,
      (SELECT count(*) FROM attempt_consents l WHERE c.decision = 'granted' AND l.journey_id = c.journey_id
        AND l.share_id = c.share_id AND l.applicant_id = c.applicant_id AND l.consent_id = c.consent_id) AS permitted
    FROM consents c`;
  const conditions = { journey_id: query.runKey };
  return readPage(tx, { rows, conditions, query, after, toAudited: toAuditedConsent });
}

/** Reads like `readDecisionsPage`: disposals that were begun or finished, and legal holds set or released. */
export function readDisposalsPage(
  tx: Transaction,
  query: RecordsQuery,
  after?: Ordered,
): Promise<Page<AuditedDisposal, Ordered>> {
  const conditions = { run_key: query.runKey };
  const rows = 'SELECT e.*, e.event_id AS row_key FROM retention_events e';
  return readPage(tx, { rows, conditions, query, after, toAudited: toEvent });
}

/** Reads like `readDecisionsPage`: shares that were withdrawn before they were sent. */
export function readShareWithdrawalsPage(
  tx: Transaction,
  query: RecordsQuery,
  after?: Ordered,
): Promise<Page<AuditedShareWithdrawal, Ordered>> {
  const rows = `SELECT w.run_key, w.share_id, w.replaced_by, w.by, w.reason, w.recorded_at,
      w.run_key || ' ' || w.share_id AS row_key FROM run_decisions w WHERE w.action = 'withdrawShare'`;
  return readPage<AuditedShareWithdrawal>(tx, { rows, conditions: { run_key: query.runKey }, query, after });
}

/** Reads like `readDecisionsPage`: readings of sealed content. */
export function readAccessesPage(
  tx: Transaction,
  query: AccessesQuery,
  after?: Ordered,
): Promise<Page<AuditedAccess, Ordered>> {
  const { runKey, customerTraceNumber, by } = query;
  const rows = `SELECT r.recorded_at, r.access_id AS row_key, r.access_id, r.kind, i.run_key, r.customer_trace_number,
      r.attempt, i.product_code, i.end_user_code, i.end_user, r.purpose, r.by, r.via, r.redacted
    FROM report_accesses r JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number`;
  const conditions = { run_key: runKey, customer_trace_number: customerTraceNumber, by };
  return readPage<AuditedAccess>(tx, { rows, conditions, query, after });
}

interface Source<Audited> {
  rows: string;
  /** Columns and the values that they must have. The first is the owner's. */
  conditions: Readonly<Record<string, string | undefined>>;
  query: RecordsQuery;
  after: Ordered | undefined;
  /** Default: each column is a field. */
  // biome-ignore lint/suspicious/noExplicitAny: each list has rows of its own
  toAudited?: (row: any) => Audited;
}

async function readPage<Audited>(
  { session }: Transaction,
  { rows, conditions, query, after, toAudited = (row) => toFields(row) as Audited }: Source<Audited>,
): Promise<Page<Audited, Ordered>> {
  const { fromMs, beforeMs } = periodMs(query);
  const values: SqlValue[] = [fromMs, beforeMs];
  const place = (value: string) => `$${values.push(value)}`;
  const wanted = Object.entries(conditions).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${place(value)}`],
  );
  const [owner] = Object.keys(conditions);
  const { items, end } = await readKeyset<Ordered, keyof Ordered>(session, {
    from: `(${rows}) found`,
    where: ['recorded_at >= $1 AND recorded_at < $2', ...wanted, ...withoutForeignRuns(`found.${owner}`, query, place)],
    values,
    order: ['recorded_at', 'row_key'],
    after,
    limit: PAGE_SIZE,
  });
  return { items: items.map(({ row_key: _, ...row }) => toAudited(row)), end };
}

function toAuditedConsent(row: ConsentRow & { permitted: number }): AuditedConsent {
  const { journeyId: runKey, secondaryUser, ...consent } = consentRecord(row);
  return {
    runKey,
    ...consent,
    ...secondaryUser,
    recordedAt: utcInstant(row.recorded_at),
    permittedAttempts: row.permitted,
    ...(row.unmatched === null ? {} : { unmatched: row.unmatched }),
  };
}

// Finds records by their own names: a trace number, a share's id, a decision's. Each by an index.

/** Enough to show that a name is common. */
const MOST = 20;

const OF_INQUIRY = 'i.run_key, i.customer_trace_number, i.share_id FROM';

const SOURCES = [
  `SELECT 'inquiry' AS what, ${OF_INQUIRY} inquiries i WHERE i.customer_trace_number = $1`,
  `SELECT 'share' AS what, ${OF_INQUIRY} inquiries i WHERE i.share_id = $1`,
  // These find a share that was not sent yet.
  ...[
    ['report_shares', 'run_key'],
    ['consents', 'journey_id'],
  ].map(
    ([
      table,
      owner,
    ]) => `SELECT DISTINCT 'share' AS what, s.${owner} AS run_key, NULL AS customer_trace_number, s.share_id
      FROM ${table} s WHERE s.share_id = $1`,
  ),
  `SELECT 'decision' AS what, ${OF_INQUIRY} decisions d
   JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1`,
  `SELECT DISTINCT 'decision' AS what, d.run_key, d.customer_trace_number, coalesce(d.share_id, i.share_id) AS share_id
   FROM run_decisions d LEFT JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
   WHERE d.decision_id = $1`,
];

/**
 * Reads only: the records with exactly this name, which is a trace number or the id of a share or a decision. Returns
 * at most 20, by an index. A journey's share is known from its first consent on.
 */
export async function readNamed({ session }: Transaction, name: string): Promise<NamedRecord[]> {
  const found: NamedRecord[] = [];
  for (const source of SOURCES) {
    const rows = await session.rows<Columns<NamedRecord>>(`${source} LIMIT ${MOST}`, [name]);
    found.push(...rows.map((row) => toFields(row)));
  }
  const isRepeated = (record: NamedRecord, index: number) =>
    record.what === 'share' &&
    found.findIndex(({ what, runKey }) => what === 'share' && runKey === record.runKey) < index;
  return found.filter((record, index) => !isRepeated(record, index)).slice(0, MOST);
}
