/** Row by row: what a decision would come to, and what it came to. */
import { runAddress } from '../base/route.ts';
import { timeWords } from '../base/time.ts';
import type { Decided } from './same-decision.ts';

const RESULTS: Record<Decided['result'], string> = {
  decided: 'decided',
  decidable: 'would be decided',
  duplicate: 'decided before, by this same decision',
  refused: 'not decided',
  failed: 'not known: send the same decision again',
};

interface TableRow {
  runKey: string;
  customerTraceNumber: string;
  attempt: number;
  isGood: boolean;
  outcome: string;
  detail: string;
}

export function OutcomeTable({
  previewed = [],
  decided = [],
  leftOut = [],
  isPartly = false,
}: {
  previewed?: readonly Decided[];
  decided?: readonly Decided[];
  leftOut?: readonly Decided[] | undefined;
  /** It was sent, and of what is only previewed no answer came. */
  isPartly?: boolean;
}) {
  const rows: TableRow[] = [
    ...previewed.map((row) => ({
      ...row,
      isGood: row.result === 'decidable' && !isPartly,
      outcome:
        row.result !== 'decidable'
          ? 'left out'
          : isPartly
            ? RESULTS.failed
            : `would be decided, by the ${row.heldBy ?? 'run'}`,
      detail: explainRefusal(row),
    })),
    ...decided.map((row) => ({
      ...row,
      isGood: row.result === 'decided' || row.result === 'duplicate',
      outcome: RESULTS[row.result],
      detail: row.recorded === true ? 'the ledger has it' : explainRefusal(row),
    })),
    ...leftOut.map((row) => ({ ...row, isGood: false, outcome: 'left out', detail: explainRefusal(row) })),
  ];
  return (
    <table class="outcomes">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Trace number</th>
          <th scope="col">Outcome</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ runKey, customerTraceNumber, attempt, isGood, outcome, detail }) => (
          <tr key={`${runKey} ${customerTraceNumber}`} class={isGood ? 'good' : 'bad'}>
            <th scope="row" data-label="Run">
              <a href={runAddress(runKey)}>{runKey}</a>
            </th>
            <td data-label="Trace number" class="trace">
              <code>{customerTraceNumber}</code> <span class="attempt">attempt {attempt}</span>
            </td>
            <td data-label="Outcome">{outcome}</td>
            <td data-label="Why">{detail}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function explainRefusal({ detail = '', decided }: Pick<Decided, 'detail' | 'decided'>): string {
  if (!decided) return detail;
  return `${decided.by} has decided: ${decided.action}, ${timeWords(decided.at)}`;
}
