/** Reports, refusals, changes and references as the API answers them: whole, or with personal data masked. */
import { omitUndefined } from '../base/defined.ts';
import { parseJson } from '../base/json-safety.ts';
import { Refusal } from '../http/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import { listReferences } from '../ledger/reports/report-references.ts';
import type { Reader } from '../ledger/reports/reports.ts';
import type { ProductCode } from '../model/products.ts';
import { redact, redactShape } from '../protection/redaction/redaction.ts';

/** How much is shown. */
export type View = 'whole' | 'redacted';

/** The reader, the purpose, and the view of a report. */
export interface Reading {
  reader: Omit<Reader, 'isRedacted'>;
  view: View;
}

/** Answer of `…/changes`. */
interface ChangesAnswer {
  /** From the later report. */
  customerTraceNumber: string;
  attempt: number;
  storedAt: string;
  redacted: boolean;
  changes: unknown;
}

/**
 * The answer's JSON text: `{customerTraceNumber, productCode, attempt, storedAt, redacted, report}`; and which inquiry's
 * report it is.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function reportAnswer(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode; ofInquiry?: string | undefined },
  reading: Reading,
): Promise<{ text: string; customerTraceNumber: string }> {
  const { runKey, productCode, ofInquiry } = wanted;
  const named = { runKey, productCode, ...omitUndefined({ customerTraceNumber: ofInquiry }) };
  const stored = await ledger.reading.report(named, seenBy(reading));
  if (!stored) throw new Refusal('noReport', 'the ledger has no such report');
  const { body, ...about } = stored;
  const parsed = parseJson(body);
  if (!parsed) throw new Error('a stored report is not JSON');
  const redacted = reading.view === 'redacted';
  // Whole, it is passed on as it came: parsing would round its longer numbers.
  const report = redacted ? JSON.stringify(redact(parsed[0])) : body;
  const text = `${JSON.stringify({ ...about, redacted }).slice(0, -1)},"report":${report}}`;
  return { text, customerTraceNumber: stored.customerTraceNumber };
}

/**
 * Returns the gateway's body of a refusal: `{customerTraceNumber, attempt, productCode, httpStatus?, isWhole, storedAt,
 * redacted, body}`. The interface shows no such body (7.5): masked, it keeps its shape and its codes alone.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function refusalAnswer(ledger: Ledger, of: ReportOrigin, reading: Reading): Promise<object> {
  const stored = await ledger.reading.refusal(of, seenBy(reading));
  if (!stored) throw new Refusal('noRefusal', 'the ledger keeps no body of such a refusal');
  const json = parseJson(stored.body);
  const body = json ? json[0] : stored.body;
  const redacted = reading.view === 'redacted';
  return { ...stored, redacted, body: redacted ? redactShape(body) : body };
}

/**
 * Returns the changes since the journey's previous report: `{customerTraceNumber, attempt, storedAt, redacted,
 * changes}`.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function changesAnswer(ledger: Ledger, journeyId: string, reading: Reading): Promise<ChangesAnswer> {
  const stored = await ledger.reading.changes(journeyId, seenBy(reading));
  if (!stored) throw new Refusal('noChanges', 'the ledger has no list of changes of such a journey');
  const parsed = parseJson(stored.body);
  if (!parsed) throw new Error('a stored list of changes is not JSON');
  const redacted = reading.view === 'redacted';
  const changes = redacted ? redact(parsed[0]) : parsed[0];
  return { ...stored.of, storedAt: stored.storedAt, redacted, changes };
}

/** @throws Refusal 404, 410; what the ledger throws */
export async function referencesAnswer(
  ledger: Ledger,
  journeyId: string,
  view: View,
): Promise<{ answer: object; count: number }> {
  const inquiries = await ledger.inquiriesOf(journeyId);
  if (inquiries.length === 0) {
    throw new Refusal('noJourney', 'the ledger has no inquiry of such a journey');
  }
  if (inquiries.every(({ disposedAt }) => disposedAt !== undefined))
    throw new Refusal('disposed', 'the journey was disposed of');
  const found = listReferences(journeyId, inquiries);
  const redacted = view === 'redacted';
  const { references, shares, consumers = [], unattributed = [], withoutRecord = [] } = found;
  const count = [references, shares, consumers, unattributed, withoutRecord].flat().length;
  return { answer: { ...(redacted ? (redact(found) as object) : found), redacted }, count };
}

function seenBy({ reader, view }: Reading): Reader {
  return { ...reader, isRedacted: view === 'redacted' };
}
