/**
 * Sealed content: reports, bodies of refusals, and lists of changes, as rows of `sealed_bodies`. The ledger writes, reads
 * and destroys all of them alike. Also the record of who has read one.
 */
import { randomUUID } from 'node:crypto';
import { omitUndefined, pick } from '../../base/defined.ts';
import type { ComparisonGap } from '../../messages/journey/change-summary.ts';
import { OtherEndUserError } from '../../model/credit-journey-error.ts';
import type { RefusalBody } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import { SealBrokenError } from '../../protection/errors.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { type LedgerCipher, type Sealed, seal, unseal } from '../../protection/sealed/sealing.ts';
import { insertRow, readRows } from '../database/rows.ts';
import { listPlaceholders, type SqlValue, type Transaction, type Unsealed } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { requireSameLedger, type Transactions } from '../database/transactions.ts';
import { DisposedError } from '../errors.ts';
import { openOutcome } from '../inquiries/inquiries.ts';
import { lockInquiry } from '../inquiries/inquiry-writes.ts';
import type { LedgerIdentity, ReportOrigin } from '../records.ts';
import type { BodyKind, MadeFor, Reader, SealedRefusal } from './reports.ts';

const ATTEMPT_KEY = ['customerTraceNumber', 'attempt'] as const;

/** A sealed text and the attempt that it belongs to. */
interface BodyToKeep {
  kind: BodyKind;
  of: ReportOrigin;
  /** A list of changes has another report. */
  from?: ReportOrigin;
  /** The attempt was superseded before the content arrived. */
  isLate?: boolean;
  httpStatus?: number | undefined;
  isWhole?: boolean;
  sealed: Sealed;
}

/** Writes a body. An existing row stays, also one whose key was destroyed. */
export async function insertBody(
  { session }: Unsealed,
  { kind, of, from = of, isLate = false, httpStatus, isWhole = true, sealed }: BodyToKeep,
): Promise<void> {
  const origin = { fromTraceNumber: from.customerTraceNumber, fromAttempt: from.attempt };
  const fields = { ...of, ...origin, ...sealed, kind, late: isLate, httpStatus, isWhole };
  await insertRow(session, 'sealed_bodies', fields, { orKeep: true });
}

type BodyRow = Row<'sealed_bodies'> & {
  productCode: ProductCode;
  /** When its inquiry was disposed of, or that of the other report. */
  disposedAt?: string;
};

type StoredReport = Pick<BodyRow, (typeof ATTEMPT_KEY)[number] | 'productCode' | 'storedAt'> & { body: string };

/** A report, and whose `consumerId`s it names; or why there is none that could be compared. */
export type ReportToCompare =
  | { report: StoredReport; applicantIds: ReadonlyMap<string, string> }
  | { gap: ComparisonGap };

/** A document that is derived from reports and sealed like one. It is destroyed with either. */
export interface DerivedDocument {
  kind: 'changes';
  of: ReportOrigin;
  from: ReportOrigin;
}

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

/** The wanted report: the newest of the caller's and product's, or that of one of their inquiries. */
export interface WantedReport {
  runKey: string;
  productCode: ProductCode;
  customerTraceNumber?: string | undefined;
}

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
  seal(kind: BodyKind, { customerTraceNumber, attempt }: ReportOrigin, text: string): Promise<Sealed> {
    return seal(this.keys, text, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt, kind });
  }

  /** Seals what the gateway wrote beside a refusal, for `recordOutcome`. */
  async sealRefusal(attempt: ReportOrigin, { text, isWhole }: RefusalBody): Promise<SealedRefusal> {
    return { sealed: await this.seal('refusal', attempt, text), isWhole };
  }

  /**
   * The newest answered report of each inquiry, unsealed, and whose `consumerId`s it names; in the order asked for. It
   * writes down no reader: they are compared, and leave no worker.
   */
  async reportsToCompare(ledgerId: string, customerTraceNumbers: readonly string[]): Promise<ReportToCompare[]> {
    const asked = await this.transactions.read((tx) => readToCompare(tx, customerTraceNumbers));
    requireSameLedger(ledgerId, asked.ledgerId);
    return Promise.all(asked.found.map((found) => this.#openToCompare(found)));
  }

  async #openToCompare({ row, isDisposed, applicantIds }: ToCompare): Promise<ReportToCompare> {
    if (isDisposed) return { gap: 'disposed' };
    if (!row) return { gap: 'noReport' };
    try {
      const report = { ...pick(row, [...ATTEMPT_KEY, 'productCode']), ...(await this.open(row)) };
      return { report, applicantIds };
    } catch (error) {
      if (error instanceof SealBrokenError) return { gap: 'unreadable' };
      throw error;
    }
  }

  /**
   * Seals a document. One about the same two reports stays. `false` where one of the two reports was disposed of: nothing
   * was written.
   */
  async keepDerived(ledgerId: string, document: DerivedDocument, text: string): Promise<boolean> {
    const sealed = await this.seal(document.kind, document.of, text);
    return this.transactions.writeTo(ledgerId, async (tx) => {
      const sources = [document.of.customerTraceNumber, document.from.customerTraceNumber].sort();
      for (const source of sources) await lockInquiry(tx, source);
      const disposed = await tx.session.rows(
        'SELECT 1 FROM inquiries WHERE customer_trace_number IN ($1, $2) AND disposed_at IS NOT NULL',
        sources,
      );
      if (disposed.length > 0) return false;
      await insertBody(tx, { ...document, sealed });
      return true;
    });
  }

  /** @throws DisposedError where neither its text nor its key is left */
  async open(row: BodyRow): Promise<{ storedAt: string; body: string }> {
    const { algorithm, body, keyId, wrappedKey, storedAt, disposedAt = storedAt } = row;
    if (!body || !keyId || !wrappedKey) throw new DisposedError(disposedAt);
    const bound = { ledgerId: this.identity.ledgerId, ...pick(row, [...ATTEMPT_KEY, 'kind']) };
    return { storedAt, body: await unseal(this.keys, { algorithm, body, keyId, wrappedKey }, bound) };
  }
}

// A comparison reads of each inquiry its sealed report, and whose `consumerId`s its answers name.

interface ToCompare {
  row?: BodyRow;
  isDisposed: boolean;
  applicantIds: ReadonlyMap<string, string>;
}

async function readToCompare(
  { session, cipher }: Transaction,
  customerTraceNumbers: readonly string[],
): Promise<{ ledgerId: string; found: ToCompare[] }> {
  const places = listPlaceholders(customerTraceNumbers);
  const [inquiries, reports, attempts] = await Promise.all([
    session.read<{ ledgerId: string; customerTraceNumber?: string; disposedAt?: string }>(
      `SELECT l.ledger_id, i.customer_trace_number, i.disposed_at FROM ledger_identity l
       LEFT JOIN inquiries i ON i.customer_trace_number IN (${places})`,
      customerTraceNumbers,
    ),
    session.read<BodyRow>(
      `${BODIES} i.customer_trace_number IN (${places}) AND ${IS_JUDGED_REPORT} AND b.wrapped_key IS NOT NULL
       ORDER BY b.attempt`,
      customerTraceNumbers,
    ),
    session.read<Row<'attempts'>>(
      `SELECT * FROM attempts WHERE customer_trace_number IN (${places}) ORDER BY attempt`,
      customerTraceNumbers,
    ),
  ]);
  const found = customerTraceNumbers.map((number): ToCompare => {
    const isOwn = (row: { customerTraceNumber?: string }) => row.customerTraceNumber === number;
    return {
      ...omitUndefined({ row: reports.findLast(isOwn) }),
      isDisposed: inquiries.find(isOwn)?.disposedAt !== undefined,
      applicantIds: readApplicantIds(attempts.filter(isOwn), cipher),
    };
  });
  return { ledgerId: inquiries[0]?.ledgerId ?? 'none', found };
}

function readApplicantIds(attempts: readonly Row<'attempts'>[], cipher: LedgerCipher): Map<string, string> {
  const ids = new Map<string, string>();
  for (const row of attempts) {
    const answer = openOutcome(cipher, row, row.acceptedAnswer ? 'acceptedAnswer' : 'answer');
    for (const { applicantId, consumerId } of answer?.reference?.applicants ?? []) ids.set(consumerId, applicantId);
  }
  return ids;
}

/**
 * Reads sealed content for people and programs. Returns nothing before a row that says who read it is committed. Each
 * method throws `DisposedError` if the content was disposed of. It throws `OtherEndUserError` if `endUser` is another
 * than the one for whom the report was pulled: giving it to another one is a share.
 */
export function makeReadings(sealed: SealedReports, transactions: Transactions) {
  const find = async (condition: string, values: readonly SqlValue[]): Promise<BodyRow | undefined> => {
    const statement = `${BODIES} ${condition} LIMIT 1`;
    return (await transactions.read(({ session }) => session.read<BodyRow>(statement, values)))[0];
  };
  /** A reading is no claim: programs of any version write it. */
  const giveOut = async <Found extends ReportOrigin>(kind: BodyKind, found: Found, reader: Reader): Promise<Found> => {
    await transactions.write((tx) => noteAccess(tx, kind, found, reader), { byAnyVersion: true });
    return found;
  };
  return {
    /** The newest answered report of an owner and product, or that of one inquiry; `null` where there is none. */
    async report(wanted: WantedReport, reader: Reader) {
      const { runKey, productCode, customerTraceNumber = null } = wanted;
      // Sorts the newest existing report before disposed ones.
      const row = await find(
        `i.run_key = $1 AND i.product_code = $2 AND i.customer_trace_number = coalesce($3, i.customer_trace_number)
         AND ${IS_JUDGED_REPORT} ORDER BY b.wrapped_key IS NULL, ${NEWEST}`,
        [runKey, productCode, customerTraceNumber],
      );
      if (!row) return null;
      const about = pick(row, [...ATTEMPT_KEY, 'productCode']);
      return giveOut('report', { ...about, ...(await sealed.open(row)) }, reader);
    },

    /** Returns the gateway's text beside the refusal of one attempt; `null` if none is kept. */
    async refusal(of: ReportOrigin, reader: Reader) {
      // Prefers the answer that arrived in time to a late one.
      const wanted = `b.kind = 'refusal' AND b.customer_trace_number = $1 AND b.attempt = $2 ORDER BY b.late`;
      const row = await find(wanted, [of.customerTraceNumber, of.attempt]);
      if (!row) return null;
      const about = pick(row, [...ATTEMPT_KEY, 'productCode', 'httpStatus', 'isWhole']);
      return giveOut('refusal', { ...about, ...(await sealed.open(row)) }, reader);
    },

    /** The newest list of changes of an owner; `null` where there is none. */
    async changes(runKey: string, reader: Reader) {
      const row = await find(`i.run_key = $1 AND b.kind = 'changes' ORDER BY ${NEWEST}`, [runKey]);
      if (!row) return null;
      const of = pick(row, ATTEMPT_KEY);
      const from = { customerTraceNumber: row.fromTraceNumber, attempt: row.fromAttempt };
      const opened = await sealed.open(row);
      await giveOut('changes', of, reader);
      return { kind: 'changes', of, from, ...opened };
    },
  };
}

/** Includes holds and flags: every listed row must be for some end user, even before its inquiry is a row. */
const MADE_FOR = `
  SELECT profile, product_code, end_user_code, end_user,
    (SELECT max(s.report_end_user_code) FROM report_shares s WHERE s.run_key = $1) AS report_end_user_code
  FROM (
    SELECT profile, product_code, end_user_code, end_user FROM inquiries WHERE run_key = $1
    UNION
    SELECT profile, product_code, end_user_code, end_user FROM operator_tasks WHERE run_key = $1
  ) known`;

/** Reads only: whose an owner's inquiries and holds are, each combination once; none where the ledger has neither. */
export function readMadeFor({ session }: Transaction, runKey: string): Promise<MadeFor[]> {
  return session.read(MADE_FOR, [runKey]);
}

/** Whether it may be given out, and that it was. */
async function noteAccess(
  { session, dialect }: Transaction,
  kind: BodyKind,
  { customerTraceNumber, attempt }: ReportOrigin,
  { by, via, purpose, endUser, isRedacted = false }: Reader,
): Promise<void> {
  const [inquiry] = await readRows(session, 'inquiries', { customerTraceNumber }, dialect.forUpdate);
  if (!inquiry) throw new Error('a report of no inquiry');
  // A disposal may have come since it was read.
  if (inquiry.disposedAt !== undefined) throw new DisposedError(inquiry.disposedAt);
  if (endUser !== undefined && endUser !== inquiry.endUserCode && endUser !== inquiry.endUser) {
    throw new OtherEndUserError();
  }
  const access = { accessId: randomUUID(), customerTraceNumber, attempt, kind, by, via, purpose, redacted: isRedacted };
  await insertRow(session, 'report_accesses', access);
}
