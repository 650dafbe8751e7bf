/** Opens operator tasks as runs do, and reads them page by page, as the work queue page does. */

import type { RunHold, WorkFilters, WorkRow } from '../../src/ledger/holds/holds.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { readOpenWork } from '../../src/operator/holds.ts';
import { INQUIRY } from './fixtures.ts';

/** A hold, with the fields that differ from the inquiry of the fixtures. */
export type HeldWork = Partial<Omit<RunHold, 'inquiry'>> & { inquiry?: Partial<RunHold['inquiry']> };

export async function openHolds(ledger: Ledger, holds: readonly HeldWork[]): Promise<void> {
  for (const { inquiry, ...hold } of holds) {
    await ledger.work.openHold(ledger.identity.ledgerId, {
      ...{ reason: 'GatewayUnreachable', attempt: 1, since: new Date().toISOString() },
      ...hold,
      inquiry: { ...INQUIRY, ...inquiry },
    });
  }
}

/** Reads all open rows, the oldest first, in pages of `limit`. */
export async function openWork(ledger: Ledger, filters: WorkFilters = {}, limit = 3): Promise<WorkRow[]> {
  const pages = await Array.fromAsync(readOpenWork(ledger, { ...filters, limit }));
  return pages.flatMap(({ rows }) => rows);
}
