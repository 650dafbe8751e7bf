/** Opens operator tasks as runs do, and reads them page by page, as the work queue page does. */

import { iteratePages } from '../../src/ledger/database/pages.ts';
import type { OperatorTask, RunHold, TaskFilters } from '../../src/ledger/holds/holds.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { INQUIRY } from './fixtures.ts';

/** A hold, with the fields that differ from the inquiry of the fixtures. */
export type HeldWork = Partial<Omit<RunHold, 'inquiry'>> & { inquiry?: Partial<RunHold['inquiry']> };

export async function openHolds(ledger: Ledger, holds: readonly HeldWork[]): Promise<void> {
  for (const { inquiry, ...hold } of holds) {
    await ledger.tasks.openHold(ledger.identity.ledgerId, {
      ...{ reason: 'GatewayUnreachable', attempt: 1, since: new Date().toISOString() },
      ...hold,
      inquiry: { ...INQUIRY, ...inquiry },
    });
  }
}

/** Reads all open rows, the oldest first, in pages of `limit`. */
export async function openWork(ledger: Ledger, filters: TaskFilters = {}, limit = 3): Promise<OperatorTask[]> {
  const pages = iteratePages(async (after: OperatorTask | undefined) => {
    const { rows, hasMore } = await ledger.tasks.open({ ...filters, limit, after });
    return { items: rows, end: hasMore ? rows.at(-1) : undefined };
  });
  return (await Array.fromAsync(pages)).flat();
}
