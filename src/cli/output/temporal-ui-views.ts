/** Views of the Temporal UI's list, as `setup` prints them and docs/operating.md gives them. */
import { RUNS_WITH_INQUIRIES } from '../../model/run-key.ts';
import { type Output, wrap } from './output.ts';

/** Every view leaves out `watchLedger`, which every worker's ledger has, and the runs that deliver events. */
export const TEMPORAL_UI_VIEWS: readonly { name: string; filter: string }[] = [
  { name: 'needs a person', filter: 'NeedsAttention IS NOT NULL' },
  { name: 'all runs', filter: RUNS_WITH_INQUIRIES },
];

export function viewLines({ width }: Pick<Output, 'width'>): string[] {
  return [
    ...wrap('Save these as views of the Temporal UI, and add the column NeedsAttention: docs/operating.md.', width),
    // A filter is copied as a whole: it is not wrapped.
    ...TEMPORAL_UI_VIEWS.flatMap(({ name, filter }) => [`  ${name}:`, `    ${filter}`]),
  ];
}
