/**
 * Opens and closes rows of `work_for_people`, each in the transaction that causes it.
 *
 * A hold ends only by a decision or a later attempt: its run waits for one also where an answer came after all.
 */

import { randomUUID } from 'node:crypto';
import { differingPaths } from '../../base/differing-paths.ts';
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import { type FailureType, MAY_BE_POSTED } from '../../model/failure-types.ts';
import { type AttemptState, type InquiryDescription, LASTING_FLAGS } from '../../model/inquiry.ts';
import { HELD_STATES } from '../claim.ts';
import { type Columns, columnsFrom, fieldsOf } from '../database/fields.ts';
import { insertRow, keptWhereTrue, type Transaction, type Unsealed, type Written } from '../database/sql-session.ts';
import { insertInquiry, lockInquiry } from '../inquiries/inquiry-writes.ts';
import { ofOwner, reviewOfRow } from '../owners.ts';
import type { AttentionReason, DecisionRecord, OutcomeRecord, SeenRecord, SeenVerdict } from '../records.ts';
import type { DisposalScope } from '../retention/retention.ts';
import { insertRunDecisions } from '../run-decisions.ts';
import { readUndecided } from './open-inquiries.ts';
import { NAMED, type RunSeen, type WorkEnd, type WorkKey, type WorkNote, type WorkToNote } from './work.ts';

interface HeldRow {
  work_id: string;
  reason: string;
  attempt: number;
  noted_at: number | null;
}

/** Whether such an outcome waits for a decision. */
export function isHeldBy({ state, answer }: Pick<OutcomeRecord, 'state' | 'answer'>): boolean {
  const held: readonly AttemptState[] = HELD_STATES;
  return held.includes(state) || (state === 'answered' && answer !== undefined && answer.kind !== 'outcome');
}

/** Opens the row of an inquiry whose latest attempt needs a decision, where no row says so yet. */
export async function openHeld(
  tx: Transaction,
  customerTraceNumber: string,
  isWanted: (reason: FailureType) => boolean = () => true,
): Promise<void> {
  const { session, dialect } = tx;
  const undecided = await readUndecided(session, dialect, customerTraceNumber);
  if (!undecided || !isWanted(undecided.reason)) return;
  const { attempt, reason } = undecided;
  const open = await readHeld(tx, customerTraceNumber);
  // A hold that the run itself waits for has priority: a decision about that leads to this one.
  if (open && (open.noted_at !== null || (open.attempt === attempt && open.reason === reason))) return;
  if (open) await close(tx, { how: 'replaced' }, 'work_id = $1', [open.work_id]);
  await insertOfInquiry(tx, { kind: 'held', reason, customerTraceNumber, attempt });
}

/** Flags late news about an inquiry. News after an operator has seen the flag opens another one. */
export async function drawAttention(
  tx: Transaction,
  reason: AttentionReason,
  customerTraceNumber: string,
): Promise<void> {
  await insertOfInquiry(tx, { kind: 'flagged', reason, customerTraceNumber });
}

async function insertOfInquiry(
  { session, dialect }: Transaction,
  { kind, reason, customerTraceNumber, attempt }: Omit<WorkKey, 'runKey'> & { attempt?: number },
  since: string = dialect.now,
): Promise<void> {
  await session.rows(
    `INSERT INTO work_for_people (work_id, kind, reason, since, attempt, run_key, profile, end_user_code, end_user,
       product_code, share_id, customer_trace_number)
     SELECT $1, $2, $3, ${since}, CAST($4 AS BIGINT), run_key, profile, end_user_code, end_user, product_code, share_id,
       customer_trace_number
     FROM inquiries WHERE customer_trace_number = $5 ON CONFLICT DO NOTHING`,
    [randomUUID(), kind, reason, attempt ?? null, customerTraceNumber ?? null],
  );
}

/** Closes the hold that the decision is about. Opens it again if the decision judged nothing that the ledger knows. */
export async function endByDecision(
  tx: Transaction,
  { customerTraceNumber, attempt, action, decisionId }: DecisionRecord,
  how: 'decided' | 'overtaken',
): Promise<boolean> {
  if (action === 'repeat') return false;
  const upTo = how === 'decided' && action === 'abandon' ? Number.MAX_SAFE_INTEGER : attempt;
  const closed = await close(
    tx,
    { how, by: decisionId },
    "kind = 'held' AND customer_trace_number = $1 AND attempt <= $2",
    [customerTraceNumber, upTo],
  );
  await openHeld(tx, customerTraceNumber);
  return closed > 0;
}

/** A further attempt was claimed: nothing about the inquiry waits any more. */
export async function endByClaim(tx: Transaction, customerTraceNumber: string): Promise<void> {
  await close(tx, { how: 'claimed' }, "kind = 'held' AND customer_trace_number = $1", [customerTraceNumber]);
}

/** Takes late news off that list; append-only, idempotent by (customerTraceNumber, decisionId). */
export async function recordSeen(tx: Transaction, seen: SeenRecord): Promise<Written<SeenVerdict>> {
  await lockInquiry(tx, seen.customerTraceNumber);
  const verdict = await insertSeen(tx, seen);
  return { keep: verdict.kind === 'recorded', value: verdict };
}

/** Records who has seen the flags of the inquiry, if it has any. */
async function insertSeen(tx: Transaction, seen: SeenRecord): Promise<SeenVerdict> {
  const { session, dialect } = tx;
  const { customerTraceNumber, decisionId, by, reason, runIsGone } = seen;
  // If the run is gone, no decision can close the row of an inquiry that was answered after all.
  const isUndecided = runIsGone && (await readUndecided(session, dialect, customerTraceNumber)) !== undefined;
  const ofGone = isUndecided ? 'OR noted_at IS NOT NULL' : "OR kind = 'held'";
  const [known] = await session.rows<{ by: string; reason: string }>(
    `SELECT decided_by AS by, reason FROM run_decisions
     WHERE action = 'seen' AND customer_trace_number = $1 AND decision_id = $2 ORDER BY version`,
    [customerTraceNumber, decisionId],
  );
  if (known) return { kind: 'known', paths: differingPaths(known, { by, reason }) };
  const [row] = await session.rows<{ run_key: string; now: number }>(
    `SELECT run_key, ${dialect.now} AS now FROM inquiries WHERE customer_trace_number = $1`,
    [customerTraceNumber],
  );
  const isSeen = `customer_trace_number = $1 AND (kind = 'flagged' ${runIsGone ? ofGone : ''})`;
  const closed = await close(tx, { how: 'seen', by: decisionId }, isSeen, [customerTraceNumber]);
  if (!row || closed === 0) return { kind: 'nothingToSee' };
  const decidedAt = utcInstant(row.now);
  const decision = {
    runKey: row.run_key,
    customerTraceNumber,
    decisionId,
    action: 'seen' as const,
    by,
    reason,
    decidedAt,
  };
  await insertRunDecisions(tx, [decision]);
  return { kind: 'recorded' };
}

export async function endByDisposal(tx: Unsealed, { runKey, productCode }: DisposalScope): Promise<void> {
  const ofProduct = productCode === undefined ? '' : ' AND product_code = $2';
  await close(tx, { how: 'disposed' }, `(${ofOwner(runKey)} OR run_key = $1)${ofProduct}`, [
    runKey,
    ...(productCode === undefined ? [] : [productCode]),
  ]);
}

/** @param where its values begin at `$1` */
export async function close(
  { session, dialect }: Unsealed,
  { how, by }: Omit<WorkEnd, 'at'>,
  where: string,
  values: (string | number)[],
): Promise<number> {
  const place = values.length;
  const closed = await session.rows(
    `UPDATE work_for_people SET closed_at = ${dialect.now}, closed_how = $${place + 1}, closed_by = $${place + 2}
     WHERE ${where} AND closed_at IS NULL RETURNING work_id`,
    [...values, how, by ?? null],
  );
  return closed.length;
}

export async function readHeld({ session }: Transaction, customerTraceNumber: string): Promise<HeldRow | undefined> {
  const [row] = await session.rows<HeldRow>(
    `SELECT work_id, reason, attempt, noted_at FROM work_for_people
     WHERE kind = 'held' AND customer_trace_number = $1 AND closed_at IS NULL`,
    [customerTraceNumber],
  );
  return row;
}

// Records what runs report that they wait for, as rows of `work_for_people`. Each function is part of one transaction.

/**
 * Writes what a run says that it waits for. Idempotent. A hold that was decided since then, or whose inquiry has gone on,
 * is not opened.
 */
export async function noteWork(tx: Transaction, note: WorkNote): Promise<Written<void>> {
  const { asOf, opened, ended, isLast, resetOf } = note;
  const asOfMs = instantOf(asOf);
  const told = resetOf === undefined ? [] : await toldBefore(tx, resetOf, asOfMs);
  const numbers = [...opened, ...ended, ...told].flatMap(({ customerTraceNumber }) => customerTraceNumber ?? []);
  // In one fixed order, so that two notes never wait for each other.
  const inquiries = opened.flatMap(({ inquiry }) => inquiry ?? []);
  for (const inquiry of inquiries.sort(byNumber)) await insertInquiry(tx, inquiry);
  for (const customerTraceNumber of [...new Set(numbers)].sort()) await lockInquiry(tx, customerTraceNumber);
  if (resetOf !== undefined) {
    await forgetEarlier(tx, resetOf, asOfMs);
    const named = new Set(opened.map(nameOf));
    const over = told.filter((key) => !named.has(nameOf(key)));
    for (const key of over) await endNoted(tx, key, { asOfMs, isLast: isLast === true });
    if (isLast) await endWhatNobodyMeets(tx, resetOf, asOfMs);
  }
  for (const key of ended) await endNoted(tx, key, { asOfMs, isLast: isLast === true });
  for (const work of opened) await openNoted(tx, work, asOfMs);
  return { keep: true, value: undefined };
}

/**
 * Ends what an earlier run of this id waited for by its own word, `before` the new run began (RFC 3339). Lasting flags
 * stay, and what the ledger itself needs. Idempotent.
 */
export async function takeOver(
  tx: Transaction,
  { runKey, before }: { runKey: string; before: string },
): Promise<Written<void>> {
  const beforeMs = instantOf(before);
  const told = await toldBefore(tx, runKey, beforeMs);
  const numbers = told.flatMap(({ customerTraceNumber }) => customerTraceNumber ?? []);
  for (const customerTraceNumber of numbers.sort()) await lockInquiry(tx, customerTraceNumber);
  for (const key of told) await endNoted(tx, key, { asOfMs: beforeMs, isLast: false });
  return { keep: true, value: undefined };
}

/**
 * Records who has seen the flags of a run that are about none of its inquiries (for those: `recordSeen`). Closes
 * lasting flags, and all others too if the run is gone. Returns whether there was any.
 */
export async function seeRun(tx: Transaction, { runIsGone, flag, ...seen }: RunSeen): Promise<Written<boolean>> {
  const { runKey, decisionId } = seen;
  const lasting = LASTING_FLAGS.map((reason) => `'${reason}'`).join(', ');
  const closed = await close(
    tx,
    { how: 'seen', by: decisionId },
    `run_key = $1 AND kind = 'flagged' AND customer_trace_number IS NULL ${runIsGone ? '' : `AND reason IN (${lasting})`} ${flag === undefined ? '' : 'AND reason = $2'}`,
    [runKey, ...(flag === undefined ? [] : [flag])],
  );
  if (closed > 0) await insertRunDecisions(tx, [{ ...seen, action: 'seen' }]);
  return keptWhereTrue(closed > 0);
}

/** Returns the open entries from earlier notes of this id's runs, except those that outlast a run. */
async function toldBefore(
  { session }: Pick<Transaction, 'session'>,
  runKey: string,
  beforeMs: number,
): Promise<WorkKey[]> {
  const rows = await session.rows<Columns<WorkKey>>(
    `SELECT run_key, kind, reason, customer_trace_number FROM work_for_people
     WHERE (${ofOwner(runKey)} OR run_key = $1) AND noted_at < $2 AND closed_at IS NULL`,
    [runKey, beforeMs],
  );
  return rows
    .map((row): WorkKey => fieldsOf(row, ['run_key', 'kind', 'reason', 'customer_trace_number']))
    .filter(({ kind, reason }) => kind === 'held' || !LASTING_FLAGS.includes(reason));
}

/** A note from before the reset, which comes later, opens nothing. */
async function forgetEarlier({ session }: Transaction, runKey: string, asOfMs: number): Promise<void> {
  await session.rows(
    `INSERT INTO work_of_resets (run_key, noted_at) VALUES ($1, $2)
     ON CONFLICT (run_key) DO UPDATE SET noted_at = excluded.noted_at WHERE work_of_resets.noted_at < excluded.noted_at`,
    [runKey, asOfMs],
  );
}

/** Closes the holds that the ended run never met again. Only those that may have been posted stay open, for good. */
async function endWhatNobodyMeets(tx: Transaction, runKey: string, asOfMs: number): Promise<void> {
  const posted = MAY_BE_POSTED.map((reason) => `'${reason}'`).join(', ');
  const ofRun = `(${ofOwner(runKey)} OR run_key = $1) AND coalesce(noted_at, since) < $2`;
  const values = [runKey, asOfMs];
  await close(tx, { how: 'ended' }, `${ofRun} AND kind = 'held' AND reason NOT IN (${posted})`, values);
}

function nameOf({ runKey, kind, reason, customerTraceNumber = '' }: WorkKey): string {
  return kind === 'held' ? customerTraceNumber : `${runKey} ${reason} ${customerTraceNumber}`;
}

function byNumber(one: InquiryDescription, other: InquiryDescription): number {
  return one.customerTraceNumber < other.customerTraceNumber ? -1 : 1;
}

async function openNoted(tx: Transaction, work: WorkToNote, asOfMs: number): Promise<void> {
  const { kind, reason, customerTraceNumber, attempt } = work;
  if (await isOutOfDate(tx, work, asOfMs)) return;
  const { session } = tx;
  if (kind === 'held' && customerTraceNumber !== undefined) {
    const open = await readHeld(tx, customerTraceNumber);
    const isSame = open?.reason === reason && open.attempt === attempt;
    if (open && isSame) {
      await session.rows('UPDATE work_for_people SET noted_at = $2 WHERE work_id = $1', [open.work_id, asOfMs]);
      return;
    }
    if (open) await close(tx, { how: 'replaced' }, 'work_id = $1', [open.work_id]);
  }
  await insertRow(
    session,
    'work_for_people',
    {
      work_id: randomUUID(),
      ...columnsFrom(work, NAMED),
      since: instantOf(work.since),
      profile: work.gatewayProfile,
      details: work.details && JSON.stringify(work.details),
      noted_at: asOfMs,
    },
    { onConflict: 'ON CONFLICT DO NOTHING' },
  );
}

async function endNoted(
  tx: Transaction,
  key: WorkKey,
  { asOfMs, isLast }: { asOfMs: number; isLast: boolean },
): Promise<void> {
  const { customerTraceNumber } = key;
  const { sql, values } = sameAs(key);
  const isOurs = `noted_at < $${values.length + 1} ${isLast ? 'OR noted_at IS NULL' : ''}`;
  await close(tx, { how: 'ended' }, `${sql} AND (${isOurs})`, [...values, asOfMs]);
  if (key.kind === 'flagged' || customerTraceNumber === undefined) return;
  await openHeld(tx, customerTraceNumber, isLast ? (reason) => MAY_BE_POSTED.includes(reason) : undefined);
}

/** A later note of the run has said something else, or the ledger has gone on since the hold began. */
async function isOutOfDate(tx: Transaction, work: WorkToNote, asOfMs: number): Promise<boolean> {
  const { session } = tx;
  const { sql, values } = sameAs(work);
  const later = await session.rows(
    `SELECT 1 FROM work_for_people WHERE ${sql} AND noted_at >= $${values.length + 1} LIMIT 1`,
    [...values, asOfMs],
  );
  if (later.length > 0 || (await isFromBeforeReset(tx, work, asOfMs))) return true;
  const { kind, reason, customerTraceNumber, attempt = 0 } = work;
  if (kind === 'flagged') return LASTING_FLAGS.includes(reason) && isSeen(tx, work);
  if (customerTraceNumber === undefined) return false;
  const sinceMs = instantOf(work.since);
  const decisions = await session.rows<{ decided_at: string }>(
    `SELECT decided_at FROM decisions WHERE customer_trace_number = $1 AND attempt >= $2 AND action <> 'repeat'`,
    [customerTraceNumber, attempt],
  );
  if (decisions.some(({ decided_at }) => instantOf(decided_at) >= sinceMs)) return true;
  const claimed = await session.rows(
    'SELECT 1 FROM attempts WHERE customer_trace_number = $1 AND attempt > $2 AND claimed_at > $3 LIMIT 1',
    [customerTraceNumber, attempt, sinceMs],
  );
  return claimed.length > 0;
}

async function isFromBeforeReset({ session }: Transaction, { runKey }: WorkKey, asOfMs: number): Promise<boolean> {
  const [row] = await session.rows(`SELECT 1 FROM work_of_resets WHERE run_key IN ($1, $2) AND noted_at > $3 LIMIT 1`, [
    runKey,
    reviewOfRow(runKey) ?? runKey,
    asOfMs,
  ]);
  return row !== undefined;
}

/** A lasting flag never changes, so a person needs to see it only once. */
async function isSeen({ session }: Transaction, key: WorkKey): Promise<boolean> {
  const { sql, values } = sameAs(key);
  const rows = await session.rows(`SELECT 1 FROM work_for_people WHERE ${sql} AND closed_how = 'seen' LIMIT 1`, values);
  return rows.length > 0;
}

/** The rows about the same thing, open or closed. Each inquiry has one owner. */
function sameAs({ runKey, kind, reason, customerTraceNumber = '' }: WorkKey): { sql: string; values: string[] } {
  if (kind === 'held') return { sql: "kind = 'held' AND customer_trace_number = $1", values: [customerTraceNumber] };
  return {
    sql: "kind = 'flagged' AND run_key = $1 AND reason = $2 AND coalesce(customer_trace_number, '') = $3",
    values: [runKey, reason, customerTraceNumber],
  };
}

/** @throws RangeError */
function instantOf(text: string): number {
  const ms = parseInstantMs(text);
  if (ms === null) throw new RangeError('must be an RFC 3339 instant with offset');
  return ms;
}
