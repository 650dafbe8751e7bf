/**
 * Sealed content: reports, bodies of refusals, and lists of changes, as rows of `sealed_bodies`. The ledger writes, reads
 * and destroys all of them alike. Also the record of who has read one, and the references of reports.
 */
import { randomUUID } from 'node:crypto';
import { pick } from '../../base/defined.ts';
import type { ComparisonGap } from '../../messages/journey/change-summary.ts';
import { listConsumersWithoutRecord, listFailsafeConsumers } from '../../model/consumer-results.ts';
import { OtherEndUserError } from '../../model/credit-journey-error.ts';
import type { Answer, Outcome, RefusalBody } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { SealBrokenError } from '../../protection/errors.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { type LedgerCipher, type Sealed, seal, unseal } from '../../protection/sealed/sealing.ts';
import { type Condition, hasMembers, insertRow, isIn, readRows } from '../database/rows.ts';
import { requireIdentity } from '../database/schema.ts';
import type { SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { requireSameLedger, type Transactions } from '../database/transactions.ts';
import { DisposedError } from '../errors.ts';
import { ANSWERS, ATTEMPT_KEY, openOutcome, readInquiries } from '../inquiries/inquiries.ts';
import type { InquiryView, LedgerIdentity, OutcomeRecord, ReportOrigin } from '../records.ts';

/**
 * A refusal's body, sealed and bound to its ledger, inquiry and attempt. Base64, because it travels through Temporal
 * while the ledger cannot be reached.
 */
export type SealedRefusal = { [Member in keyof Sealed]: string } & { isWhole: boolean };

/** In characters. Temporal drops the details of a failure of 2 MB, and the protocol needs them: a longer body is lost. */
const MOST_CARRIED = 400_000;

export function mayBeCarried({ body }: SealedRefusal): boolean {
  return body.length <= MOST_CARRIED;
}

/**
 * A person or a program, by the name that the HTTP API or the command line knows. With a `purpose` the report is served
 * again to its end user, without a new inquiry; otherwise it is a look.
 */
export interface Reader extends Pick<Row<'report_accesses'>, 'by' | 'via' | 'purpose'> {
  /** The end user that it is read for. Refused unless the report was pulled for that one. */
  endUser?: string;
  /** Only a masked view is given out. */
  isRedacted?: boolean;
}

/** Writes a body. An existing row stays, also one whose key was destroyed. */
async function insertBody(session: SqlSession, body: Partial<Row<'sealed_bodies'>>): Promise<void> {
  // Only a list of changes has another report.
  const from = { fromTraceNumber: body.customerTraceNumber, fromAttempt: body.attempt };
  await insertRow(session, 'sealed_bodies', { late: false, isWhole: true, ...from, ...body }, { orKeep: true });
}

/** The report of an answer, or the body of a refusal. */
export interface NewBodies {
  report?: Sealed | undefined;
  refusal?: SealedRefusal | undefined;
}

/** @param late the attempt was superseded before they arrived */
export async function insertBodies(
  tx: SqlSession,
  record: OutcomeRecord,
  { report, refusal }: NewBodies,
  late: boolean,
) {
  const of = { ...pick(record, ATTEMPT_KEY), late };
  await Promise.all([
    report && insertBody(tx, { ...of, kind: 'report', ...report }),
    refusal &&
      insertBody(tx, {
        ...of,
        ...refusal,
        kind: 'refusal',
        httpStatus: record.httpStatus,
        body: Buffer.from(refusal.body, 'base64'),
        wrappedKey: Buffer.from(refusal.wrappedKey, 'base64'),
      }),
  ]);
}

type BodyRow = Row<'sealed_bodies'> & {
  productCode: ProductCode;
  /** When its inquiry was disposed of, or that of the other report. */
  disposedAt?: string;
};

/** A report, and whose `consumerId`s it names; or why there is none that could be compared. */
export type ReportToCompare =
  | { report: ReportOrigin & { body: string }; applicantIds: ReadonlyMap<string, string> }
  | { gap: ComparisonGap };

const BODIES = `SELECT b.*, i.product_code, coalesce(i.disposed_at, f.disposed_at) AS disposed_at FROM sealed_bodies b
  JOIN attempts a ON a.customer_trace_number = b.customer_trace_number AND a.attempt = b.attempt
  JOIN inquiries i ON i.customer_trace_number = b.customer_trace_number
  JOIN inquiries f ON f.customer_trace_number = b.from_trace_number WHERE`;

/**
 * A report that came with an outcome, or that a person accepted. Unjudged reports, late ones too, are not given out:
 * they may be about another person.
 */
const IS_JUDGED_REPORT = `b.kind = 'report'
  AND (b.late = 0 OR EXISTS (SELECT 1 FROM decisions d WHERE d.customer_trace_number = a.customer_trace_number
    AND d.decision_id = a.accepted_by AND d.failure_type = 'AnsweredLate'))
  AND (a.state = 'accepted' OR (a.state = 'answered' AND a.answer_kind = 'outcome'))`;

const NEWEST = 'b.stored_at DESC, i.ordinal DESC, b.attempt DESC';

/** The part of a ledger that seals and opens. A key management service may be slow: no lock waits for it. */
export class SealedReports {
  readonly identity: LedgerIdentity;
  protected readonly transactions: Transactions;
  protected readonly keys: KeyWrapper;

  constructor(identity: LedgerIdentity, transactions: Transactions, keys: KeyWrapper) {
    this.identity = identity;
    this.transactions = transactions;
    this.keys = keys;
  }

  /** Seals a text for one attempt. Asks the key ring alone. */
  seal(kind: BodyRow['kind'], { customerTraceNumber, attempt }: ReportOrigin, text: string): Promise<Sealed> {
    return seal(this.keys, text, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt, kind });
  }

  /** Seals what the gateway wrote beside a refusal, for `recordOutcome`. */
  async sealRefusal(attempt: ReportOrigin, { text, isWhole }: RefusalBody): Promise<SealedRefusal> {
    const { body, wrappedKey, keyId, algorithm } = await this.seal('refusal', attempt, text);
    return { body: toBase64(body), wrappedKey: toBase64(wrappedKey), keyId, algorithm, isWhole };
  }

  /**
   * The newest answered report of each inquiry, unsealed, and whose `consumerId`s it names; in the order asked for. It
   * writes down no reader: they are compared, and leave no worker.
   */
  async reportsToCompare(ledgerId: string, customerTraceNumbers: readonly string[]): Promise<ReportToCompare[]> {
    const asked = { customerTraceNumber: isIn(customerTraceNumbers) };
    const { sql, values } = hasMembers(asked, 'i.');
    const [identity, inquiries, rows] = await this.transactions.read((tx) =>
      Promise.all([
        requireIdentity(tx),
        readInquiries(tx, asked),
        tx.read<BodyRow>(
          `${BODIES} ${sql} AND ${IS_JUDGED_REPORT} AND b.wrapped_key IS NOT NULL ORDER BY b.attempt`,
          values,
        ),
      ]),
    );
    requireSameLedger(ledgerId, identity.ledgerId);
    const compare = async (number: string): Promise<ReportToCompare> => {
      const isOwn = ({ customerTraceNumber }: { customerTraceNumber: string }) => customerTraceNumber === number;
      const [inquiry, row] = [inquiries.find(isOwn), rows.findLast(isOwn)];
      if (inquiry?.disposedAt !== undefined) return { gap: 'disposed' };
      if (!inquiry || !row) return { gap: 'noReport' };
      const named = inquiry.attempts.flatMap(
        ({ answer }) => (answer?.kind === 'outcome' && answer.reference?.applicants) || [],
      );
      try {
        const report = { ...pick(row, ATTEMPT_KEY), ...(await this.#open(row)) };
        return { report, applicantIds: new Map(named.map(({ consumerId, applicantId }) => [consumerId, applicantId])) };
      } catch (error) {
        if (error instanceof SealBrokenError) return { gap: 'unreadable' };
        throw error;
      }
    };
    return Promise.all(customerTraceNumbers.map(compare));
  }

  /**
   * Seals a list of changes, which is destroyed with either report. One about the same two reports stays. `false` where
   * one of the two reports was disposed of: nothing was written.
   */
  async keepChanges(ledgerId: string, { of, from }: { of: ReportOrigin; from: ReportOrigin }, text: string) {
    const sealed = await this.seal('changes', of, text);
    return this.transactions.writeTo(ledgerId, async (tx) => {
      const sources = { customerTraceNumber: isIn([of.customerTraceNumber, from.customerTraceNumber]) };
      const inOrder = `ORDER BY customer_trace_number ${tx.dialect.forUpdate}`;
      const locked = await readRows(tx, 'inquiries', sources, inOrder);
      if (locked.some(({ disposedAt }) => disposedAt !== undefined)) return false;
      const origin = { fromTraceNumber: from.customerTraceNumber, fromAttempt: from.attempt };
      await insertBody(tx, { ...of, ...origin, ...sealed, kind: 'changes' });
      return true;
    });
  }

  /** @throws DisposedError where neither its text nor its key is left */
  async #open(row: BodyRow): Promise<{ storedAt: string; body: string }> {
    const { algorithm, body, keyId, wrappedKey, storedAt, disposedAt = storedAt } = row;
    if (!body || !keyId || !wrappedKey) throw new DisposedError(disposedAt);
    const bound = { ledgerId: this.identity.ledgerId, ...pick(row, [...ATTEMPT_KEY, 'kind']) };
    return { storedAt, body: await unseal(this.keys, { algorithm, body, keyId, wrappedKey }, bound) };
  }

  // Readings for people and programs. They return nothing before a row that says who read it is committed. Each throws
  // `DisposedError` if the content was disposed of, and `OtherEndUserError` if `endUser` is another than the one for whom
  // the report was pulled: giving it to another one is a share.

  /** The newest answered report of an owner and product, or that of one inquiry. */
  readReport(
    report: { runKey: string; productCode: ProductCode; customerTraceNumber?: string | undefined },
    reader: Reader,
  ) {
    const values = [report.runKey, report.productCode, report.customerTraceNumber];
    // Sorts the newest existing report before disposed ones.
    const condition = `i.run_key = $1 AND i.product_code = $2
      AND i.customer_trace_number = coalesce($3, i.customer_trace_number)
      AND ${IS_JUDGED_REPORT} ORDER BY b.wrapped_key IS NULL, ${NEWEST}`;
    return this.#giveOut(reader, condition, values, ['productCode']);
  }

  /** The gateway's text beside the refusal of one attempt. */
  readRefusal({ customerTraceNumber, attempt }: ReportOrigin, reader: Reader) {
    // Prefers the answer that arrived in time to a late one.
    const condition = `b.kind = 'refusal' AND b.customer_trace_number = $1 AND b.attempt = $2 ORDER BY b.late`;
    return this.#giveOut(reader, condition, [customerTraceNumber, attempt], ['productCode', 'httpStatus', 'isWhole']);
  }

  /** The newest list of changes of an owner. */
  readChanges(runKey: string, reader: Reader) {
    return this.#giveOut(reader, `i.run_key = $1 AND b.kind = 'changes' ORDER BY ${NEWEST}`, [runKey], []);
  }

  /** Gives out the first row of the condition, if it may be, and writes down that it was; `null` where there is none. */
  async #giveOut<Member extends keyof BodyRow>(
    reader: Reader,
    condition: string,
    values: readonly (SqlValue | undefined)[],
    members: readonly Member[],
  ) {
    const statement = `${BODIES} ${condition} LIMIT 1`;
    const [row] = await this.transactions.read((session) => session.read<BodyRow>(statement, values));
    if (!row) return null;
    const found = { ...pick(row, [...ATTEMPT_KEY, ...members]), ...(await this.#open(row)) };
    const { kind, customerTraceNumber, attempt } = row;
    const { by, via, purpose, endUser, isRedacted: redacted = false } = reader;
    // A reading is no claim: programs of any version write it.
    await this.transactions.write(async (tx) => {
      const [inquiry] = await readRows(tx, 'inquiries', { customerTraceNumber }, tx.dialect.forUpdate);
      if (!inquiry) throw new Error('a report of no inquiry');
      // A disposal may have come since it was read.
      if (inquiry.disposedAt !== undefined) throw new DisposedError(inquiry.disposedAt);
      const isAnothers = endUser !== undefined && endUser !== inquiry.endUserCode && endUser !== inquiry.endUser;
      if (isAnothers) throw new OtherEndUserError();
      const access = { accessId: randomUUID(), customerTraceNumber, attempt, kind, by, via, purpose, redacted };
      await insertRow(tx, 'report_accesses', access);
    });
    return found;
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

// References: the inquiry that a `reportReferenceNumber` came from, and those that a caller's inquiries have left.

/** A digest under the ledger's own key: a reader of the tables cannot test whether a known number is among them. */
export function computeReferenceDigest(cipher: LedgerCipher, reportReferenceNumber: string): string {
  return cipher.digest(`reportReferenceNumber ${reportReferenceNumber}`);
}

/** The numbers of an answer with a record: that of its reference, and FAILSAFE's own for each entry. */
function listReferenceNumbers(answer: Answer | undefined): string[] {
  if (answer?.kind !== 'outcome' || answer.outcome !== 'record') return [];
  const entries = [...(answer.applicants ?? []), ...(answer.unattributed ?? [])];
  const numbers = [answer.reference, ...entries].map((named) => named?.reportReferenceNumber);
  return [...new Set(numbers)].filter((number) => number !== undefined);
}

/** Indexes the reference of an answer, also of a late or accepted one. */
export async function indexReference(
  tx: Transaction,
  { answer, ...attempt }: ReportOrigin & { answer?: Answer },
  { isDisposed = false } = {},
): Promise<void> {
  const of = pick(attempt, ATTEMPT_KEY);
  const consumers = (answer?.kind === 'outcome' && !isDisposed && answer.reference?.applicants) || [];
  await Promise.all([
    ...listReferenceNumbers(answer).map((number) => {
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

/** The latest answer that was understood, or that an operator accepted. */
export function findOutcome({ attempts }: InquiryView): Outcome | undefined {
  return attempts.flatMap(({ answer }) => (answer?.kind === 'outcome' ? [answer] : [])).at(-1);
}
