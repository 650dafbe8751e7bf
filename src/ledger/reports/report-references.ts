/** References: the inquiry that a `reportReferenceNumber` came from, and those that a caller's inquiries have left. */

import type { ConsumerWithoutRecord } from '../../messages/journey/shapes.ts';
import { listConsumersWithoutRecord, listFailsafeConsumers } from '../../messages/pull/consumer-results.ts';
import type { ConsumerResult, UnattributedConsumer } from '../../messages/pull/shapes.ts';
import type { Answer, Outcome } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { insertRow } from '../database/rows.ts';
import type { Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
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
  { session, cipher }: Transaction,
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
      const fields = { ...of, referenceDigest: computeReferenceDigest(cipher, number) };
      return insertRow(session, 'report_references', fields, { orKeep: true });
    }),
    ...consumers.map(({ applicantId, consumerId }) => {
      const fields = { ...of, applicantId, consumerDigest: computeConsumerDigest(cipher, consumerId) };
      return insertRow(session, 'report_consumers', fields, { orKeep: true });
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
  const { session, cipher } = tx;
  const digest = computeReferenceDigest(cipher, reportReferenceNumber);
  const referred = 'SELECT customer_trace_number FROM report_references WHERE reference_digest = $1';
  const [attempts, inquiries] = await Promise.all([
    session.read<Row<'attempts'>>(`SELECT * FROM attempts WHERE customer_trace_number IN (${referred})`, [digest]),
    readInquiries(tx, referred, [digest]),
  ]);
  const isAsked = (known: ReportReference | undefined) => known?.reportReferenceNumber === reportReferenceNumber;
  return inquiries.map((inquiry) => {
    const own = attempts.filter(({ customerTraceNumber }) => customerTraceNumber === inquiry.customerTraceNumber);
    const references = own.flatMap((row) => ANSWERS.map((name) => openOutcome(cipher, row, name)?.reference));
    // Without a reference where it was disposed of.
    return { inquiry, reference: references.find(isAsked) ?? null };
  });
}

// The references that a caller's inquiries have left in the ledger.

export interface LedgerReferences {
  /** The run key (model/run-key.ts). */
  runKey: string;
  references: (InquiryName & { reference: ReportReference })[];
  shares: { shareId: string; reportReferenceNumber: string }[];
  /** For an answered FAILSAFE: each consumer's outcome, as in the run's result. */
  consumers?: ConsumerResult[];
  /** FAILSAFE data about one of several applicants, without a sign of which one. */
  unattributed?: UnattributedConsumer[];
  /** The consumers that an answer names and has no record of. */
  withoutRecord?: (InquiryName & ConsumerWithoutRecord)[];
}

interface InquiryName {
  productCode: ProductCode;
  customerTraceNumber: string;
}

/** For each product and share, the reference of the newest answered inquiry; none where that had no record. */
export function listReferences(runKey: string, inquiries: readonly InquiryView[]): LedgerReferences {
  const stages = new Map<ProductCode, { customerTraceNumber: string; answer: Outcome }>();
  const shares = new Map<string, Outcome>();
  let failsafe: ReturnType<typeof listFailsafeConsumers> | undefined;
  // Oldest first, so that the newest remains.
  for (const inquiry of inquiries) {
    const answer = findOutcome(inquiry);
    if (!answer) continue;
    const { productCode, customerTraceNumber, shareId } = inquiry;
    if (productCode !== 'SECONDUSE') stages.set(productCode, { customerTraceNumber, answer });
    else if (shareId !== undefined) shares.set(shareId, answer);
    if (productCode === 'FAILSAFE') failsafe = listFailsafeConsumers(answer, inquiry.applicantIds ?? []);
  }
  const ofStages = <T extends object>(list: (answer: Outcome, productCode: ProductCode) => readonly T[]) =>
    [...stages].flatMap(([productCode, { customerTraceNumber, answer }]) =>
      list(answer, productCode).map((item) => ({ productCode, customerTraceNumber, ...item })),
    );
  const withoutRecord = ofStages((answer, product) =>
    product === 'FAILSAFE' ? [] : listConsumersWithoutRecord(answer),
  );
  return {
    runKey,
    references: ofStages(({ reference }) => (reference ? [{ reference }] : [])),
    shares: [...shares].flatMap(([shareId, { reference }]) =>
      reference ? [{ shareId, reportReferenceNumber: reference.reportReferenceNumber }] : [],
    ),
    ...(failsafe && failsafe.consumers.length > 0 ? failsafe : {}),
    ...(withoutRecord.length > 0 ? { withoutRecord } : {}),
  };
}

function findOutcome({ attempts }: InquiryView): Outcome | undefined {
  const answers = attempts.flatMap(({ state, answer }) =>
    (state === 'answered' || state === 'accepted') && answer?.kind === 'outcome' ? [answer] : [],
  );
  return answers.at(-1);
}
