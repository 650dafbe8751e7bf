/**
 * Disposal and legal holds (docs/retention.md): the statements that destroy personal data, and their obstacles.
 *
 * The order matters. (1) The ledger records the begin, which closes the fence for good. (2) The caller deletes the runs
 * from Temporal, which is no record; the ledger records each deletion before it is made. (3) One transaction checks
 * everything again and destroys the ledger's content. After a crash before (3) the disposal can be repeated. Until (3)
 * no reader sees "disposed of" although a copy is left in Temporal. With (3) before (2), the rows would say so too
 * early. Without (1), a journey started between (2) and (3) would continue with a ledger whose answers are about to be
 * destroyed.
 *
 * A legal hold is an order, and its release another. One in force prevents the disposal of what it covers. Setting it takes
 * the lock of the chain's head. Each step of a disposal takes the same lock and then reads the holds, and so does each claim
 * of a share. So a step either comes before the hold, which lists the destruction up to then, or finds the hold and is
 * refused.
 */

import { LATE_NEWS } from '../../model/inquiry.ts';
import { appendToChain, type InsertChained } from '../audit/audit-chain.ts';
import type { AuditedAttempt, AuditedDisposal } from '../audit/audited.ts';
import { readKeyset } from '../database/pages.ts';
import { type Condition, IS_SET } from '../database/rows.ts';
import { rollBack, type SqlSession, type Transaction, type Written } from '../database/sql-session.ts';
import { closeRows } from '../holds/holds.ts';
import { type InquiryRow, isDisposalBegun, listWords, readUndecided, selectDoubtful } from '../inquiries/inquiries.ts';
import { type Authorization, appendOrder, compareAuthorizations, type OrderRow, readOrders } from '../orders.ts';
import { isOfOwner, toOwner, writeOwnerCondition } from '../owners.ts';

/**
 * The reason why something cannot be disposed of. `legalHold`: the hold covers it or a part of it. `sending`: the
 * gateway may still answer an attempt. `undecided`: an outcome has no decision. `attention`: no person has marked late
 * news as seen.
 */
export type Obstacle =
  | { reason: 'legalHold'; hold: LegalHold }
  | { reason: 'sending' | 'undecided' | 'attention'; customerTraceNumber: string };

export type DisposalVerdict =
  | { kind: 'done'; inquiries: number; reports: number }
  /** The ledger changed nothing. */
  | { kind: 'refused'; obstacles: Obstacle[] };

type DisposalView = Awaited<ReturnType<typeof readDisposalView>>;

/**
 * Reads only: what a disposal of one owner (model/run-key.ts) would destroy, and what is in its way. `begunAt`: it was
 * begun, and not finished. `runs`: they have claimed attempts under the id. Holds on other rows of a review keep its
 * runs, whose histories are about all rows.
 */
export async function readDisposalView(tx: Transaction, runKey: string) {
  const undisposed = selectUndisposed(runKey);
  const times = [
    `SELECT created_at AS at FROM inquiries WHERE customer_trace_number IN (${undisposed})`,
    ...['claimed_at', 'recorded_at', 'late_at'].map(
      (column) => `SELECT ${column} FROM attempts WHERE customer_trace_number IN (${undisposed})`,
    ),
  ];
  const orderedAt = (kind: OrderRow['kind']) =>
    `SELECT max(recorded_at) FROM orders WHERE run_key = $1 AND kind = '${kind}'`;
  const [found] = await tx.read<{ reports: number; newestAt?: string; begunAt?: string; disposedAt?: string }>(
    `SELECT (SELECT count(*) FROM sealed_bodies WHERE kind = 'report' AND body IS NOT NULL
         AND customer_trace_number IN (${undisposed})) AS reports,
       (SELECT max(at) FROM (${times.join(' UNION ALL ')}) times) AS newest_at,
       (${orderedAt('disposalBegun')}) AS begun_at, (${orderedAt('disposed')}) AS disposed_at`,
    [runKey],
  );
  const { reports = 0, newestAt, begunAt, disposedAt } = found ?? {};
  const { remaining: inquiries, histories } = await countDestroyed(tx, runKey);
  const runs = await tx.read<{ workflowId: string; runId: string }>(
    ['attempts', 'closed_attempts']
      .map(
        (table) => `SELECT workflow_id, run_id FROM ${table} WHERE customer_trace_number IN
          (SELECT customer_trace_number FROM inquiries WHERE ${writeOwnerCondition(runKey)})`,
      )
      .join(' UNION '),
    [runKey],
  );
  const holds = await readHolds(tx, runKey);
  const holdsOnRuns = await readHolds(tx, toOwner(runKey));
  return {
    runKey,
    inquiries,
    reports,
    newestAt,
    begunAt: begunAt !== undefined && begunAt > (disposedAt ?? '') ? begunAt : undefined,
    disposedAt,
    runs,
    obstacles: [...toObstacles(holds), ...(await readNeeds(tx, runKey))],
    holdsOnOtherRows: holdsOnRuns.filter((hold) => !holds.some((other) => other.runKey === hold.runKey)),
    histories,
  };
}

/** Reads the obstacles of an owner, except legal holds: each is an inquiry that is not finished. */
async function readNeeds(tx: Transaction, runKey: string): Promise<Obstacle[]> {
  const undisposed = selectUndisposed(runKey);
  const needs = await tx.read<Exclude<Obstacle, { reason: 'legalHold' }>>(
    `SELECT 'sending' AS reason, customer_trace_number FROM attempts
     WHERE state = 'sending' AND answer_by > ${tx.dialect.now} AND customer_trace_number IN (${undisposed})
     UNION SELECT 'undecided', customer_trace_number FROM (${selectDoubtful(tx.dialect, undisposed)}) doubtful
     UNION SELECT 'attention', customer_trace_number FROM operator_tasks WHERE kind = 'flagged' AND closed_at IS NULL
       AND reason IN (${listWords(LATE_NEWS)}) AND customer_trace_number IN (${undisposed})
     ORDER BY 2, 1`,
    [runKey],
  );
  const found: Obstacle[] = [];
  for (const need of needs) {
    // The statement selects more inquiries than the rules find undecided.
    if (need.reason !== 'undecided' || (await readUndecided(tx, need.customerTraceNumber))) found.push(need);
  }
  return found;
}

/** Selects the owner's inquiries that are not disposed of yet; the run key is `$1`. */
function selectUndisposed(runKey: string): string {
  return `SELECT customer_trace_number FROM inquiries WHERE ${writeOwnerCondition(runKey)} AND disposed_at IS NULL`;
}

/** Owners whose last disposal was begun and not finished. */
export function readUnfinished(session: SqlSession): Promise<{ runKey: string }[]> {
  const last = (kind: OrderRow['kind']) => `max(CASE WHEN kind = '${kind}' THEN recorded_at ELSE 0 END)`;
  return session.read(
    `SELECT run_key FROM orders WHERE kind IN ('disposalBegun', 'disposed')
     GROUP BY run_key HAVING ${last('disposalBegun')} > ${last('disposed')} ORDER BY run_key`,
  );
}

export interface AgeQuery {
  /** The least age of the newest attempt or answer, by the database's clock. */
  olderThanMs: number;
  /** The maximum number of ids on one page. */
  limit: number;
  /** `next` of the previous page: the oldest come first. */
  after?: Pick<InquiryRow, 'createdAt' | 'customerTraceNumber'> | undefined;
}

/**
 * Reads only: ids whose newest attempt or answer is old enough, also those with obstacles. Lists each id once, with the
 * oldest of its remaining inquiries, so that no list of ids has to be kept.
 */
export async function readOlderThan(session: SqlSession, { olderThanMs, limit, after }: AgeQuery) {
  const { items, end } = await readKeyset<Pick<InquiryRow, 'runKey' | 'createdAt' | 'customerTraceNumber'>>(session, {
    from: `inquiries i CROSS JOIN (SELECT ${session.dialect.now} - $1 AS ms FROM ledger_identity) cut`,
    columns: 'i.run_key, i.created_at, i.customer_trace_number',
    where: [
      'i.disposed_at IS NULL AND i.created_at < cut.ms',
      `NOT EXISTS (SELECT 1 FROM inquiries o
         WHERE o.run_key = i.run_key AND o.disposed_at IS NULL
           AND (o.created_at, o.customer_trace_number) < (i.created_at, i.customer_trace_number))`,
      `NOT EXISTS (SELECT 1 FROM inquiries o LEFT JOIN attempts a ON a.customer_trace_number = o.customer_trace_number
         WHERE o.run_key = i.run_key AND o.disposed_at IS NULL
           AND (o.created_at >= cut.ms OR a.claimed_at >= cut.ms OR a.recorded_at >= cut.ms OR a.late_at >= cut.ms))`,
    ],
    values: [olderThanMs],
    order: ['createdAt', 'customerTraceNumber'],
    after,
    limit,
  });
  return { runKeys: items.map(({ runKey }) => runKey), next: end };
}

/**
 * Records that the owner's data will be disposed of. From then on nothing is claimed for it, and no journey is started
 * under its id. Idempotent until `dispose`.
 */
export function beginDisposal(
  tx: Transaction,
  runKey: string,
  authorization: Authorization,
): Promise<Written<DisposalVerdict>> {
  // A share's claim reads the disposal under the lock, too: the claim comes first, or finds that the disposal has begun.
  return takeStep(tx, runKey, async (insert, { begunAt }) => {
    if (begunAt === undefined) await appendOrder(tx, insert, { ...authorization, runKey, kind: 'disposalBegun' });
  });
}

/**
 * Records that the history of one closed run is deleted from Temporal, before it is. Returns the legal holds that cover
 * the history: then nothing was written, and it must be kept.
 */
export function recordDeletion(
  tx: Transaction,
  runKey: string,
  authorization: Authorization,
  run: NonNullable<AuditedDisposal['run']>,
): Promise<Obstacle[]> {
  return writeUnlessHeld(tx, toOwner(runKey), async (insert) => {
    await requireBegun(tx, runKey);
    await appendOrder(tx, insert, { ...authorization, runKey, kind: 'historyDeleted', run });
  });
}

async function requireBegun(session: SqlSession, runKey: string): Promise<void> {
  if (!(await isDisposalBegun(session, runKey))) throw new Error('a disposal that was not begun');
}

/**
 * Destroys, for good, the owner's reports with their data keys, every answer and the requests' digests; the rows stay.
 * Checks the obstacles again in the same transaction. Idempotent.
 *
 * @param runs how many runs were deleted from Temporal, for the log
 */
export function dispose(
  tx: Transaction,
  runKey: string,
  authorization: Authorization,
  runs: number,
): Promise<Written<DisposalVerdict>> {
  const record = async (insert: InsertChained, { inquiries, reports }: DisposalView) => {
    await closeRows(tx, 'disposed', { runKey: isOfOwner(runKey) });
    const details = { inquiries, reports, runs };
    await appendOrder(tx, insert, { ...authorization, runKey, kind: 'disposed', details });
  };
  return takeStep(tx, runKey, record, async () => {
    await requireBegun(tx, runKey);
    const isOurs = `customer_trace_number IN (${selectUndisposed(runKey)})`;
    for (const statement of [
      // Includes a list of changes whose other report stays.
      `UPDATE sealed_bodies SET body = NULL, wrapped_key = NULL, key_id = NULL WHERE ${isOurs} OR from_trace_number IN (${selectUndisposed(runKey)})`,
      `UPDATE attempts SET answer = NULL, accepted_answer = NULL, late_answer = NULL WHERE ${isOurs}`,
      `DELETE FROM report_consumers WHERE ${isOurs}`,
      // Also destroys the digest: with the ledger's secret, an attacker could try SSNs on it. A disposed row is not
      // compared any more. Last, since the others ask which inquiries are left.
      `UPDATE inquiries SET digest = NULL, disposed_at = ${tx.dialect.now} WHERE ${isOurs}`,
    ]) {
      await tx.rows(statement, [runKey]);
    }
  });
}

/** Takes a step, unless something is in its way. A hold that came since the view takes all of it back. */
async function takeStep(
  tx: Transaction,
  runKey: string,
  record: (insert: InsertChained, view: DisposalView) => Promise<void>,
  destroy = async () => {},
): Promise<Written<DisposalVerdict>> {
  // In one fixed order, so that two transactions on the same rows wait for each other without a deadlock.
  await tx.rows(
    `SELECT 1 FROM inquiries WHERE ${writeOwnerCondition(runKey)} ORDER BY customer_trace_number ${tx.dialect.forUpdate}`,
    [runKey],
  );
  const view = await readDisposalView(tx, runKey);
  const { inquiries, reports, obstacles } = view;
  if (obstacles.length > 0) return { kind: 'refused', obstacles };
  await destroy();
  // Last, since every consent waits for this lock.
  const holds = await writeUnlessHeld(tx, runKey, (insert) => record(insert, view));
  return holds.length > 0 ? rollBack({ kind: 'refused', obstacles: holds }) : { kind: 'done', inquiries, reports };
}

/** Takes a step of a disposal, unless a legal hold forbids it. Returns those that do. Until the commit no hold can be set. */
function writeUnlessHeld(
  tx: Transaction,
  runKey: string,
  step: (insert: InsertChained) => Promise<void>,
): Promise<Obstacle[]> {
  return appendToChain(tx, async (insert) => {
    const obstacles = toObstacles(await readHolds(tx, runKey));
    if (obstacles.length === 0) await step(insert);
    return obstacles;
  });
}

function toObstacles(holds: readonly LegalHold[]): Obstacle[] {
  return holds.map((hold) => ({ reason: 'legalHold', hold }));
}

// Legal holds.

/** On a review it covers every row that the review has or will have. */
export type LegalHold = AuditedAttempt['legalHolds'][number];

/** The authorization to set or release a legal hold, and its legal matter. */
type HoldAuthorization = Authorization & Pick<LegalHold, 'matter'>;

/**
 * Reads the holds in force, the oldest first. With an id it reads those that cover the id or a part of it: holds on the
 * id itself, on its review, and on the rows of a review.
 */
export async function readHolds(session: SqlSession, runKey?: string): Promise<LegalHold[]> {
  const isCovered = (id: string): Condition => {
    return (column, place) => `(${column} = ${place(toOwner(id))} OR ${isOfOwner(id)(column, place)})`;
  };
  return readHoldsOn(session, runKey === undefined ? undefined : isCovered(runKey));
}

/** Reads the holds in force on the ids of this condition, the oldest first. */
export async function readHoldsOn(session: SqlSession, ids: Condition = IS_SET): Promise<LegalHold[]> {
  return (await readOrders(session, { kind: 'legalHoldSet', runKey: ids })).map(toLegalHold);
}

/** Reads the last hold of this matter on this id, and the others in force that cover it. */
async function readOwn(session: SqlSession, runKey: string, matter: string) {
  const own = (await readOrders(session, { kind: 'legalHoldSet', runKey, matter }, { withEnded: true })).at(-1);
  const covering = await readHolds(session, runKey);
  return { own, others: covering.filter((hold) => hold.runKey !== runKey || hold.matter !== matter) };
}

/**
 * Adds a hold, unless one of this matter is in force on this id. `null` where the ledger has no inquiry of the id that
 * could be held: an id that it does not know is a mistake. `paths`: where person or reason differ from the hold in force.
 */
export function setLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return appendToChain(tx, async (insert) => {
    const { own: last, others } = await readOwn(tx, runKey, authorization.matter);
    const own = last?.endedAt === undefined ? last : undefined;
    const { remaining, ...destroyed } = await countDestroyed(tx, runKey);
    if (!own && remaining === 0) return null;
    const hold = own ?? (await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldSet' }));
    const paths = compareAuthorizations(hold, authorization);
    return { ...toLegalHold(hold), duplicate: own !== undefined, paths, others, destroyed };
  });
}

/**
 * Releases the hold of this matter on this id, and no other. `duplicate`: it was released before; `paths` says where person
 * or reason of that release differ. Without `released` there was none.
 */
export function releaseLegalHold(tx: Transaction, runKey: string, authorization: HoldAuthorization) {
  return appendToChain(tx, async (insert) => {
    const { own, others } = await readOwn(tx, runKey, authorization.matter);
    if (!own) return { duplicate: false, paths: [], others };
    const { endedAt, endedBy = '', endedReason = '' } = own;
    const duplicate = endedAt !== undefined;
    const paths = duplicate ? compareAuthorizations({ by: endedBy, reason: endedReason }, authorization) : [];
    if (!duplicate) {
      await appendOrder(tx, insert, { ...authorization, runKey, kind: 'legalHoldReleased', ends: own.orderId });
    }
    return { duplicate, paths, released: toLegalHold(own), others };
  });
}

/**
 * Counts the inquiries of an id that were disposed of, and those that are left. `histories`: those of the id's runs
 * (`toOwner`) whose deletion from Temporal was begun.
 */
export async function countDestroyed(session: SqlSession, runKey: string) {
  const owner = toOwner(runKey);
  const [counted] = await session.read<{ remaining: number; inquiries: number; histories: number }>(
    `SELECT count(*) - count(disposed_at) AS remaining, count(disposed_at) AS inquiries,
       (SELECT count(DISTINCT run) FROM orders WHERE ${writeOwnerCondition(owner, '$2')} AND kind = 'historyDeleted') AS histories
     FROM inquiries WHERE ${writeOwnerCondition(runKey)}`,
    [runKey, owner],
  );
  return counted ?? { remaining: 0, inquiries: 0, histories: 0 };
}

function toLegalHold({ runKey = '', matter = '', recordedAt: setAt, by, reason }: OrderRow): LegalHold {
  return { runKey, matter, setAt, by, reason };
}
