/** Reads the ledger as the API does, and returns whole answers. */
import { readChangesAnswer, readReferencesAnswer, readReportAnswer } from '../../src/api/routes/reports.ts';
import type { SealedChanges } from '../../src/changes/changes-between.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { listReferences } from '../../src/ledger/reports/report-references.ts';
import type { ProductCode } from '../../src/model/products.ts';

const READING = { by: 'a test', via: 'ledger', isRedacted: false } as const;

export async function readReport(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode },
): Promise<{ customerTraceNumber: string; report: unknown }> {
  return JSON.parse(String((await readReportAnswer(ledger, wanted, READING)).body));
}

export async function readReferences(ledger: Ledger, runKey: string): Promise<ReturnType<typeof listReferences>> {
  return (await readReferencesAnswer(ledger, runKey, READING)).body as ReturnType<typeof listReferences>;
}

export async function readChanges(
  ledger: Ledger,
  journeyId: string,
): Promise<{ customerTraceNumber: string; changes: SealedChanges }> {
  return JSON.parse(String((await readChangesAnswer(ledger, journeyId, READING)).body));
}
