/**
 * Rows of `report_references`: the inquiry that a `reportReferenceNumber` came from, found without unsealing others.
 */
import type { Answer } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { SqlDialect, SqlSession } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { ReferredInquiry } from '../records.ts';
import type { AttemptRow } from './inquiry-rows.ts';
import { readInquiries } from './inquiry-views.ts';
import { insertRow } from './inquiry-writes.ts';

/** A digest under the ledger's own key: a reader of the tables cannot test whether a known number is among them. */
export function referenceDigest(cipher: LedgerCipher, reportReferenceNumber: string): string {
  return cipher.digest(`reportReferenceNumber ${reportReferenceNumber}`);
}

/** The numbers of an answer with a record: that of its reference, and FAILSAFE's own for each entry. */
export function referenceNumbersOf(answer: Answer): string[] {
  if (answer.kind !== 'outcome' || answer.outcome !== 'record') return [];
  const entries = [...(answer.applicants ?? []), ...(answer.unattributed ?? [])];
  const numbers = [answer.reference, ...entries].map((named) => named?.reportReferenceNumber);
  return [...new Set(numbers)].filter((number) => number !== undefined);
}

/** Indexes the reference of an answer, also of a late or accepted one. */
export async function indexReference(
  { session, cipher }: Writing,
  row: { customerTraceNumber: string; attempt: number; answer?: Answer },
  { isDisposed = false } = {},
): Promise<void> {
  const { answer, customerTraceNumber, attempt } = row;
  const of = { customer_trace_number: customerTraceNumber, attempt };
  const onConflict = 'ON CONFLICT DO NOTHING';
  const numbers = answer ? referenceNumbersOf(answer) : [];
  const isIndexed = answer?.kind === 'outcome' && !isDisposed;
  const consumers = (isIndexed && answer.reference?.applicants) || [];
  await Promise.all([
    ...numbers.map((number) =>
      insertRow(
        session,
        'report_references',
        { reference_digest: referenceDigest(cipher, number), ...of },
        { onConflict },
      ),
    ),
    ...consumers.map(({ applicantId, consumerId }) => {
      const columns = { consumer_digest: consumerDigest(cipher, consumerId), ...of, applicant_id: applicantId };
      return insertRow(session, 'report_consumers', columns, { onConflict });
    }),
  ]);
}

/** As `referenceDigest`, for a `consumerId`; the digests of numbers and ids never match. */
export function consumerDigest(cipher: LedgerCipher, consumerId: string): string {
  return cipher.digest(`consumerId ${consumerId}`);
}

const SEALED = ['answer', 'accepted_answer', 'late_answer'] as const;

type SealedRow = AttemptRow & { late_answer: Uint8Array | null };

/** As `Ledger.inquiriesReferredTo`. */
export async function readReferredInquiries(
  session: SqlSession,
  dialect: SqlDialect,
  cipher: LedgerCipher,
  reportReferenceNumber: string,
): Promise<ReferredInquiry[]> {
  const rows = await session.rows<SealedRow>(
    `SELECT a.* FROM report_references r
     JOIN attempts a ON a.customer_trace_number = r.customer_trace_number AND a.attempt = r.attempt
     WHERE r.reference_digest = $1`,
    [referenceDigest(cipher, reportReferenceNumber)],
  );
  const references = new Map<string, ReportReference | null>();
  for (const row of rows) references.set(row.customer_trace_number, referenceIn(row, cipher, reportReferenceNumber));
  const found: ReferredInquiry[] = [];
  for (const [customerTraceNumber, reference] of references) {
    const selection = { traceNumbers: '$1', values: [customerTraceNumber] };
    const [inquiry] = await readInquiries(session, dialect, selection, cipher);
    if (inquiry) found.push({ inquiry, reference });
  }
  return found;
}

function referenceIn(row: SealedRow, cipher: LedgerCipher, reportReferenceNumber: string): ReportReference | null {
  for (const answer of answersIn(row, cipher)) {
    const reference = answer.kind === 'outcome' ? answer.reference : undefined;
    if (reference?.reportReferenceNumber === reportReferenceNumber) return reference;
  }
  return null;
}

function answersIn(row: SealedRow, cipher: LedgerCipher): Answer[] {
  return SEALED.flatMap((column) => {
    const sealed = row[column];
    if (!sealed) return [];
    return [cipher.unsealValue(sealed, column, row.customer_trace_number, String(row.attempt)) as Answer];
  });
}
