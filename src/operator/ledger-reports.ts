/** Reads reports, refusals, lists of changes and references from the ledger, for programs beside it. Personal throughout. */
import { userInfo } from 'node:os';
import { defined } from '../base/defined.ts';
import { parseJson } from '../base/json-safety.ts';
import type { SealedChanges } from '../changes/report-changes.ts';
import { DisposedError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import { type LedgerReferences, referencesOf } from '../ledger/reports/report-references.ts';
import { type Reader, readerProblems, type StoredRefusal } from '../ledger/reports/reports.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import { runName } from '../model/run-key.ts';

/** A report as the gateway answered it. */
export interface JourneyReport extends ReportOrigin {
  productCode: ProductCode;
  /** RFC 3339. */
  storedAt: string;
  /** The answer's JSON (interface 2.4, 2.5). */
  report: unknown;
}

/** Changes between two reports of a journey. Its origin is the later report. */
export interface JourneyChanges extends ReportOrigin {
  /** RFC 3339. */
  storedAt: string;
  changes: SealedChanges;
}

/** The reader and the reason for reading. The ledger keeps a row of each reading. */
export interface ReportReader {
  /** The person or program. Default: the system's user. */
  by?: string;
  /** With a purpose the report is served again to the end user that it was pulled for, without a new inquiry. */
  purpose?: string;
  /** Refused (`OtherEndUserError`) unless the report was pulled for this end user: code or name. */
  endUser?: string;
}

/**
 * Thrown when the ledger does not have the requested record: report, list of changes, inquiry or refusal text. Thrown
 * also when the record was disposed of for good (docs/retention.md).
 */
export class NotInLedgerError extends CreditJourneyError {
  override readonly name = 'NotInLedgerError';
  override readonly code: keyof typeof MISSING;
  /** The key of the run, or the trace number of an inquiry. */
  readonly runKey: string;

  constructor(code: keyof typeof MISSING, runKey: string, what = '') {
    super(MISSING[code](runName(runKey), what));
    this.code = code;
    this.runKey = runKey;
  }
}

const MISSING = {
  reportNotFound: (run: string, productCode: string) => `the ledger holds no ${productCode} report of ${run}`,
  refusalNotFound: (_: string, attempt: string) =>
    `the ledger keeps nothing that the gateway wrote beside a refusal of ${attempt}`,
  changesNotFound: (run: string) => `the ledger holds no list of changes of ${run}`,
  journeyDisposed: (run: string) => `this was disposed of: ${run} has nothing of it left`,
  referencesNotFound: (run: string) => `the ledger has no inquiry of ${run}`,
};

/**
 * Returns the newest report of a product, or the report of one inquiry.
 *
 * @throws NotInLedgerError, OtherEndUserError, InvalidInputError
 */
export async function readReport(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode; customerTraceNumber?: string },
  reader: ReportReader = {},
): Promise<JourneyReport> {
  const { runKey, productCode } = wanted;
  const stored = await ledger.reading.report(wanted, checkedReader(reader)).catch(throwDisposed(runKey));
  if (!stored) throw new NotInLedgerError('reportNotFound', runKey, productCode);
  const { body, ...about } = stored;
  return { ...about, report: parsed(body) };
}

/**
 * Returns the gateway's text beside the refusal of an attempt: parsed if it is JSON, else plain text.
 *
 * @throws NotInLedgerError, OtherEndUserError, InvalidInputError
 */
export async function readRefusal(
  ledger: Ledger,
  origin: ReportOrigin,
  reader: ReportReader = {},
): Promise<Omit<StoredRefusal, 'body'> & { body: unknown }> {
  const { customerTraceNumber, attempt } = origin;
  const stored = await ledger.reading.refusal(origin, checkedReader(reader)).catch(throwDisposed(customerTraceNumber));
  if (!stored) {
    throw new NotInLedgerError('refusalNotFound', customerTraceNumber, `${customerTraceNumber}, attempt ${attempt}`);
  }
  return { ...stored, body: jsonOrText(stored.body) };
}

/**
 * Returns the changes between the newest compared report and the report before it.
 *
 * @throws NotInLedgerError, InvalidInputError
 */
export async function readChanges(
  ledger: Ledger,
  journeyId: string,
  reader: ReportReader = {},
): Promise<JourneyChanges> {
  const stored = await ledger.reading.changes(journeyId, checkedReader(reader)).catch(throwDisposed(journeyId));
  if (!stored) throw new NotInLedgerError('changesNotFound', journeyId);
  const { body, of, storedAt } = stored;
  return { ...of, storedAt, changes: parsed(body) as SealedChanges };
}

/**
 * Returns the references that the caller has to store for later shares.
 *
 * @throws NotInLedgerError
 */
export async function readReferences(ledger: Ledger, runKey: string): Promise<LedgerReferences> {
  const inquiries = await ledger.inquiriesOf(runKey);
  if (inquiries.length === 0) throw new NotInLedgerError('referencesNotFound', runKey);
  if (inquiries.every(({ disposedAt }) => disposedAt !== undefined)) {
    throw new NotInLedgerError('journeyDisposed', runKey);
  }
  return referencesOf(runKey, inquiries);
}

/** @throws InvalidInputError */
function checkedReader({ by, purpose, endUser }: ReportReader): Reader {
  const problems = readerProblems(defined({ by, purpose, endUser }));
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { by: by ?? systemUser(), via: 'ledger', ...defined({ purpose, endUser }) };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function throwDisposed(journeyId: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof DisposedError ? new NotInLedgerError('journeyDisposed', journeyId) : error;
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the report.
    throw new Error('the stored report is not JSON');
  }
}

function jsonOrText(body: string): unknown {
  const json = parseJson(body);
  return json ? json[0] : body;
}
