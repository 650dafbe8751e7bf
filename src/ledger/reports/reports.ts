/**
 * Reports, refusals and documents as sealed rows, and the shapes in which people and programs read them. This file cannot
 * open one. What a run compares by itself (`compareReports`) leaves the worker as counts: it has no row of a reader.
 */

import { FORBIDDEN_CHARACTER } from '../../base/hidden-characters.ts';
import { utcInstant } from '../../base/instants.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import { SealBrokenError } from '../../protection/errors.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { type LedgerCipher, type Sealed, unseal } from '../../protection/sealed/sealing.ts';
import type { RecordsQuery } from '../audit/audited.ts';
import { type Columns, columnsFrom, fieldsOf } from '../database/fields.ts';
import { insertRow, placesOf, type SqlSession, type SqlValue, type Transaction } from '../database/sql-session.ts';
import { type AttemptRow, openAnswer } from '../inquiries/inquiry-rows.ts';
import type { DerivedDocument, OutcomeRecord, ReportOrigin, ReportToCompare } from '../records.ts';

/** A refusal's body, ready to be written. */
export interface SealedRefusal {
  sealed: Sealed;
  isWhole: boolean;
}

/** The gateway's text beside a refusal. */
export interface StoredRefusal extends ReportOrigin {
  productCode: ProductCode;
  httpStatus?: number;
  /** Otherwise it is kept as far as it could be read. */
  isWhole: boolean;
  storedAt: string;
  /** Text as it came, unsealed. It may repeat the whole request. */
  body: string;
}

export interface Reader {
  /** A person or a program, by the name that the HTTP API or the command line knows. */
  by: string;
  via: 'ledger' | 'api';
  /** The end user that it is read for. Refused unless the report was pulled for that one. */
  endUser?: string;
  /** With a purpose the report is served again to its end user, without a new inquiry; otherwise it is a look. */
  purpose?: string;
  /** Only a masked view is given out. */
  isRedacted?: boolean;
}

const MAX_READER_TEXT = 200;

/** Returns the faults in a reader's texts, by path and rule. These texts stay readable in the ledger. */
export function readerProblems(reader: Partial<Pick<Reader, 'by' | 'purpose' | 'endUser'>>): Problem[] {
  return (['by', 'purpose', 'endUser'] as const).flatMap((name) => {
    const text = reader[name];
    if (text === undefined) return [];
    if (text.trim() !== '' && [...text].length <= MAX_READER_TEXT && !FORBIDDEN_CHARACTER.test(text)) return [];
    return [{ path: `/${name}`, rule: `must be 1 to ${MAX_READER_TEXT} printable characters` }];
  });
}

export type AccessKind = 'report' | 'refusal' | 'changes';

/** One reading. Nothing personal about the consumer. */
export interface AuditedAccess extends ReportOrigin {
  accessId: string;
  kind: AccessKind;
  runKey: string;
  productCode: ProductCode;
  /** Whom the report was pulled for, and so whom it was served to. */
  endUserCode?: string;
  endUser?: string;
  by: string;
  via: Reader['via'];
  purpose?: string;
  redacted: boolean;
  recordedAt: string;
}

export interface AccessesQuery extends RecordsQuery {
  customerTraceNumber?: string;
  by?: string;
}

/** The facts that decide who may see a run. A share's end user is the secondary user. */
export interface MadeFor extends Pick<InquiryDescription, 'profile' | 'endUserCode' | 'endUser'> {
  /** Absent for work that is about no inquiry. */
  productCode?: ProductCode;
  /** For a share by itself: the end user for whom its report was pulled, if the share's start named one. */
  reportEndUserCode?: string;
}

// A refusal's body on its way through Temporal, while the ledger cannot be reached: sealed, so that only the ledger's keys open it.

/** Base64. Bound to its ledger, inquiry and attempt, as in the ledger. */
export interface CarriedRefusal {
  body: string;
  wrappedKey: string;
  keyId: string;
  algorithm: string;
  isWhole: boolean;
}

/** In characters. Temporal drops the details of a failure of 2 MB, and the protocol needs them: a longer body is lost. */
const MOST_CARRIED = 400_000;

/** `undefined` where it is too long to be carried. */
export function carriedRefusal({ sealed, isWhole }: SealedRefusal): CarriedRefusal | undefined {
  const { body, wrappedKey, keyId, algorithm } = sealed;
  const carried = { body: inBase64(body), wrappedKey: inBase64(wrappedKey), keyId, algorithm, isWhole };
  return carried.body.length > MOST_CARRIED ? undefined : carried;
}

export function sealedRefusal({ body, wrappedKey, keyId, algorithm, isWhole }: CarriedRefusal): SealedRefusal {
  const sealed = { body: Buffer.from(body, 'base64'), wrappedKey: Buffer.from(wrappedKey, 'base64'), keyId, algorithm };
  return { sealed, isWhole };
}

function inBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

// Rows of `reports` and `refusal_bodies`: sealed bodies and their wrapped data keys. This file cannot open one.

const ATTEMPT_KEY = ['customer_trace_number', 'attempt'] as const;
const SEALED = ['algorithm', 'body', 'key_id', 'wrapped_key'] as const;

/** A row of a sealed body. Without body and key where it was disposed of. */
type SealedColumns = { [Column in keyof Columns<Sealed>]: Columns<Sealed>[Column] | null };

/** `null` where it was disposed of. */
function sealedIn(row: SealedColumns): Sealed | null {
  return SEALED.every((column) => row[column] !== null) ? fieldsOf(row as Columns<Sealed>, SEALED) : null;
}

export interface SealedReport extends Sealed, ReportOrigin {
  storedAtMs: number;
}

/** An existing row stays, also one whose key was destroyed. */
export async function insertReport(
  { session, dialect }: Transaction,
  attempt: { customerTraceNumber: string; attempt: number },
  sealed: Sealed,
  late: boolean,
): Promise<void> {
  await insertRow(
    session,
    'reports',
    {
      ...columnsFrom(attempt, ATTEMPT_KEY),
      late: late ? 1 : 0,
      ...columnsFrom(sealed, SEALED),
    },
    { sql: { stored_at: dialect.now }, onConflict: 'ON CONFLICT DO NOTHING' },
  );
}

/** The wanted report: the newest of the caller's and product's, or that of one of their inquiries. */
export interface WantedReport {
  runKey: string;
  productCode: ProductCode;
  customerTraceNumber?: string | undefined;
}

const IS_WANTED =
  'i.run_key = $1 AND i.product_code = $2 AND i.customer_trace_number = coalesce($3, i.customer_trace_number)';

function wanted({ runKey, productCode, customerTraceNumber }: WantedReport): SqlValue[] {
  return [runKey, productCode, customerTraceNumber ?? null];
}

/**
 * The newest report that came with an outcome, or that a person accepted. Unjudged reports, late ones too, are not returned:
 * they may be about another person.
 */
export async function newestReport(session: SqlSession, report: WantedReport): Promise<SealedReport | null> {
  const [row] = await session.rows<ReportRow>(
    `${JUDGED_REPORTS} AND ${IS_WANTED}
     ORDER BY r.stored_at DESC, i.ordinal DESC, r.attempt DESC LIMIT 1`,
    wanted(report),
  );
  return row ? sealedReport(row) : null;
}

/** The reports of these inquiries, of those that `newestReport` may return; the newest last. */
export async function reportsOfInquiries(
  session: SqlSession,
  customerTraceNumbers: readonly string[],
): Promise<(SealedReport & { productCode: ProductCode })[]> {
  const rows = await session.rows<ReportRow>(
    `${JUDGED_REPORTS} AND i.customer_trace_number IN (${placesOf(customerTraceNumbers)}) ORDER BY r.attempt`,
    customerTraceNumbers,
  );
  return rows.map((row) => ({ ...sealedReport(row), productCode: row.product_code }));
}

const JUDGED_REPORTS = `SELECT r.*, i.product_code FROM reports r
  JOIN attempts a ON a.customer_trace_number = r.customer_trace_number AND a.attempt = r.attempt
  JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
  WHERE (r.late = 0 OR EXISTS (SELECT 1 FROM decisions d WHERE d.customer_trace_number = a.customer_trace_number
      AND d.decision_id = a.accepted_by AND d.failure_type = 'AnsweredLate'))
    AND r.body IS NOT NULL AND r.wrapped_key IS NOT NULL
    AND (a.state = 'accepted' OR (a.state = 'answered' AND a.answer_kind = 'outcome'))`;

interface ReportRow extends Columns<Sealed & ReportOrigin> {
  product_code: ProductCode;
  stored_at: number;
}

function sealedReport(row: ReportRow): SealedReport {
  return { ...fieldsOf(row, [...ATTEMPT_KEY, ...SEALED]), storedAtMs: row.stored_at };
}

/** When the last disposed report of the product was disposed of; `null` where none was. */
export async function disposedReport(session: SqlSession, report: WantedReport): Promise<number | null> {
  const [row] = await session.rows<{ disposed_at: number | null }>(
    `SELECT max(i.disposed_at) AS disposed_at FROM inquiries i
     JOIN reports r ON r.customer_trace_number = i.customer_trace_number
     WHERE ${IS_WANTED} AND i.disposed_at IS NOT NULL`,
    wanted(report),
  );
  return row?.disposed_at ?? null;
}

/** The name in the seal beside the attempt: the same bytes do not open as a report. */
export const REFUSAL = 'refusal';

/** An existing row stays, also one whose key was destroyed. */
export async function insertRefusal(
  { session, dialect }: Transaction,
  record: OutcomeRecord,
  { sealed, isWhole }: SealedRefusal,
  late: boolean,
): Promise<void> {
  await insertRow(
    session,
    'refusal_bodies',
    {
      ...columnsFrom(record, ATTEMPT_KEY),
      late: late ? 1 : 0,
      http_status: record.httpStatus,
      is_whole: isWhole ? 1 : 0,
      ...columnsFrom(sealed, SEALED),
    },
    { sql: { stored_at: dialect.now }, onConflict: 'ON CONFLICT DO NOTHING' },
  );
}

interface FoundRefusal {
  productCode: ProductCode;
  httpStatus?: number;
  isWhole: boolean;
  storedAtMs: number;
  /** Absent where it was disposed of. */
  sealed?: Sealed;
  disposedAtMs: number | null;
}

/** The one that came in time before one that came late; `null` where there never was one. */
export async function readRefusal(
  session: SqlSession,
  { customerTraceNumber, attempt }: ReportOrigin,
): Promise<FoundRefusal | null> {
  const [row] = await session.rows<RefusalRow>(
    `SELECT b.*, i.product_code, i.disposed_at FROM refusal_bodies b
     JOIN inquiries i ON i.customer_trace_number = b.customer_trace_number
     WHERE b.customer_trace_number = $1 AND b.attempt = $2 ORDER BY b.late LIMIT 1`,
    [customerTraceNumber, attempt],
  );
  if (!row) return null;
  const sealed = sealedIn(row);
  return {
    ...fieldsOf(row, ['product_code', 'http_status']),
    isWhole: row.is_whole === 1,
    storedAtMs: row.stored_at,
    ...(sealed ? { sealed } : {}),
    disposedAtMs: row.disposed_at,
  };
}

interface RefusalRow extends SealedColumns {
  product_code: ProductCode;
  http_status: number | null;
  is_whole: number;
  stored_at: number;
  disposed_at: number | null;
}

// Rows of `derived_documents`: sealed like reports, and destroyed with either report that they are derived from.

/** Replaces an earlier row: the document is derived again from the same reports, and sealed under a key of its own. */
export async function insertDerived(
  { session, dialect }: Transaction,
  { kind, of, from }: DerivedDocument,
  sealed: Sealed,
): Promise<void> {
  const replaced = ['from_trace_number', 'from_attempt', ...SEALED, 'stored_at'];
  await insertRow(
    session,
    'derived_documents',
    {
      ...columnsFrom(of, ATTEMPT_KEY),
      kind,
      from_trace_number: from.customerTraceNumber,
      from_attempt: from.attempt,
      ...columnsFrom(sealed, SEALED),
    },
    {
      sql: { stored_at: dialect.now },
      onConflict: `ON CONFLICT (customer_trace_number, attempt, kind) DO UPDATE
        SET ${replaced.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    },
  );
}

/** The ledger's id, and when the first of these inquiries was disposed of; `null` where none was. */
export async function disposalOfAny(
  session: SqlSession,
  customerTraceNumbers: readonly string[],
): Promise<{ ledgerId: string; disposedAtMs: number | null }> {
  const [row] = await session.rows<{ ledger_id: string; disposed_at: number | null }>(
    `SELECT ledger_id, (SELECT min(disposed_at) FROM inquiries
       WHERE customer_trace_number IN (${placesOf(customerTraceNumbers)})) AS disposed_at FROM ledger_identity`,
    customerTraceNumbers,
  );
  return { ledgerId: row?.ledger_id ?? 'none', disposedAtMs: row?.disposed_at ?? null };
}

type FoundDerived =
  | { of: ReportOrigin; from: ReportOrigin; storedAtMs: number; sealed: Sealed; disposedAtMs?: never }
  | { disposedAtMs: number };

/** The document about the newest report, which may have been destroyed; `null` where there never was one. */
export async function newestDerived(
  session: SqlSession,
  runKey: string,
  kind: DerivedDocument['kind'],
): Promise<FoundDerived | null> {
  const [row] = await session.rows<DerivedRow>(
    `SELECT d.*, i.disposed_at, f.disposed_at AS from_disposed_at FROM derived_documents d
     JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
     JOIN inquiries f ON f.customer_trace_number = d.from_trace_number
     WHERE i.run_key = $1 AND d.kind = $2 ORDER BY d.stored_at DESC, i.ordinal DESC, d.attempt DESC LIMIT 1`,
    [runKey, kind],
  );
  if (!row) return null;
  const sealed = sealedIn(row);
  if (!sealed) return { disposedAtMs: Math.max(row.disposed_at ?? 0, row.from_disposed_at ?? 0) };
  return {
    of: fieldsOf(row, ATTEMPT_KEY),
    from: { customerTraceNumber: row.from_trace_number, attempt: row.from_attempt },
    storedAtMs: row.stored_at,
    sealed,
  };
}

interface DerivedRow extends SealedColumns, Columns<ReportOrigin> {
  from_trace_number: string;
  from_attempt: number;
  stored_at: number;
  disposed_at: number | null;
  from_disposed_at: number | null;
}

// A comparison reads of each inquiry its sealed report, and whose `consumerId`s its answers name.

interface ToCompare {
  sealed?: SealedReport & { productCode: ProductCode };
  isDisposed: boolean;
  applicantIds: ReadonlyMap<string, string>;
}

export async function readToCompare(
  { session, cipher }: Transaction,
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
