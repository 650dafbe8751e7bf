/** Reads the ledger by the operations of the API, and returns whole answers. */

import type { SealedChanges } from '../../src/changes/changes-between.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { listReferences } from '../../src/ledger/reports/reports.ts';
import type { ProductCode } from '../../src/model/products.ts';
import { callLocally, createLedgerServices } from '../../src/operations/local-call.ts';
import { reportOperations } from '../../src/operations/reports.ts';

type Reading = 'getReport' | 'getReferences' | 'getJourneyChanges' | 'getRefusal';

/** Returns the answer's text, or the object that becomes it. */
export async function readStored(
  ledger: Ledger,
  operationId: Reading,
  params: Record<string, string>,
  query: object = { reveal: 'true' },
): Promise<string | object> {
  const route = reportOperations.find((candidate) => candidate.operationId === operationId);
  if (!route) throw new Error(`there is no operation ${operationId}`);
  const { body = '' } = await callLocally(createLedgerServices(ledger), route, {
    ...{ params, query },
    ...{ body: {}, by: 'a test' },
  });
  return body;
}

export async function readReport(
  ledger: Ledger,
  wanted: { runKey: string; productCode: ProductCode },
): Promise<{ customerTraceNumber: string; report: unknown }> {
  return JSON.parse(String(await readStored(ledger, 'getReport', wanted)));
}

export async function readReferences(ledger: Ledger, runKey: string): Promise<ReturnType<typeof listReferences>> {
  return (await readStored(ledger, 'getReferences', { runKey })) as ReturnType<typeof listReferences>;
}

export async function readChanges(
  ledger: Ledger,
  journeyId: string,
): Promise<{ customerTraceNumber: string; changes: SealedChanges }> {
  return JSON.parse(String(await readStored(ledger, 'getJourneyChanges', { journeyId })));
}
