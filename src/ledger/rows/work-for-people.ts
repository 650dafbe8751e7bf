/**
 * The statements that open and close rows of `work_for_people`. Each is part of the transaction that causes it.
 *
 * A hold ends only by a decision or a later attempt: its run waits for one also where an answer came after all.
 */
import { randomUUID } from 'node:crypto';
import { differingPaths } from '../../base/differing-paths.ts';
import type { FailureType } from '../../model/failure-types.ts';
import type { AttemptState } from '../../model/inquiry.ts';
import { HELD_STATES } from '../claim.ts';
import type { Writing } from '../database/writing.ts';
import type { AttentionReason, DecisionRecord, OutcomeRecord, SeenRecord, SeenVerdict } from '../records.ts';
import type { DisposalScope } from '../retention.ts';
import type { WorkEnd, WorkKey } from '../work.ts';
import { insertRow } from './inquiry-writes.ts';
import { LATE_COLUMNS, readUndecided, SEEN_AT } from './open-inquiries.ts';
import { ofOwner } from './owner-rows.ts';

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
  writing: Writing,
  customerTraceNumber: string,
  isWanted: (reason: FailureType) => boolean = () => true,
): Promise<void> {
  const { session, dialect } = writing;
  const undecided = await readUndecided(session, dialect, customerTraceNumber);
  if (!undecided || !isWanted(undecided.reason)) return;
  const { attempt, reason } = undecided;
  const open = await readHeld(writing, customerTraceNumber);
  // What the run itself waits for comes first: a decision about that leads to this one.
  if (open && (open.noted_at !== null || (open.attempt === attempt && open.reason === reason))) return;
  if (open) await close(writing, { how: 'replaced' }, 'work_id = $1', [open.work_id]);
  await insertOfInquiry(writing, { kind: 'held', reason, customerTraceNumber, attempt });
}

/** Flags late news about an inquiry. News after a person has seen it flags the inquiry again. */
export async function drawAttention(
  writing: Writing,
  reason: AttentionReason,
  customerTraceNumber: string,
): Promise<void> {
  const column = LATE_COLUMNS[reason];
  await writing.session.rows(
    `UPDATE inquiries SET ${column} = CASE
       WHEN ${column} > (SELECT coalesce(max(s.seen_at), -1) FROM attention_seen s WHERE s.customer_trace_number = $1)
       THEN ${column} ELSE ${writing.dialect.now} END
     WHERE customer_trace_number = $1`,
    [customerTraceNumber],
  );
  await insertOfInquiry(writing, { kind: 'flagged', reason, customerTraceNumber });
}

async function insertOfInquiry(
  { session, dialect }: Writing,
  { kind, reason, customerTraceNumber, attempt }: Omit<WorkKey, 'ownerId'> & { attempt?: number },
  since: string = dialect.now,
): Promise<void> {
  await session.rows(
    `INSERT INTO work_for_people (work_id, kind, reason, since, attempt, owner_id, profile, end_user_code, end_user,
       product_code, share_id, customer_trace_number)
     SELECT $1, $2, $3, ${since}, CAST($4 AS BIGINT), owner_id, profile, end_user_code, end_user, product_code, share_id,
       customer_trace_number
     FROM inquiries WHERE customer_trace_number = $5 ON CONFLICT DO NOTHING`,
    [randomUUID(), kind, reason, attempt ?? null, customerTraceNumber ?? null],
  );
}

/** Closes what the decision is about. Where it has judged nothing that the ledger knows, that stands again. */
export async function endByDecision(
  writing: Writing,
  { customerTraceNumber, attempt, action, decisionId }: DecisionRecord,
  how: 'decided' | 'overtaken',
): Promise<boolean> {
  if (action === 'repeat') return false;
  const upTo = how === 'decided' && action === 'abandon' ? Number.MAX_SAFE_INTEGER : attempt;
  const closed = await close(
    writing,
    { how, by: decisionId },
    "kind = 'held' AND customer_trace_number = $1 AND attempt <= $2",
    [customerTraceNumber, upTo],
  );
  await openHeld(writing, customerTraceNumber);
  return closed > 0;
}

/** A further attempt was claimed: nothing about the inquiry waits any more. */
export async function endByClaim(writing: Writing, customerTraceNumber: string): Promise<void> {
  await close(writing, { how: 'claimed' }, "kind = 'held' AND customer_trace_number = $1", [customerTraceNumber]);
}

/** Records who has seen what was flagged about the inquiry, where anything is. */
export async function insertSeen(writing: Writing, seen: SeenRecord): Promise<SeenVerdict> {
  const { session, dialect } = writing;
  const { customerTraceNumber, decisionId, by, reason, runIsGone } = seen;
  // Without a run nobody takes a decision that would close the row of what was answered after all.
  const isUndecided = runIsGone && (await readUndecided(session, dialect, customerTraceNumber)) !== undefined;
  const ofGone = (row: string) => (isUndecided ? `OR ${row}.noted_at IS NOT NULL` : "OR kind = 'held'");
  const seenAlike = (row: string) => `(${row}.kind = 'flagged' ${runIsGone ? ofGone(row) : ''})`;
  const [known] = await session.rows<{ seen_by: string; reason: string }>(
    'SELECT seen_by, reason FROM attention_seen WHERE customer_trace_number = $1 AND decision_id = $2',
    [customerTraceNumber, decisionId],
  );
  if (known)
    return { kind: 'known', paths: differingPaths({ by: known.seen_by, reason: known.reason }, { by, reason }) };
  const open = await session.rows(
    `SELECT 1 FROM inquiries i WHERE i.customer_trace_number = $1
       AND (i.late_answer_at > ${SEEN_AT} OR i.late_consent_at > ${SEEN_AT} OR EXISTS
         (SELECT 1 FROM work_for_people w WHERE w.customer_trace_number = i.customer_trace_number
            AND ${seenAlike('w')} AND w.closed_at IS NULL))`,
    [customerTraceNumber],
  );
  if (open.length === 0) return { kind: 'nothingToSee' };
  await insertRow(
    session,
    'attention_seen',
    {
      customer_trace_number: customerTraceNumber,
      decision_id: decisionId,
      seen_by: by,
      reason,
    },
    { sql: { seen_at: dialect.now } },
  );
  await close(
    writing,
    { how: 'seen', by: decisionId },
    `${seenAlike('work_for_people')} AND customer_trace_number = $1`,
    [customerTraceNumber],
  );
  return { kind: 'recorded' };
}

export async function endByDisposal(
  writing: Pick<Writing, 'session' | 'dialect'>,
  { ownerId, productCode }: DisposalScope,
): Promise<void> {
  const ofProduct = productCode === undefined ? '' : ' AND product_code = $2';
  await close(writing, { how: 'disposed' }, `(${ofOwner(ownerId)} OR owner_id = $1)${ofProduct}`, [
    ownerId,
    ...(productCode === undefined ? [] : [productCode]),
  ]);
}

/** @param where its values begin at `$1` */
export async function close(
  { session, dialect }: Pick<Writing, 'session' | 'dialect'>,
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

export async function readHeld({ session }: Writing, customerTraceNumber: string): Promise<HeldRow | undefined> {
  const [row] = await session.rows<HeldRow>(
    `SELECT work_id, reason, attempt, noted_at FROM work_for_people
     WHERE kind = 'held' AND customer_trace_number = $1 AND closed_at IS NULL`,
    [customerTraceNumber],
  );
  return row;
}
