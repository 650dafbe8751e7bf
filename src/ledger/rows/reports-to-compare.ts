/** What a comparison reads of each inquiry: its report as sealed, and whose `consumerId`s its answers name. */
import { utcInstant } from '../../base/instants.ts';
import type { ProductCode } from '../../model/products.ts';
import { SealBrokenError } from '../../protection/errors.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { type LedgerCipher, unseal } from '../../protection/sealed/sealing.ts';
import { placesOf, type SqlSession } from '../database/sql-session.ts';
import type { ReportToCompare } from '../records.ts';
import { type AttemptRow, openAnswer } from './inquiry-rows.ts';
import { reportsOfInquiries, type SealedReport } from './report-rows.ts';

interface ToCompare {
  sealed?: SealedReport & { productCode: ProductCode };
  isDisposed: boolean;
  applicantIds: ReadonlyMap<string, string>;
}

export async function readToCompare(
  session: SqlSession,
  cipher: LedgerCipher,
  customerTraceNumbers: readonly string[],
): Promise<{ ledgerId: string; found: ToCompare[] }> {
  const places = placesOf(customerTraceNumbers);
  const [inquiries, reports, attempts] = await Promise.all([
    session.rows<{ ledger_id: string; customer_trace_number: string | null; disposed_at: number | null }>(
      `SELECT l.ledger_id, i.customer_trace_number, i.disposed_at FROM ledger_identity l
       LEFT JOIN inquiries i ON i.customer_trace_number IN (${places})`,
      customerTraceNumbers,
    ),
    reportsOfInquiries(session, customerTraceNumbers),
    session.rows<AnsweredRow>(
      `SELECT customer_trace_number, attempt, answer, accepted_answer FROM attempts
       WHERE customer_trace_number IN (${places}) ORDER BY attempt`,
      customerTraceNumbers,
    ),
  ]);
  const found = customerTraceNumbers.map((number): ToCompare => {
    const sealed = reports.findLast(({ customerTraceNumber }) => customerTraceNumber === number);
    const inquiry = inquiries.find(({ customer_trace_number }) => customer_trace_number === number);
    const own = attempts.filter(({ customer_trace_number }) => customer_trace_number === number);
    return {
      ...(sealed ? { sealed } : {}),
      isDisposed: (inquiry?.disposed_at ?? null) !== null,
      applicantIds: applicantIdsIn(own, cipher),
    };
  });
  return { ledgerId: inquiries[0]?.ledger_id ?? 'none', found };
}

type AnsweredRow = Pick<AttemptRow, 'customer_trace_number' | 'attempt' | 'answer' | 'accepted_answer'>;

function applicantIdsIn(attempts: readonly AnsweredRow[], cipher: LedgerCipher): Map<string, string> {
  const ids = new Map<string, string>();
  for (const row of attempts) {
    const column = row.accepted_answer ? 'accepted_answer' : 'answer';
    const sealed = row[column];
    const answer = sealed && openAnswer(cipher, sealed, row, column);
    if (answer?.kind !== 'outcome') continue;
    for (const { applicantId, consumerId } of answer.reference?.applicants ?? []) ids.set(consumerId, applicantId);
  }
  return ids;
}

/** Unseals it. @throws UnknownKeyError, and what a key management service throws */
export async function openToCompare(
  keys: KeyWrapper,
  ledgerId: string,
  { sealed, isDisposed, applicantIds }: ToCompare,
): Promise<ReportToCompare> {
  if (isDisposed) return { gap: 'disposed' };
  if (!sealed) return { gap: 'noReport' };
  const { customerTraceNumber, attempt, storedAtMs, productCode } = sealed;
  try {
    const body = await unseal(keys, sealed, { ledgerId, customerTraceNumber, attempt });
    const report = { customerTraceNumber, productCode, attempt, storedAt: utcInstant(storedAtMs), body };
    return { report, applicantIds };
  } catch (error) {
    if (error instanceof SealBrokenError) return { gap: 'unreadable' };
    throw error;
  }
}
