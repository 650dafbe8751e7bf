/**
 * Disposal (docs/retention.md): its obstacles, and the statements that destroy personal data.
 *
 * The order matters. (1) The ledger records the begin, which closes the fence for good. (2) The caller deletes the runs
 * from Temporal, which is no record; the ledger records each deletion before it is made. (3) One transaction checks
 * everything again and destroys the ledger's content. After a crash before (3) the disposal can be repeated. Until (3)
 * no reader sees "disposed of" although a copy is left in Temporal. With (3) before (2), the rows would say so too
 * early. Without (1), a journey started between (2) and (3) would continue with a ledger whose answers are about to be
 * destroyed.
 *
 * Each step reads the legal holds after it has locked the chain's head (retention-log.ts), so a hold that is set
 * between two steps stops the disposal there.
 */

import { utcInstant } from '../../base/instants.ts';
import type { AuditedDisposal } from '../audit/audited.ts';
import { toFields } from '../database/rows.ts';
import {
  type SqlDialect,
  type SqlSession,
  type SqlValue,
  type Transaction,
  undone,
  type Written,
} from '../database/sql-session.ts';
import { endByDisposal } from '../holds/holds.ts';
import { IS_LATE_NEWS, readUndecided, selectDoubtful } from '../inquiries/inquiries.ts';
import { ofOwner, ownerOfRuns } from '../owners.ts';
import type { AgeQuery, Authorization, DisposalScope, DisposalVerdict, Obstacle } from './retention.ts';
import {
  appendEvent,
  countDeletedHistories,
  readDisposalTimes,
  readHolds,
  toObstacle,
  unlessHeld,
} from './retention-log.ts';

export type DisposalView = Awaited<ReturnType<typeof readDisposalView>>;

/**
 * Reads only: what a disposal of the scope would destroy, and what is in its way. `begunAt`: it was begun, and not
 * finished. `runs`: they have claimed attempts under the id, for any product. Holds on other rows of a review keep its runs,
 * whose histories are about all rows.
 */
export async function readDisposalView(tx: Transaction, scope: DisposalScope) {
  const { session } = tx;
  const { sql, values } = selectUndisposed(scope);
  const [counted] = await session.rows<
    Record<'inquiries' | 'reports' | 'created_at' | 'claimed_at' | 'recorded_at' | 'late_at', number | null>
  >(
    `SELECT count(DISTINCT i.customer_trace_number) AS inquiries,
       (SELECT count(*) FROM sealed_bodies WHERE kind = 'report' AND body IS NOT NULL
         AND customer_trace_number IN (${sql})) AS reports,
       max(i.created_at) AS created_at, max(a.claimed_at) AS claimed_at, max(a.recorded_at) AS recorded_at,
       max(a.late_at) AS late_at
     FROM inquiries i LEFT JOIN attempts a ON a.customer_trace_number = i.customer_trace_number
     WHERE i.customer_trace_number IN (${sql})`,
    values,
  );
  const runs = await session.rows<{ workflow_id: string; run_id: string }>(
    ['attempts', 'closed_attempts']
      .map(
        (table) => `SELECT workflow_id, run_id FROM ${table} WHERE customer_trace_number IN
          (SELECT customer_trace_number FROM inquiries WHERE ${ofOwner(scope.runKey)})`,
      )
      .join(' UNION '),
    [scope.runKey],
  );
  const { begunAtMs, disposedAtMs } = await readDisposalTimes(session, scope);
  const isUnfinished = begunAtMs !== null && (disposedAtMs === null || disposedAtMs < begunAtMs);
  const { created_at, claimed_at, recorded_at, late_at } = counted ?? {};
  const newestAtMs = Math.max(...[created_at, claimed_at, recorded_at, late_at].map((ms) => ms ?? 0));
  const holds = await readHolds({ session }, scope.runKey);
  const holdsOnRuns = await readHolds({ session }, ownerOfRuns(scope.runKey));
  return {
    ...scope,
    inquiries: counted?.inquiries ?? 0,
    reports: counted?.reports ?? 0,
    ...(newestAtMs === 0 ? {} : { newestAt: utcInstant(newestAtMs) }),
    ...(isUnfinished ? { begunAt: utcInstant(begunAtMs) } : {}),
    ...(disposedAtMs === null ? {} : { disposedAt: utcInstant(disposedAtMs) }),
    runs: runs.map((row) => toFields(row)),
    obstacles: [...holds.map(toObstacle), ...(await readNeeds(tx, scope))] satisfies Obstacle[] as Obstacle[],
    holdsOnOtherRows: holdsOnRuns.filter(({ runKey }) => !holds.some((hold) => hold.runKey === runKey)),
    histories: await countDeletedHistories(session, ownerOfRuns(scope.runKey)),
  };
}

type Need = Exclude<Obstacle, { reason: 'legalHold' }>;

/** Reads the obstacles of a scope, except legal holds: each is an inquiry that is not finished. */
async function readNeeds(tx: Transaction, scope: DisposalScope): Promise<Need[]> {
  const { session } = tx;
  const { sql, values } = selectUndisposed(scope);
  const needs = await session.rows<{ reason: Need['reason'] | 'doubtful' } & TraceRow>(
    `SELECT 'sending' AS reason, customer_trace_number FROM attempts
     WHERE state = 'sending' AND answer_by > ${tx.dialect.now} AND customer_trace_number IN (${sql})
     UNION SELECT 'doubtful', customer_trace_number FROM (${selectDoubtful(tx.dialect, sql)}) doubtful
     UNION SELECT 'attention', w.customer_trace_number FROM work_for_people w
     WHERE ${IS_LATE_NEWS} AND w.customer_trace_number IN (${sql})
     ORDER BY 2, 1`,
    values,
  );
  const found: Need[] = [];
  for (const { reason: claimed, customer_trace_number: customerTraceNumber } of needs) {
    const reason = claimed === 'doubtful' ? 'undecided' : claimed;
    if (claimed === 'doubtful' && !(await readUndecided(tx, customerTraceNumber))) continue;
    found.push({ reason, customerTraceNumber });
  }
  return found;
}

interface TraceRow {
  customer_trace_number: string;
}

/** The scope's inquiries that are not disposed of yet; its values begin at `$from`. */
function selectUndisposed({ runKey, productCode }: DisposalScope, from = 1): { sql: string; values: SqlValue[] } {
  const ofProduct = productCode === undefined ? '' : ` AND product_code = $${from + 1}`;
  return {
    sql: `SELECT customer_trace_number FROM inquiries WHERE ${ofOwner(runKey, from)}${ofProduct} AND disposed_at IS NULL`,
    values: productCode === undefined ? [runKey] : [runKey, productCode],
  };
}

/**
 * Reads only: ids whose newest attempt or answer is old enough, also those with obstacles. Lists each id once, with the
 * oldest of its remaining inquiries, so that no list of ids has to be kept.
 */
export async function readOlderThan(
  { session, dialect }: Transaction,
  { olderThanMs, productCode, limit, after }: AgeQuery,
) {
  const ofProduct = (alias: string) => (productCode === undefined ? '' : `AND ${alias}.product_code = $5`);
  const rows = await session.rows<{ run_key: string; created_at: number } & TraceRow>(
    `SELECT i.run_key, i.created_at, i.customer_trace_number
     FROM inquiries i CROSS JOIN (SELECT ${dialect.now} - $1 AS ms FROM ledger_identity) cut
     WHERE i.disposed_at IS NULL AND i.created_at < cut.ms ${ofProduct('i')}
       AND (i.created_at, i.customer_trace_number) > ($2, $3)
       AND NOT EXISTS (SELECT 1 FROM inquiries o
         WHERE o.run_key = i.run_key AND o.disposed_at IS NULL ${ofProduct('o')}
           AND (o.created_at, o.customer_trace_number) < (i.created_at, i.customer_trace_number))
       AND NOT EXISTS (SELECT 1 FROM inquiries o LEFT JOIN attempts a ON a.customer_trace_number = o.customer_trace_number
         WHERE o.run_key = i.run_key AND o.disposed_at IS NULL ${ofProduct('o')}
           AND (o.created_at >= cut.ms OR a.claimed_at >= cut.ms OR a.recorded_at >= cut.ms OR a.late_at >= cut.ms))
     ORDER BY i.created_at, i.customer_trace_number LIMIT $4`,
    [
      olderThanMs,
      after?.createdAtMs ?? -1,
      after?.customerTraceNumber ?? '',
      limit,
      ...(productCode === undefined ? [] : [productCode]),
    ],
  );
  const last = rows.at(-1);
  return {
    runKeys: rows.map((row) => row.run_key),
    ...(last && rows.length === limit
      ? { next: { createdAtMs: last.created_at, customerTraceNumber: last.customer_trace_number } }
      : {}),
  };
}

/**
 * Records that the scope will be disposed of. From then on nothing is claimed for it, and no journey is started under its
 * id. Idempotent until `dispose`.
 */
export async function beginDisposal(
  tx: Transaction,
  scope: DisposalScope,
  authorization: Authorization,
): Promise<DisposalVerdict> {
  const { session, dialect } = tx;
  await lockInquiries(session, dialect, scope.runKey);
  const view = await readDisposalView(tx, scope);
  const { inquiries, reports, begunAt } = view;
  const refused = toVerdict(view.obstacles);
  if (refused) return refused;
  // A share's claim reads the disposal under the lock, too: the claim comes first, or finds that the disposal has begun.
  const holds = await unlessHeld(tx, scope.runKey, async (insert) => {
    if (begunAt === undefined) await appendEvent(tx, insert, { ...scope, ...authorization, kind: 'disposalBegun' });
  });
  return toVerdict(holds) ?? { kind: 'done', inquiries, reports };
}

/**
 * Records that the history of one closed run is deleted from Temporal, before it is. Returns the legal holds that cover
 * the history: then nothing was written, and it must be kept.
 */
export async function recordDeletion(
  tx: Transaction,
  scope: DisposalScope,
  authorization: Authorization,
  run: NonNullable<AuditedDisposal['run']>,
): Promise<Obstacle[]> {
  const holds = await unlessHeld(tx, ownerOfRuns(scope.runKey), async (insert) => {
    await requireBegun(tx.session, scope);
    await appendEvent(tx, insert, { ...scope, ...authorization, kind: 'historyDeleted', run });
  });
  return holds;
}

async function requireBegun(session: SqlSession, scope: DisposalScope): Promise<void> {
  const { begunAtMs } = await readDisposalTimes(session, scope);
  if (begunAtMs === null) throw new Error('a disposal that was not begun');
}

/**
 * Destroys, for good, the scope's reports with their data keys, every answer and the requests' digests; the rows stay.
 * Checks the obstacles again in the same transaction. Idempotent.
 *
 * @param runs how many runs were deleted from Temporal, for the log
 */
export async function dispose(
  tx: Transaction,
  scope: DisposalScope,
  authorization: Authorization,
  runs: number,
): Promise<Written<DisposalVerdict>> {
  const { session, dialect } = tx;
  await lockInquiries(session, dialect, scope.runKey);
  const view = await readDisposalView(tx, scope);
  const refused = toVerdict(view.obstacles);
  if (refused) return refused;
  await requireBegun(session, scope);
  const { inquiries, reports } = view;
  const { sql, values } = selectUndisposed(scope);
  // Also a list of changes whose other report stays.
  await session.rows(
    `UPDATE sealed_bodies SET body = NULL, wrapped_key = NULL, key_id = NULL
     WHERE customer_trace_number IN (${sql}) OR from_trace_number IN (${sql})`,
    values,
  );
  await session.rows(
    `UPDATE attempts SET answer = NULL, accepted_answer = NULL, late_answer = NULL
     WHERE customer_trace_number IN (${sql})`,
    values,
  );
  await session.rows(`DELETE FROM report_consumers WHERE customer_trace_number IN (${sql})`, values);
  const place = values.length;
  // The digest too: with the ledger's secret, an attacker could try SSNs on it. A disposed row is not compared any
  // more.
  await session.rows(
    `UPDATE inquiries SET digest = NULL, disposed_at = ${dialect.now}, disposed_by = $${place + 1},
       disposed_reason = $${place + 2} WHERE customer_trace_number IN (${sql})`,
    [...values, authorization.by, authorization.reason],
  );
  // Last, since every consent waits for this lock. A hold that came since the view takes all of it back.
  const holds = await unlessHeld(tx, scope.runKey, async (insert) => {
    await endByDisposal(tx, scope);
    const details = { inquiries, reports, runs };
    await appendEvent(tx, insert, { ...scope, ...authorization, kind: 'disposed', details });
  });
  const held = toVerdict(holds);
  return held ? undone(held) : { kind: 'done', inquiries, reports };
}

function toVerdict(obstacles: Obstacle[]): DisposalVerdict | null {
  return obstacles.length > 0 ? { kind: 'refused', obstacles } : null;
}

/** Locks in one fixed order, so that two transactions on the same rows wait for each other without a deadlock. */
async function lockInquiries(session: SqlSession, dialect: SqlDialect, runKey: string): Promise<void> {
  await session.rows(
    `SELECT 1 FROM inquiries WHERE ${ofOwner(runKey)} ORDER BY customer_trace_number ${dialect.forUpdate}`,
    [runKey],
  );
}
