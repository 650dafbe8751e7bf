/** A stored report as it is given out. */
import type { Ledger } from '../ledger/port.ts';
import type { ProductCode } from '../model/products.ts';
import { ReportNotFoundError } from './errors.ts';

/** A report as the gateway answered it. Personal throughout. */
export interface JourneyReport {
  customerTraceNumber: string;
  productCode: ProductCode;
  attempt: number;
  /** RFC 3339. */
  storedAt: string;
  /** The answer's JSON (interface 2.4, 2.5). */
  report: unknown;
}

/** @throws ReportNotFoundError */
export async function readStoredReport(
  ledger: Ledger,
  journeyId: string,
  productCode: ProductCode,
): Promise<JourneyReport> {
  const stored = await ledger.readReport(journeyId, productCode);
  if (!stored) throw new ReportNotFoundError(journeyId, productCode);
  const { body, ...about } = stored;
  return { ...about, report: parsed(body) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the report.
    throw new Error('the stored report is not JSON');
  }
}
