/** Reports, refusals, changes and references as the API answers them: whole, or with personal data masked. */
import { parseJson } from '../base/json-safety.ts';
import { Refusal } from '../http/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import { listReferences } from '../ledger/reports/report-references.ts';
import type { Reader } from '../ledger/reports/reports.ts';
import type { ProductCode } from '../model/products.ts';
import { redact, redactShape } from '../protection/redaction/redaction.ts';

interface StoredAnswer {
  /** The answer as JSON. */
  text: string;
  customerTraceNumber: string;
}

/**
 * Writes the answer: facts about a stored body, and the body. A whole body is passed on unchanged: parsing
 * would round its longer numbers.
 */
function writeAnswer(
  about: ReportOrigin,
  member: 'report' | 'changes' | 'body',
  body: string,
  { isRedacted: redacted = false }: Reader,
  mask: (value: unknown) => unknown = redact,
): StoredAnswer {
  const json = redacted ? JSON.stringify(mask((parseJson(body) ?? [body])[0])) : body;
  const text = `${JSON.stringify({ ...about, redacted }).slice(0, -1)},"${member}":${json}}`;
  return { text, customerTraceNumber: about.customerTraceNumber };
}

/** @throws Refusal 404; what the ledger throws */
export async function readReportAnswer(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode; customerTraceNumber?: string },
  reader: Reader,
): Promise<StoredAnswer> {
  const stored = await ledger.reading.report(wanted, reader);
  if (!stored) throw new Refusal('noReport', 'the ledger has no such report');
  const { body, ...about } = stored;
  return writeAnswer(about, 'report', requireJson(body), reader);
}

/**
 * Reads the gateway's body of a refusal. The gateway's interface shows no such body (7.5), so a masked one keeps its
 * shape and its codes alone.
 *
 * @throws Refusal 404; what the ledger throws
 */
export async function readRefusalAnswer(ledger: Ledger, of: ReportOrigin, reader: Reader): Promise<StoredAnswer> {
  const stored = await ledger.reading.refusal(of, reader);
  if (!stored) throw new Refusal('noRefusal', 'the ledger keeps no body of such a refusal');
  const { body, ...about } = stored;
  return writeAnswer(about, 'body', parseJson(body) ? body : JSON.stringify(body), reader, redactShape);
}

/** Reads the changes since the journey's previous report. @throws Refusal 404; what the ledger throws */
export async function readChangesAnswer(ledger: Ledger, journeyId: string, reader: Reader): Promise<StoredAnswer> {
  const stored = await ledger.reading.changes(journeyId, reader);
  if (!stored) throw new Refusal('noChanges', 'the ledger has no list of changes of such a journey');
  const { of, body, storedAt } = stored;
  const about = { ...of, storedAt };
  return writeAnswer(about, 'changes', requireJson(body), reader);
}

/** The masks of reports and changes go by names of members: a text has none. */
function requireJson(body: string): string {
  if (!parseJson(body)) throw new Error('a stored body is not JSON');
  return body;
}

/**
 * Returns the references of a run's reports and shares, and their number.
 *
 * @throws Refusal 404, 410; what the ledger throws
 */
export async function readReferencesAnswer(
  ledger: Ledger,
  runKey: string,
  { isRedacted: redacted = false }: Pick<Reader, 'isRedacted'>,
): Promise<{ answer: object; count: number }> {
  const inquiries = await ledger.inquiriesOf(runKey);
  if (inquiries.length === 0) throw new Refusal('noJourney', 'the ledger has no inquiry of such a journey');
  if (inquiries.every(({ disposedAt }) => disposedAt !== undefined))
    throw new Refusal('disposed', 'the journey was disposed of');
  const found = listReferences(runKey, inquiries);
  const { references, shares, consumers = [], unattributed = [], withoutRecord = [] } = found;
  const count = [references, shares, consumers, unattributed, withoutRecord].flat().length;
  return { answer: { ...(redacted ? (redact(found) as object) : found), redacted }, count };
}
