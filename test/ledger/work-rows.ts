/** Reads what needs a person, as a page of the operators' does: page by page. */

import type { WorkFilters, WorkRow } from '../../src/ledger/holds/work.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** All open rows, the oldest first, in pages of `limit`. */
export async function openWork(ledger: Ledger, filters: WorkFilters = {}, limit = 3): Promise<WorkRow[]> {
  const rows: WorkRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ledger.work.open({ ...filters, limit, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}
