/** The list of changes as the ledger keeps it: JSON, sealed like a report. */

import type { ChangeOptions } from '../model/change-options.ts';
import { DEFAULT_CHANGE_OPTIONS } from './change-options.ts';
import type { ReportChanges } from './report-changes.ts';

interface ComparedSource {
  productCode: string;
  customerTraceNumber: string;
}

/** What was compared, the thresholds, and the result. Personal throughout. */
export interface SealedChanges extends ReportChanges {
  earlier: ComparedSource;
  later: ComparedSource;
  options: ChangeOptions;
}

export function sealedChangesText(found: {
  earlier: ComparedSource;
  later: ComparedSource;
  changes: ReportChanges;
  options?: Partial<ChangeOptions>;
}): string {
  const { earlier, later, changes } = found;
  const options = { ...DEFAULT_CHANGE_OPTIONS, ...found.options };
  return JSON.stringify({ earlier, later, options, ...changes } satisfies SealedChanges);
}
