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

/**
 * Returns the answer's JSON text, `{customerTraceNumber, productCode, attempt, storedAt, redacted, report}`, and the
 * trace number of the report's inquiry.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function readReportAnswer(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode; customerTraceNumber?: string | undefined },
  reader: Reader,
): Promise<{ text: string; customerTraceNumber: string }> {
  const { runKey, productCode, customerTraceNumber } = wanted;
  const named = { runKey, productCode, ...omitUndefined({ customerTraceNumber }) };
  const stored = await ledger.reading.report(named, reader);
  if (!stored) throw new Refusal('noReport', 'the ledger has no such report');
  const { body, ...about } = stored;
  const parsed = parseJson(body);
  if (!parsed) throw new Error('a stored report is not JSON');
  const { isRedacted: redacted = false } = reader;
  // A whole report is passed on as the gateway sent it: parsing would round its longer numbers.
  const report = redacted ? JSON.stringify(redact(parsed[0])) : body;
  const text = `${JSON.stringify({ ...about, redacted }).slice(0, -1)},"report":${report}}`;
  return { text, customerTraceNumber: stored.customerTraceNumber };
}

/**
 * Returns the gateway's body of a refusal: `{customerTraceNumber, attempt, productCode, httpStatus?, isWhole, storedAt,
 * redacted, body}`. The gateway's interface shows no such body (7.5), so a masked one keeps its shape and its codes alone.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function readRefusalAnswer(ledger: Ledger, of: ReportOrigin, reader: Reader): Promise<object> {
  const stored = await ledger.reading.refusal(of, reader);
  if (!stored) throw new Refusal('noRefusal', 'the ledger keeps no body of such a refusal');
  const json = parseJson(stored.body);
  const body = json ? json[0] : stored.body;
  const { isRedacted: redacted = false } = reader;
  return { ...stored, redacted, body: redacted ? redactShape(body) : body };
}

/**
 * Returns the changes since the journey's previous report: `{customerTraceNumber, attempt, storedAt, redacted,
 * changes}`.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function readChangesAnswer(
  ledger: Ledger,
  journeyId: string,
  reader: Reader,
): Promise<ReportOrigin & { storedAt: string; redacted: boolean; changes: unknown }> {
  const stored = await ledger.reading.changes(journeyId, reader);
  if (!stored) throw new Refusal('noChanges', 'the ledger has no list of changes of such a journey');
  const parsed = parseJson(stored.body);
  if (!parsed) throw new Error('a stored list of changes is not JSON');
  const { isRedacted: redacted = false } = reader;
  const changes = redacted ? redact(parsed[0]) : parsed[0];
  return { ...stored.of, storedAt: stored.storedAt, redacted, changes };
}

/**
 * Returns the references of a journey's reports and shares, and their number.
 *
 * @throws Refusal 404, 410; what the ledger throws
 */
export async function readReferencesAnswer(
  ledger: Ledger,
  journeyId: string,
  { isRedacted: redacted = false }: Pick<Reader, 'isRedacted'>,
): Promise<{ answer: object; count: number }> {
  const inquiries = await ledger.inquiriesOf(journeyId);
  if (inquiries.length === 0) {
    throw new Refusal('noJourney', 'the ledger has no inquiry of such a journey');
  }
  if (inquiries.every(({ disposedAt }) => disposedAt !== undefined))
    throw new Refusal('disposed', 'the journey was disposed of');
  const found = listReferences(journeyId, inquiries);
  const { references, shares, consumers = [], unattributed = [], withoutRecord = [] } = found;
  const count = [references, shares, consumers, unattributed, withoutRecord].flat().length;
  return { answer: { ...(redacted ? (redact(found) as object) : found), redacted }, count };
}
