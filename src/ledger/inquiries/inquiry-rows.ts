/** Rows of `inquiries`, `attempts` and `decisions`, and everything about one trace number that the rules judge. */

import type { Answer, Outcome } from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState, findLatest, type KnownInquiry } from '../claim.ts';
import type { SqlSession, Unsealed } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { reviewOfRow } from '../owners.ts';

/** Columns that identify an inquiry and say whom it is for. */
export const DESCRIPTION = [
  'customer_trace_number',
  'environment',
  'profile',
  'customer_id',
  'workflow_type',
  'run_key',
  'product_code',
  'ordinal',
  'share_id',
  'end_user_code',
  'end_user',
  'permissible_purpose_code',
  'amends',
] as const;

export type InquiryRow = Row<'inquiries'>;

export type AttemptRow = Row<'attempts'> & { refusals_kept: number };

/** Columns with the content of a decision, except which attempt it permits. */
export const DECISION = [
  'decision_id',
  'customer_trace_number',
  'attempt',
  'action',
  'by',
  'reason',
  'provider_said',
  'decided_at',
  'failure_type',
  'confirm_consumer_ids',
  'proven_by',
] as const;

export type DecisionRow = Row<'decisions'>;

/** A row of an attempt that was closed before any claim. */
export type ClosedRow = Row<'closed_attempts'>;

/** Everything about one trace number, at one instant of the database's clock. */
export interface InquiryState {
  known: KnownInquiry;
  inquiry: InquiryRow | null;
  /** The claimed attempts. */
  attempts: AttemptRow[];
  closed: ClosedRow[];
  decisions: DecisionRow[];
  /** Includes pauses of any profile. */
  pausesInForce: number;
  /** Whether the run was withdrawn, if the state was read for a claim. */
  isWithdrawn: boolean;
  nowMs: number;
}

/** Each attempt `a`, and whether the body of its refusal is kept. */
export const ATTEMPTS = `SELECT a.*, (SELECT count(*) FROM sealed_bodies b WHERE b.customer_trace_number = a.customer_trace_number
  AND b.attempt = a.attempt AND b.kind = 'refusal' AND b.late = 0 AND b.body IS NOT NULL) AS refusals_kept FROM attempts a`;

/** The number of begun disposals of an inquiry `i`: of its journey, or of its product there. */
export const DISPOSALS_BEGUN = `(SELECT count(*) FROM retention_events e
  WHERE e.run_key = i.run_key AND e.kind = 'disposalBegun'
    AND (e.product_code IS NULL OR (e.product_code = i.product_code AND e.recorded_at >= i.created_at)))`;

/** A pause `p` that is in force. */
export const PAUSE_IN_FORCE = `p.kind = 'begun' AND NOT EXISTS
  (SELECT 1 FROM inquiry_pauses ended WHERE ended.pause_id = p.pause_id AND ended.kind = 'ended')`;

/** The pauses in force of a profile, given as a parameter. */
export const selectPauses = (profile: string) =>
  `SELECT 1 FROM inquiry_pauses p WHERE (p.profile IS NULL OR p.profile = ${profile}) AND ${PAUSE_IN_FORCE}`;

/** The run of an inquiry, and of a review's row also the review: whose withdrawals its claim reads. */
export function ownersOfClaim(runKey: string): [runKey: string, runId: string] {
  return [runKey, reviewOfRow(runKey) ?? runKey];
}

/** The withdrawals of these owners, given as parameters. */
export const selectWithdrawals = (runKey: string, runId: string) =>
  `SELECT 1 FROM run_decisions w WHERE w.action = 'withdraw' AND w.run_key IN (${runKey}, ${runId})`;

/** The number of all pauses in force, of any profile: read on the way, since there is hardly ever one. */
const PAUSES_IN_FORCE = `(SELECT count(*) FROM inquiry_pauses p WHERE ${PAUSE_IN_FORCE})`;

/**
 * Reads the state. A transaction that will write locks the row before, so that the state stays true until the commit.
 *
 * @param claimedFor the owner of the inquiry, for a claim
 */
export async function readState(
  { session, dialect }: Unsealed,
  customerTraceNumber: string,
  claimedFor = '',
): Promise<InquiryState> {
  const reading = session.rows<
    {
      ledger_id: string;
      oldest_writer: number;
      now: number;
      closed: number;
      decisions: number;
      is_disposal_begun: number;
      pauses: number;
      is_withdrawn: number;
    } & InquiryRow
  >(
    `SELECT i.*, l.ledger_id, l.oldest_writer, ${dialect.now} AS now,
       ${DISPOSALS_BEGUN} AS is_disposal_begun, ${PAUSES_IN_FORCE} AS pauses,
       (SELECT count(*) FROM (${selectWithdrawals('$2', '$3')}) withdrawn) AS is_withdrawn,
       (SELECT count(*) FROM closed_attempts WHERE customer_trace_number = $1) AS closed,
       (SELECT count(*) FROM decisions WHERE customer_trace_number = $1) AS decisions
     FROM ledger_identity l LEFT JOIN inquiries i ON i.customer_trace_number = $1`,
    [customerTraceNumber, ...ownersOfClaim(claimedFor)],
  );
  // Without waiting for the number of them: most inquiries that are read have some.
  const attemptsOf = `${ATTEMPTS} WHERE customer_trace_number = $1 ORDER BY attempt`;
  const [[row], attempts] = await Promise.all([reading, session.rows<AttemptRow>(attemptsOf, [customerTraceNumber])]);
  if (!row) throw new Error('a ledger without identity');
  const decisions =
    row.decisions === 0
      ? []
      : await session.rows<DecisionRow>('SELECT * FROM decisions WHERE customer_trace_number = $1', [
          customerTraceNumber,
        ]);
  const closed =
    row.closed === 0
      ? []
      : await session.rows<ClosedRow>(
          'SELECT * FROM closed_attempts WHERE customer_trace_number = $1 ORDER BY attempt',
          [customerTraceNumber],
        );
  const inquiry = row.customer_trace_number === null ? null : row;
  const isBegun = row.is_disposal_begun > 0 || (await isReviewDisposed(session, inquiry));
  const known = toKnownInquiry(row, inquiry, { attempts, closed, decisions });
  const disposal = readDisposal(row, isBegun);
  return {
    known: disposal ? { ...known, disposal } : known,
    ...{
      inquiry,
      attempts,
      closed,
      decisions,
      pausesInForce: row.pauses,
      isWithdrawn: row.is_withdrawn > 0,
      nowMs: row.now,
    },
  };
}

/** Whether a whole review was disposed of: that closes each of the review's rows. */
export async function isReviewDisposed(
  session: SqlSession,
  inquiry: Pick<InquiryRow, 'run_key'> | null,
): Promise<boolean> {
  const review = inquiry && reviewOfRow(inquiry.run_key);
  if (!review) return false;
  const rows = await session.rows(
    `SELECT 1 FROM retention_events WHERE run_key = $1 AND kind = 'disposalBegun' AND product_code IS NULL LIMIT 1`,
    [review],
  );
  return rows.length > 0;
}

/** Begun for the inquiry, or for its whole journey before the inquiry existed. */
function readDisposal({ disposed_at }: InquiryRow, isBegun: boolean): KnownInquiry['disposal'] {
  if (disposed_at !== null) return 'done';
  return isBegun ? 'begun' : undefined;
}

function toKnownInquiry(
  ledger: { ledger_id: string; oldest_writer: number; now: number },
  inquiry: InquiryRow | null,
  { attempts, closed, decisions }: { attempts: AttemptRow[]; closed: ClosedRow[]; decisions: DecisionRow[] },
): KnownInquiry {
  return {
    ledgerId: ledger.ledger_id,
    oldestWriter: ledger.oldest_writer,
    digest: inquiry?.digest ?? null,
    abandoned: (inquiry?.abandoned_at ?? null) !== null,
    attempts: [
      ...attempts.map((row) => ({
        attempt: row.attempt,
        state: row.state,
        answerInMs: row.answer_by - ledger.now,
        ...(row.resend_from === null ? {} : { resendInMs: row.resend_from - ledger.now }),
        ...(row.answer_kind === null ? {} : { answerKind: row.answer_kind }),
        ...(row.late_state === 'answered' ? { answeredLate: true as const } : {}),
      })),
      ...closed.map(({ attempt }) => ({ attempt, state: 'notSent' as const, answerInMs: 0, closed: true as const })),
    ].sort(byAttempt),
    decisions: decisions.map((row) => ({
      decisionId: row.decision_id,
      action: row.action,
      attempt: row.attempt,
      ...(row.permits_attempt === null ? {} : { permitsAttempt: row.permits_attempt }),
    })),
  };
}

/** Whether the latest attempt is written as `sending` although its time is over. */
export function latestIsOverdue({ known }: InquiryState): boolean {
  const latest = findLatest(known);
  return latest !== undefined && latest.state === 'sending' && effectiveState(latest) === 'unknown';
}

export function sealAnswer(
  cipher: LedgerCipher,
  answer: Answer | undefined,
  { customerTraceNumber, attempt }: { customerTraceNumber: string; attempt: number },
  column: string,
): Uint8Array | null {
  return answer ? cipher.sealValue(answer, column, customerTraceNumber, String(attempt)) : null;
}

export function openAnswer(
  cipher: LedgerCipher,
  sealed: Uint8Array,
  row: { customer_trace_number: string; attempt: number },
  column: string,
): Answer {
  return cipher.unsealValue(sealed, column, row.customer_trace_number, String(row.attempt)) as Answer;
}

/** The columns that may hold an answer. */
export const ANSWERS = ['answer', 'accepted_answer', 'late_answer'] as const;

/** Opens the answer of a column, where it holds one that was understood. */
export function openOutcome<Column extends (typeof ANSWERS)[number]>(
  cipher: LedgerCipher,
  row: Pick<AttemptRow, 'customer_trace_number' | 'attempt' | Column>,
  column: Column,
): Outcome | undefined {
  const sealed: Uint8Array | null = row[column];
  const answer = sealed && openAnswer(cipher, sealed, row, column);
  return answer?.kind === 'outcome' ? answer : undefined;
}

export function byAttempt(a: { attempt: number }, b: { attempt: number }): number {
  return a.attempt - b.attempt;
}
