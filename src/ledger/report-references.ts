/** Rows of `report_references`: which inquiry a `reportReferenceNumber` came from, found without unsealing the others. */
import type { Answer } from '../model/inquiry.ts';
import type { ReportReference } from '../model/shapes.ts';
import type { LedgerCipher } from '../protection/sealing.ts';
import { type AttemptRow, readInquiries } from './inquiry-rows.ts';
import { insertRow, type Writing } from './inquiry-writes.ts';
import type { ReferredInquiry } from './port.ts';
import { REFERENCES_SINCE } from './schema.ts';
import type { SqlDialect, SqlSession } from './sql-session.ts';

/** Under the ledger's own key: whoever reads the tables cannot tell whether a number that they know is among them. */
export function referenceDigest(cipher: LedgerCipher, reportReferenceNumber: string): string {
  return cipher.digest(`reportReferenceNumber ${reportReferenceNumber}`);
}

/** Of an answer, also one that came late or that a person accepted: whatever brought a reference. */
export async function indexReference(
  { session, cipher }: Writing,
  row: { customerTraceNumber: string; attempt: number; answer?: Answer },
): Promise<void> {
  const { answer, customerTraceNumber, attempt } = row;
  if (answer?.kind !== 'outcome' || !answer.reference) return;
  await insertRow(
    session,
    'report_references',
    {
      reference_digest: referenceDigest(cipher, answer.reference.reportReferenceNumber),
      customer_trace_number: customerTraceNumber,
      attempt,
    },
    { onConflict: 'ON CONFLICT DO NOTHING' },
  );
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
  const indexed = await session.rows<SealedRow>(
    `SELECT a.* FROM report_references r
     JOIN attempts a ON a.customer_trace_number = r.customer_trace_number AND a.attempt = r.attempt
     WHERE r.reference_digest = $1`,
    [referenceDigest(cipher, reportReferenceNumber)],
  );
  // Answered before there was an index: few in a new ledger, and all of them in one that has just been migrated.
  const older = await session.rows<SealedRow>(
    `SELECT a.* FROM attempts a
     WHERE a.claimed_at <= (SELECT applied_at FROM ledger_schema WHERE version = $1)
       AND (a.outcome = 'record' OR a.late_outcome = 'record')`,
    [REFERENCES_SINCE],
  );
  const references = new Map<string, ReportReference | null>();
  for (const row of indexed) references.set(row.customer_trace_number, referenceIn(row, cipher, reportReferenceNumber));
  for (const row of older) {
    const reference = referenceIn(row, cipher, reportReferenceNumber);
    if (reference) references.set(row.customer_trace_number, reference);
  }
  const found: ReferredInquiry[] = [];
  for (const [customerTraceNumber, reference] of references) {
    const selection = { traceNumbers: '$1', values: [customerTraceNumber] };
    const [inquiry] = await readInquiries(session, dialect, selection, cipher);
    if (inquiry) found.push({ inquiry, reference });
  }
  return found;
}

function referenceIn(row: SealedRow, cipher: LedgerCipher, reportReferenceNumber: string): ReportReference | null {
  for (const column of SEALED) {
    const sealed = row[column];
    if (!sealed) continue;
    const place = [column, row.customer_trace_number, String(row.attempt)];
    const answer = cipher.unsealValue(sealed, ...place) as Answer;
    const reference = answer.kind === 'outcome' ? answer.reference : undefined;
    if (reference?.reportReferenceNumber === reportReferenceNumber) return reference;
  }
  return null;
}
