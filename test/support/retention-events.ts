/** Reads the disposals and legal holds of one run, oldest first. */
import type { AuditedDisposal } from '../../src/ledger/audit/audited.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

export async function retentionEvents(ledger: Ledger, runKey: string): Promise<AuditedDisposal[]> {
  const events: AuditedDisposal[] = [];
  for await (const event of ledger.disposalsBetween({ runKey })) events.push(event);
  return events;
}
