/** Reads audited decisions, consents, disposals and readings in pages, and finds records by their names. */

import type { z } from 'zod';
import { pick } from '../../base/defined.ts';
import { type Page, readKeyset, selectPeriod } from '../database/pages.ts';
import type { SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import { type ReadersReach, withoutForeignRuns } from '../owners.ts';
import { type AccessesQuery, type NamedRecord, RECORDS } from './audited.ts';

/**
 * Rows that one statement looks at, whether or not a reader may see them. The tables of decisions and orders have no index
 * on the time, so pages are large.
 */
const PAGE_SIZE = 5_000;

/** The members by which rows are ordered. `rowKey` makes the order total. */
interface Ordered {
  recordedAt: string;
  rowKey: string;
}

type ReadPage<Item> = (tx: Transaction, query: AccessesQuery, after?: Ordered) => Promise<Page<Item, Ordered>>;

const CONSENT = `c.*, c.journey_id AS run_key, c.recorded_at AS since,
    c.journey_id || ' ' || c.share_id || ' ' || c.applicant_id || ' ' || c.consent_id || ' ' || c.decision AS row_key`;

/** Read only: the records of a period, oldest first, by the names that the ledger's methods have. */
export const RECORD_PAGES = {
  /** A person's decisions about inquiries, and about runs. */
  decisionsBetween: createReader(
    RECORDS.decisions.output,
    `SELECT d.recorded_at, d.customer_trace_number || ' ' || d.decision_id AS row_key, d.customer_trace_number,
        d.decision_id, d.attempt, d.action, d.by, d.reason, d.provider_said, d.failure_type, d.decided_at, d.proven_by,
        i.run_key, i.product_code, i.profile, i.share_id, i.end_user_code, i.end_user, NULL AS until
      FROM decisions d JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
    UNION ALL
    SELECT r.recorded_at, r.order_id, r.customer_trace_number, r.decision_id, NULL, r.kind, r.by, r.reason, NULL, NULL, r.decided_at, NULL, r.run_key, coalesce(r.stage, i.product_code),
        i.profile, coalesce(r.share_id, i.share_id), i.end_user_code, i.end_user, r.until
      FROM orders r LEFT JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
      WHERE r.decision_id IS NOT NULL`,
  ),

  /** Consents and refusals, including those under which nothing was sent. */
  consentsBetween: createReader(
    RECORDS.consents.output.omit({ stands: true }),
    `SELECT ${CONSENT},
      CASE WHEN c.proof IS NULL THEN 0 ELSE 1 END AS has_proof,
      (SELECT count(*) FROM attempt_consents l WHERE c.decision = 'granted' AND l.journey_id = c.journey_id
        AND l.share_id = c.share_id AND l.applicant_id = c.applicant_id AND l.consent_id = c.consent_id) AS permitted_attempts
    FROM consents c`,
  ),

  /** The consents that match nothing, and that no person has marked as seen. */
  unmatchedBetween: createReader(
    RECORDS.unmatchedConsents.output,
    `SELECT ${CONSENT} FROM consents c WHERE c.unmatched IS NOT NULL AND c.seen_at IS NULL`,
    (now) => `listed_from <= ${now}`,
  ),

  /** Disposals that were begun or finished, and legal holds set or released. */
  disposalsBetween: createReader(
    RECORDS.disposals.output,
    'SELECT e.*, e.order_id AS row_key FROM orders e WHERE e.run_key IS NOT NULL AND e.decision_id IS NULL',
  ),

  /** Readings of sealed content. */
  accessesBetween: createReader(
    RECORDS.accesses.output,
    `SELECT r.*, r.access_id AS row_key, i.run_key, i.product_code, i.end_user_code, i.end_user
      FROM report_accesses r JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number`,
  ),
};

/** Makes a reader of records: each member of a record is a column of the statement. */
function createReader<Shape extends z.ZodRawShape>(
  record: z.ZodObject<Shape>,
  rows: string,
  isListed = (_now: string) => '1 = 1',
): ReadPage<z.infer<z.ZodObject<Shape>>> {
  const members = Object.keys(record.shape);
  return async (session, query, after) => {
    const { where, values, place } = selectPeriod('recordedAt', query, ['runKey', 'customerTraceNumber', 'by']);
    const isReached = ['1 = 1', ...withoutForeignRuns('found.run_key', query, place)].join(' AND ');
    const { items, end } = await readKeyset<Ordered & { isReached: number }>(session, {
      columns: `*, CASE WHEN ${isReached} THEN 1 ELSE 0 END AS is_reached`,
      from: `(${rows}) found`,
      where: [...where, isListed(session.dialect.now)],
      values,
      order: ['recordedAt', 'rowKey'],
      after,
      limit: PAGE_SIZE,
    });
    const reached = items.filter((row) => row.isReached === 1);
    return { items: reached.map((row) => pick(row, members as never[]) as z.infer<typeof record>), end };
  };
}

/** One more than a search shows. */
const MOST = 21;

/** Each part finds records by an index. A share that was not sent yet is found by its report or its consents. */
const NAMED = `SELECT 'inquiry' AS what, run_key, customer_trace_number, share_id FROM inquiries WHERE customer_trace_number = $1
  UNION ALL
  SELECT 'share', run_key, min(customer_trace_number), $1 FROM (
      SELECT run_key, customer_trace_number FROM inquiries WHERE share_id = $1
      UNION ALL SELECT run_key, NULL FROM report_shares WHERE share_id = $1
      UNION ALL SELECT journey_id, NULL FROM consents WHERE share_id = $1) shares
    GROUP BY run_key
  UNION ALL
  SELECT 'decision', i.run_key, i.customer_trace_number, i.share_id
    FROM decisions d JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1
  UNION ALL
  SELECT DISTINCT 'decision', d.run_key, d.customer_trace_number, coalesce(d.share_id, i.share_id)
    FROM orders d LEFT JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number WHERE d.decision_id = $1`;

/**
 * Reads only: at most 21 records with exactly this name, which is a trace number or the id of a share or a decision. Others
 * than the reader's do not count: many runs may have a share of one name.
 */
export function readNamed(session: SqlSession, name: string, reach: ReadersReach): Promise<NamedRecord[]> {
  const values: SqlValue[] = [name];
  const isReached = withoutForeignRuns('named.run_key', reach, (value) => `$${values.push(value)}`);
  const where = ['1 = 1', ...isReached].join(' AND ');
  return session.read<NamedRecord>(`SELECT * FROM (${NAMED}) named WHERE ${where} LIMIT ${MOST}`, values);
}
