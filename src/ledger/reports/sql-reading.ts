/** The readings of the ledger on any SQL engine: nothing is given out before its row is committed. */
import { randomUUID } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { utcInstant } from '../../base/instants.ts';
import { OtherEndUserError } from '../../model/credit-journey-error.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { unseal } from '../../protection/sealed/sealing.ts';
import { auditedAccesses } from '../audit/record-pages.ts';
import { insertRow, type SqlEngine } from '../database/sql-session.ts';
import { DisposedError } from '../errors.ts';
import type { InquiryRow } from '../inquiries/inquiry-rows.ts';
import type { Ledger } from '../port.ts';
import type { ReportOrigin, StoredDocument, StoredReport } from '../records.ts';
import type { AccessesQuery, AccessKind, AuditedAccess, MadeFor, Reader, Reading, StoredRefusal } from './reading.ts';
import { REFUSAL, readRefusal } from './reports.ts';

type MadeForRow = Pick<InquiryRow, 'profile' | 'end_user_code' | 'end_user'> & {
  product_code: InquiryRow['product_code'] | null;
  report_for: string | null;
};

/** Holds and flags as well: what a list shows must be somebody's, also before its inquiry is a row. */
const MADE_FOR = `
  SELECT profile, product_code, end_user_code, end_user,
    (SELECT max(s.report_end_user_code) FROM report_shares s WHERE s.owner_id = $1) AS report_for
  FROM (
    SELECT profile, product_code, end_user_code, end_user FROM inquiries WHERE owner_id = $1
    UNION
    SELECT profile, product_code, end_user_code, end_user FROM work_for_people WHERE owner_id = $1
  ) known`;

export class SqlReading implements Reading {
  readonly #engine: SqlEngine;
  readonly #keys: KeyWrapper;
  readonly #ledger: Pick<Ledger, 'identity' | 'readReport' | 'readDerived'>;

  /** @param engine one that takes writes from programs of any version: a reading is no claim */
  constructor(engine: SqlEngine, keys: KeyWrapper, ledger: Pick<Ledger, 'identity' | 'readReport' | 'readDerived'>) {
    this.#engine = engine;
    this.#keys = keys;
    this.#ledger = ledger;
  }

  async report(
    { ownerId, productCode, customerTraceNumber }: Parameters<Reading['report']>[0],
    reader: Reader,
  ): Promise<StoredReport | null> {
    const found = await this.#ledger.readReport(ownerId, productCode, customerTraceNumber);
    if (found) await this.#note('report', found, reader);
    return found;
  }

  async refusal(of: ReportOrigin, reader: Reader): Promise<StoredRefusal | null> {
    const found = await this.#engine.read((session) => readRefusal(session, of));
    if (!found) return null;
    const { sealed, disposedAtMs, storedAtMs, ...about } = found;
    if (!sealed) throw new DisposedError(utcInstant(disposedAtMs ?? storedAtMs));
    const { ledgerId } = this.#ledger.identity;
    const body = await unseal(this.#keys, sealed, { ledgerId, ...of, kind: REFUSAL });
    await this.#note('refusal', of, reader);
    return { ...of, ...about, storedAt: utcInstant(storedAtMs), body };
  }

  async changes(ownerId: string, reader: Reader): Promise<StoredDocument | null> {
    const found = await this.#ledger.readDerived(ownerId, 'changes');
    if (found) await this.#note('changes', found.of, reader);
    return found;
  }

  madeFor(ownerId: string): Promise<MadeFor[]> {
    return this.#engine.read(async (session) => {
      const rows = await session.rows<MadeForRow>(MADE_FOR, [ownerId]);
      return rows.map(
        ({ profile, product_code: product, end_user_code: code, end_user: name, report_for: report }) => ({
          profile,
          ...defined({ productCode: product ?? undefined, reportEndUserCode: report ?? undefined }),
          ...defined({ endUserCode: code ?? undefined, endUser: name ?? undefined }),
        }),
      );
    });
  }

  accessesBetween(query: AccessesQuery = {}): AsyncIterable<AuditedAccess> {
    return auditedAccesses(this.#engine, query);
  }

  /** One transaction: whether it may be given out, and that it was. */
  async #note(kind: AccessKind, { customerTraceNumber, attempt }: ReportOrigin, reader: Reader): Promise<void> {
    const { by, via, purpose, endUser, isRedacted = false } = reader;
    await this.#engine.write(async (session) => {
      const [inquiry] = await session.rows<InquiryFacts>(
        `SELECT end_user_code, end_user, disposed_at FROM inquiries WHERE customer_trace_number = $1
         ${this.#engine.dialect.forUpdate}`,
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
        { sql: { recorded_at: this.#engine.dialect.now } },
      );
      return { keep: true, value: undefined };
    });
  }
}

interface InquiryFacts {
  end_user_code: string | null;
  end_user: string | null;
  disposed_at: number | null;
}
