/** Reports and references out of the ledger, for callers that have a token and neither database nor key. */

import { defined } from '../base/defined.ts';
import { parseJson } from '../base/json-safety.ts';
import type { AccessRecord } from '../http/audit.ts';
import { badRequest, forbidden, gone, Refusal, unavailable } from '../http/refusal.ts';
import { DisposedError, LedgerUnavailableError } from '../ledger/errors.ts';
import { referencesOf } from '../ledger/ledger-references.ts';
import type { Ledger } from '../ledger/port.ts';
import { type Reader, readerProblems } from '../ledger/reading.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import { OtherEndUserError } from '../model/credit-journey-error.ts';
import { ownerIdProblem } from '../model/owner-id.ts';
import { PRODUCTS, type ProductCode } from '../model/products.ts';
import { UnknownKeyError } from '../protection/errors.ts';
import { redact, redactShape } from '../protection/redaction/redaction.ts';
import { PATH_CALLER, type Permission } from './roles.ts';

/** Answer of `…/changes`. */
interface ChangesAnswer {
  /** Of the later report. */
  customerTraceNumber: string;
  attempt: number;
  storedAt: string;
  redacted: boolean;
  changes: unknown;
}

export class ReportWork {
  readonly #openLedger: (() => Promise<Ledger>) | undefined;
  /** Where reports and references belong. */
  readonly #namespace: string;
  #opening: Promise<Ledger> | undefined;

  constructor(openLedger: (() => Promise<Ledger>) | undefined, namespace: string) {
    this.#openLedger = openLedger;
    this.#namespace = namespace;
  }

  /**
   * The answer's JSON text: `{customerTraceNumber, productCode, attempt, storedAt, redacted, report}`; and which
   * inquiry's report it is.
   *
   * @throws Refusal
   */
  async report(
    journeyId: string,
    productCode: ProductCode,
    permission: Permission,
    { reader, ofInquiry }: { reader: CodecReader; ofInquiry?: string | undefined },
  ): Promise<{ text: string; customerTraceNumber: string }> {
    const wanted = { ownerId: journeyId, productCode, ...defined({ customerTraceNumber: ofInquiry }) };
    const stored = await this.#read(permission, (ledger) => ledger.reading.report(wanted, seenBy(reader, permission)));
    if (!stored) throw new Refusal(404, 'NotFound', 'noReport', 'the ledger has no such report');
    const { body, ...about } = stored;
    const parsed = parseJson(body);
    if (!parsed) throw new Error('a stored report is not JSON');
    const redacted = permission.view === 'redacted';
    // Whole, it is passed on as it came: parsing would round its longer numbers.
    const report = redacted ? JSON.stringify(redact(parsed[0])) : body;
    const text = `${JSON.stringify({ ...about, redacted }).slice(0, -1)},"report":${report}}`;
    return { text, customerTraceNumber: stored.customerTraceNumber };
  }

  /**
   * What the gateway wrote beside a refusal: `{customerTraceNumber, attempt, productCode, httpStatus?, isWhole, storedAt,
   * redacted, body}`. The interface shows no such body (7.5): masked, it keeps its shape and its codes alone.
   *
   * @throws Refusal
   */
  async refusal(of: ReportOrigin, permission: Permission, reader: CodecReader): Promise<object> {
    const stored = await this.#read(permission, (ledger) => ledger.reading.refusal(of, seenBy(reader, permission)));
    if (!stored) throw new Refusal(404, 'NotFound', 'noRefusal', 'the ledger keeps no body of such a refusal');
    const json = parseJson(stored.body);
    const body = json ? json[0] : stored.body;
    const redacted = permission.view === 'redacted';
    return { ...stored, redacted, body: redacted ? redactShape(body) : body };
  }

  /**
   * What changed since the journey's report before: `{customerTraceNumber, attempt, storedAt, redacted, changes}`.
   *
   * @throws Refusal
   */
  async changes(journeyId: string, permission: Permission, reader: CodecReader): Promise<ChangesAnswer> {
    const stored = await this.#read(permission, (ledger) =>
      ledger.reading.changes(journeyId, seenBy(reader, permission)),
    );
    if (!stored) throw new Refusal(404, 'NotFound', 'noChanges', 'the ledger has no list of changes of such a journey');
    const parsed = parseJson(stored.body);
    if (!parsed) throw new Error('a stored list of changes is not JSON');
    const redacted = permission.view === 'redacted';
    const changes = redacted ? redact(parsed[0]) : parsed[0];
    return { ...stored.of, storedAt: stored.storedAt, redacted, changes };
  }

  /** @throws Refusal */
  async references(journeyId: string, permission: Permission): Promise<{ answer: object; count: number }> {
    const inquiries = await this.#read(permission, (ledger) => ledger.inquiriesOf(journeyId));
    if (inquiries.length === 0) {
      throw new Refusal(404, 'NotFound', 'noJourney', 'the ledger has no inquiry of such a journey');
    }
    if (inquiries.every(({ disposedAt }) => disposedAt !== undefined)) throw gone('the journey was disposed of');
    const found = referencesOf(journeyId, inquiries);
    const redacted = permission.view === 'redacted';
    const count = found.references.length + found.shares.length + (found.consumers?.length ?? 0);
    return { answer: { ...(redacted ? (redact(found) as object) : found), redacted }, count };
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  async #read<T>({ namespace }: Permission, read: (ledger: Ledger) => Promise<T>): Promise<T> {
    if (namespace !== this.#namespace) throw forbidden('namespace', 'the reports here belong to another namespace');
    if (!this.#openLedger) throw new Refusal(404, 'NotFound', 'noLedger', 'this server has no ledger');
    try {
      this.#opening ??= this.#openLedger();
      return await read(await this.#opening);
    } catch (error) {
      // One that could not be opened is tried again with the next request.
      this.#opening?.catch(() => {
        this.#opening = undefined;
      });
      if (error instanceof OtherEndUserError) throw forbidden('otherEndUser', error.message);
      if (error instanceof DisposedError) throw gone('the report was disposed of');
      if (error instanceof UnknownKeyError) throw new Refusal(503, 'UnknownKey', 'unknownKey', error.message);
      if (error instanceof LedgerUnavailableError) throw unavailable('ledger', 'the ledger does not answer');
      throw error;
    }
  }
}

export type CodecReader = Pick<Reader, 'by' | 'purpose' | 'endUser'>;

function seenBy(reader: CodecReader, { view }: Permission): Reader {
  return { ...reader, via: 'codecServer', isRedacted: view === 'redacted' };
}

/**
 * Who reads, and for what. The token's subject is the reader; only beside an unguessable path, which names nobody, may
 * the caller say who it is.
 */
export function checkedReader(query: unknown, { subject = 'unknown', issuer }: Partial<AccessRecord>): CodecReader {
  const { by, purpose, endUser } = query as Record<string, unknown>;
  const words = { by, purpose, endUser };
  for (const [name, value] of Object.entries(words)) {
    if (value === undefined || typeof value === 'string') continue;
    throw badRequest(name, 'that is no reader', [{ path: `/${name}`, rule: 'must be given once' }]);
  }
  const given = defined(words as Record<string, string | undefined>) as Partial<CodecReader>;
  const problems = readerProblems(given);
  if (problems.length > 0) throw badRequest('reader', 'that is no reader', problems);
  const isNamed = subject !== PATH_CALLER || issuer !== undefined;
  return { ...given, by: isNamed ? subject : (given.by ?? subject) };
}

/** The attempt of a refusal. */
export function checkedAttempt(customerTraceNumber: string, attempt: string): ReportOrigin {
  if (!/^[A-Z0-9]{1,30}$/.test(customerTraceNumber)) {
    const rule = 'must be 1 to 30 capital letters and digits';
    throw badRequest('customerTraceNumber', 'that is no trace number', [{ path: '/customerTraceNumber', rule }]);
  }
  if (!/^[1-9]\d{0,5}$/.test(attempt)) {
    throw badRequest('attempt', 'that is no attempt', [{ path: '/attempt', rule: 'must be a number from 1' }]);
  }
  return { customerTraceNumber, attempt: Number(attempt) };
}

/** An owner's id. Ids come from the address: one that may be personal reaches neither the ledger nor a log. */
export function checkedJourneyId(text: string): string {
  const rule = ownerIdProblem(text);
  if (rule) throw badRequest('journeyId', 'the journey id cannot be one', [{ path: '/journeyId', rule }]);
  return text;
}

/** Absent: the newest report. One that is no trace number names nothing. */
export function checkedTraceNumber(query: unknown): string | undefined {
  const { customerTraceNumber } = query as { customerTraceNumber?: unknown };
  if (customerTraceNumber === undefined) return undefined;
  if (typeof customerTraceNumber === 'string' && /^[A-Z0-9]{1,30}$/.test(customerTraceNumber))
    return customerTraceNumber;
  const rule = 'must be 1 to 30 capital letters and digits, once';
  throw badRequest('customerTraceNumber', 'that is no trace number', [{ path: '/customerTraceNumber', rule }]);
}

export function checkedProductCode(text: string): ProductCode {
  const product = PRODUCTS.find((one) => one === text);
  if (product) return product;
  const rule = `must be one of ${PRODUCTS.join(', ')}`;
  throw badRequest('productCode', 'there is no such product', [{ path: '/productCode', rule }]);
}
