/** Sealed content of the ledger, read and written with the key ring; and the record of who has read it. */
import { randomUUID } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { utcInstant } from '../../base/instants.ts';
import { OtherEndUserError } from '../../model/credit-journey-error.ts';
import type { RefusalBody } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { seal, unseal } from '../../protection/sealed/sealing.ts';
import { insertRow, type Transaction, type Written } from '../database/sql-session.ts';
import { requireSameLedger, type Transactions } from '../database/transactions.ts';
import { DisposedError } from '../errors.ts';
import type { InquiryRow } from '../inquiries/inquiry-rows.ts';
import { lockInquiry } from '../inquiries/inquiry-writes.ts';
import type {
  DerivedDocument,
  LedgerIdentity,
  ReportOrigin,
  ReportToCompare,
  StoredDocument,
  StoredReport,
} from '../records.ts';
import {
  type AccessKind,
  disposalOfAny,
  disposedReport,
  insertDerived,
  type MadeFor,
  newestDerived,
  newestReport,
  openToCompare,
  REFUSAL,
  type Reader,
  readRefusal,
  readToCompare,
  type SealedRefusal,
  type StoredRefusal,
  type WantedReport,
} from './reports.ts';

type MadeForRow = Pick<InquiryRow, 'profile' | 'end_user_code' | 'end_user'> & {
  product_code: InquiryRow['product_code'] | null;
  report_for: string | null;
};

/** Includes holds and flags: every listed row must be for some end user, even before its inquiry is a row. */
const MADE_FOR = `
  SELECT profile, product_code, end_user_code, end_user,
    (SELECT max(s.report_end_user_code) FROM report_shares s WHERE s.run_key = $1) AS report_for
  FROM (
    SELECT profile, product_code, end_user_code, end_user FROM inquiries WHERE run_key = $1
    UNION
    SELECT profile, product_code, end_user_code, end_user FROM work_for_people WHERE run_key = $1
  ) known`;

/** The part of a ledger that seals and opens. A key management service may be slow: no lock waits for it. */
export class SealedReports {
  readonly identity: LedgerIdentity;
  readonly #transactions: Transactions;
  readonly #keys: KeyWrapper;

  constructor(identity: LedgerIdentity, transactions: Transactions, keys: KeyWrapper) {
    this.identity = identity;
    this.#transactions = transactions;
    this.#keys = keys;
  }

  /** Seals what the gateway wrote beside a refusal, for `recordOutcome`. Asks the key ring alone. */
  async sealRefusal(attempt: ReportOrigin, { text, isWhole }: RefusalBody): Promise<SealedRefusal> {
    const { ledgerId } = this.identity;
    return { sealed: await seal(this.#keys, text, { ledgerId, ...attempt, kind: REFUSAL }), isWhole };
  }

  /**
   * The newest answered report of an owner and product, unsealed; `null` where there is none. It writes down no reader:
   * people and programs have `reading.report`.
   *
   * @throws DisposedError where it was disposed of
   */
  async readReport(runKey: string, productCode: ProductCode, ofInquiry?: string): Promise<StoredReport | null> {
    const wanted = { runKey, productCode, customerTraceNumber: ofInquiry };
    const { sealed, disposedAtMs } = await this.#transactions.read(async ({ session }) => ({
      sealed: await newestReport(session, wanted),
      disposedAtMs: await disposedReport(session, wanted),
    }));
    if (!sealed && disposedAtMs !== null) throw new DisposedError(utcInstant(disposedAtMs));
    if (!sealed) return null;
    const { customerTraceNumber, attempt, storedAtMs } = sealed;
    const body = await unseal(this.#keys, sealed, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt });
    return { customerTraceNumber, productCode, attempt, storedAt: utcInstant(storedAtMs), body };
  }

  /**
   * The newest answered report of each inquiry, unsealed, and whose `consumerId`s it names; in the order asked for. It
   * writes down no reader: they are compared, and leave no worker.
   */
  async reportsToCompare(ledgerId: string, customerTraceNumbers: readonly string[]): Promise<ReportToCompare[]> {
    const asked = await this.#transactions.read((tx) => readToCompare(tx, customerTraceNumbers));
    requireSameLedger(ledgerId, asked.ledgerId);
    return Promise.all(asked.found.map((found) => openToCompare(this.#keys, ledgerId, found)));
  }

  /**
   * Seals a document, in place of an earlier one of its kind about the same report. `false` where one of the two reports
   * was disposed of: nothing was written.
   */
  async keepDerived(ledgerId: string, document: DerivedDocument, text: string): Promise<boolean> {
    const { kind, of, from } = document;
    const sealed = await seal(this.#keys, text, { ledgerId, ...of, kind });
    return this.#transactions.write(async (tx) => {
      const sources = [of.customerTraceNumber, from.customerTraceNumber].sort();
      for (const source of sources) await lockInquiry(tx, source);
      const found = await disposalOfAny(tx.session, sources);
      requireSameLedger(ledgerId, found.ledgerId);
      const isDisposed = found.disposedAtMs !== null;
      if (!isDisposed) await insertDerived(tx, document, sealed);
      return { keep: !isDisposed, value: !isDisposed };
    });
  }

  /**
   * The newest document of a kind about a caller's reports, unsealed; `null` where there is none. It writes down no
   * reader: people and programs have `reading.changes`.
   *
   * @throws DisposedError where it was disposed of
   */
  async readDerived(runKey: string, kind: DerivedDocument['kind']): Promise<StoredDocument | null> {
    const found = await this.#transactions.read(({ session }) => newestDerived(session, runKey, kind));
    if (!found) return null;
    if (found.disposedAtMs !== undefined) throw new DisposedError(utcInstant(found.disposedAtMs));
    const { of, from, sealed, storedAtMs } = found;
    const body = await unseal(this.#keys, sealed, { ledgerId: this.identity.ledgerId, ...of, kind });
    return { kind, of, from, storedAt: utcInstant(storedAtMs), body };
  }
}

/**
 * Reads sealed content for people and programs. Returns nothing before a row that says who read it is committed. Each
 * method throws `DisposedError` if the content was disposed of. It throws `OtherEndUserError` if `endUser` is another
 * than the one for whom the report was pulled: giving it to another one is a share.
 */
export class Readings {
  readonly #sealed: SealedReports;
  readonly #transactions: Transactions;
  readonly #keys: KeyWrapper;

  constructor(sealed: SealedReports, transactions: Transactions, keys: KeyWrapper) {
    this.#sealed = sealed;
    this.#transactions = transactions;
    this.#keys = keys;
  }

  /** The newest answered report of an owner and product, or that of one inquiry; `null` where there is none. */
  async report(
    { runKey, productCode, customerTraceNumber }: WantedReport,
    reader: Reader,
  ): Promise<StoredReport | null> {
    const found = await this.#sealed.readReport(runKey, productCode, customerTraceNumber);
    if (found) await this.#note('report', found, reader);
    return found;
  }

  /** Returns the gateway's text beside the refusal of one attempt; `null` if none is kept. */
  async refusal(of: ReportOrigin, reader: Reader): Promise<StoredRefusal | null> {
    const { ledgerId } = this.#sealed.identity;
    const found = await this.#transactions.read(({ session }) => readRefusal(session, of));
    if (!found) return null;
    const { sealed, disposedAtMs, storedAtMs, ...about } = found;
    if (!sealed) throw new DisposedError(utcInstant(disposedAtMs ?? storedAtMs));
    const body = await unseal(this.#keys, sealed, { ledgerId, ...of, kind: REFUSAL });
    await this.#note('refusal', of, reader);
    return { ...of, ...about, storedAt: utcInstant(storedAtMs), body };
  }

  /** The newest list of changes of an owner; `null` where there is none. */
  async changes(runKey: string, reader: Reader): Promise<StoredDocument | null> {
    const found = await this.#sealed.readDerived(runKey, 'changes');
    if (found) await this.#note('changes', found.of, reader);
    return found;
  }

  /** A reading is no claim: programs of any version write it. */
  #note(kind: AccessKind, origin: ReportOrigin, reader: Reader): Promise<void> {
    return this.#transactions.write((tx) => noteAccess(tx, kind, origin, reader), { byAnyVersion: true });
  }
}

/** Reads only: whose an owner's inquiries and holds are, each combination once; none where the ledger has neither. */
export async function readMadeFor({ session }: Transaction, runKey: string): Promise<MadeFor[]> {
  const rows = await session.rows<MadeForRow>(MADE_FOR, [runKey]);
  return rows.map(({ profile, product_code: product, end_user_code: code, end_user: name, report_for: report }) => ({
    profile,
    ...defined({ productCode: product ?? undefined, reportEndUserCode: report ?? undefined }),
    ...defined({ endUserCode: code ?? undefined, endUser: name ?? undefined }),
  }));
}

/** Whether it may be given out, and that it was. */
async function noteAccess(
  { session, dialect }: Transaction,
  kind: AccessKind,
  { customerTraceNumber, attempt }: ReportOrigin,
  { by, via, purpose, endUser, isRedacted = false }: Reader,
): Promise<Written<void>> {
  const [inquiry] = await session.rows<InquiryFacts>(
    `SELECT end_user_code, end_user, disposed_at FROM inquiries WHERE customer_trace_number = $1 ${dialect.forUpdate}`,
    [customerTraceNumber],
  );
  if (!inquiry) throw new Error('a report of no inquiry');
  // A disposal may have come since it was read.
  if (inquiry.disposed_at !== null) throw new DisposedError(utcInstant(inquiry.disposed_at));
  if (endUser !== undefined && endUser !== inquiry.end_user_code && endUser !== inquiry.end_user) {
    throw new OtherEndUserError();
  }
  await insertRow(
    session,
    'report_accesses',
    {
      ...{ access_id: randomUUID(), customer_trace_number: customerTraceNumber, attempt, kind },
      ...{ accessed_by: by, accessed_via: via, purpose, is_redacted: isRedacted ? 1 : 0 },
    },
    { sql: { recorded_at: dialect.now } },
  );
  return { keep: true, value: undefined };
}

interface InquiryFacts {
  end_user_code: string | null;
  end_user: string | null;
  disposed_at: number | null;
}
