/** References: the inquiry that a `reportReferenceNumber` came from, and those that a caller's inquiries have left. */

import { pick } from '../../base/defined.ts';
import { listConsumersWithoutRecord, listFailsafeConsumers } from '../../model/consumer-results.ts';
import type { Answer, Outcome } from '../../model/inquiry.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { type Condition, insertRow, readRows } from '../database/rows.ts';
import type { Transaction } from '../database/sql-session.ts';
import { ANSWERS, openOutcome, readInquiries } from '../inquiries/inquiries.ts';
import type { InquiryView } from '../records.ts';

/** A digest under the ledger's own key: a reader of the tables cannot test whether a known number is among them. */
export function computeReferenceDigest(cipher: LedgerCipher, reportReferenceNumber: string): string {
  return cipher.digest(`reportReferenceNumber ${reportReferenceNumber}`);
}

/** The numbers of an answer with a record: that of its reference, and FAILSAFE's own for each entry. */
function listReferenceNumbers(answer: Answer): string[] {
  if (answer.kind !== 'outcome' || answer.outcome !== 'record') return [];
  const entries = [...(answer.applicants ?? []), ...(answer.unattributed ?? [])];
  const numbers = [answer.reference, ...entries].map((named) => named?.reportReferenceNumber);
  return [...new Set(numbers)].filter((number) => number !== undefined);
}

/** Indexes the reference of an answer, also of a late or accepted one. */
export async function indexReference(
  tx: Transaction,
  row: { customerTraceNumber: string; attempt: number; answer?: Answer },
  { isDisposed = false } = {},
): Promise<void> {
  const { answer, customerTraceNumber, attempt } = row;
  const of = { customerTraceNumber, attempt };
  const numbers = answer ? listReferenceNumbers(answer) : [];
  const isIndexed = answer?.kind === 'outcome' && !isDisposed;
  const consumers = (isIndexed && answer.reference?.applicants) || [];
  await Promise.all([
    ...numbers.map((number) => {
      const fields = { ...of, referenceDigest: computeReferenceDigest(tx.cipher, number) };
      return insertRow(tx, 'report_references', fields, { orKeep: true });
    }),
    ...consumers.map(({ applicantId, consumerId }) => {
      const fields = { ...of, applicantId, consumerDigest: computeConsumerDigest(tx.cipher, consumerId) };
      return insertRow(tx, 'report_consumers', fields, { orKeep: true });
    }),
  ]);
}

/** Works like `computeReferenceDigest`, for a `consumerId`; the digests of numbers and ids never match. */
export function computeConsumerDigest(cipher: LedgerCipher, consumerId: string): string {
  return cipher.digest(`consumerId ${consumerId}`);
}

/**
 * Reads only: the inquiries that a report's reference, or a confirmation's, came from. Nothing else identifies its owner.
 */
export async function readReferredInquiries(tx: Transaction, reportReferenceNumber: string) {
  const digest = computeReferenceDigest(tx.cipher, reportReferenceNumber);
  const isReferred: Condition = (column, place) =>
    `${column} IN (SELECT r.customer_trace_number FROM report_references r WHERE r.reference_digest = ${place(digest)})`;
  const [attempts, inquiries] = await Promise.all([
    readRows(tx, 'attempts', { customerTraceNumber: isReferred }),
    readInquiries(tx, { customerTraceNumber: isReferred }),
  ]);
  const isAsked = (known: ReportReference | undefined) => known?.reportReferenceNumber === reportReferenceNumber;
  return inquiries.map((inquiry) => {
    const own = attempts.filter(({ customerTraceNumber }) => customerTraceNumber === inquiry.customerTraceNumber);
    const references = own.flatMap((row) => ANSWERS.map((name) => openOutcome(tx.cipher, row, name)?.reference));
    // Without a reference where it was disposed of.
    return { inquiry, reference: references.find(isAsked) ?? null };
  });
}

/**
 * Lists what a run's inquiries have left in the ledger: for each product and share, the reference of the newest answered
 * inquiry. There is none where that had no record.
 */
export function listReferences(runKey: string, inquiries: readonly InquiryView[]) {
  // Oldest first, so that the newest remains.
  const newest = new Map<string, InquiryView & { answer: Outcome }>();
  for (const inquiry of inquiries) {
    const answer = findOutcome(inquiry);
    if (answer) newest.set(`${inquiry.productCode} ${inquiry.shareId ?? ''}`, { ...inquiry, answer });
  }
  const answered = [...newest.values()];
  const stages = answered.filter(({ productCode }) => productCode !== 'SECONDUSE');
  const reports = stages.filter(({ productCode }) => productCode !== 'FAILSAFE');
  const failsafe = stages.find((stage) => !reports.includes(stage));
  const withoutRecord = reports.flatMap(({ answer, ...inquiry }) =>
    listConsumersWithoutRecord(answer).map((consumer) => ({ ...pick(inquiry, NAME), ...consumer })),
  );
  return {
    runKey,
    references: stages.flatMap(({ answer: { reference }, ...inquiry }) =>
      reference ? [{ ...pick(inquiry, NAME), reference }] : [],
    ),
    shares: answered.flatMap(({ shareId, answer: { reference } }) =>
      reference && shareId !== undefined ? [{ shareId, reportReferenceNumber: reference.reportReferenceNumber }] : [],
    ),
    ...(failsafe?.applicantIds?.length ? listFailsafeConsumers(failsafe.answer, failsafe.applicantIds) : {}),
    ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
  };
}

const NAME = ['productCode', 'customerTraceNumber'] as const;

function findOutcome({ attempts }: InquiryView): Outcome | undefined {
  const answers = attempts.flatMap(({ state, answer }) =>
    (state === 'answered' || state === 'accepted') && answer?.kind === 'outcome' ? [answer] : [],
  );
  return answers.at(-1);
}
