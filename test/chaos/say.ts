/** Makes the text of a chaos run’s report. */
import type { Run } from './run.ts';

/** Limits the printed failures of one invariant. */
const MOST_FAILURES_TOLD = 12;

/** The storm's counts, then each invariant with its own. */
export function describeRun(run: Run): string[] {
  const { counts, figures, decisions, settled, endedByThemselves, verdicts } = run;
  const kinds = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const ended = Object.entries(endedByThemselves).filter(([, times]) => times > 0);
  return [
    'what happened (and what found nothing to strike, or failed itself):',
    ...kinds.map(([kind, { struck, missed }]) => `  ${kind.padEnd(22)} ${struck}${missed > 0 ? ` (${missed})` : ''}`),
    `  ${'decisions of operators'.padEnd(22)} ${decisions}`,
    ...[...figures].map(([name, figure]) => `  ${name.padEnd(22)} ${figure}`),
    ...ended.map(([name, times]) => `  ${`${name} ended by itself`.padEnd(22)} ${times}`),
    'what holds:',
    ...verdicts.flatMap(({ name, count, failures, remark }) => [
      `  ${failures.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${count}${remark === undefined ? '' : ` (${remark})`}`,
      ...failures.slice(0, MOST_FAILURES_TOLD).map((failure) => `           ${failure}`),
    ]),
    ...settled.unsettled.map(({ runKey, state }) => `  FAILED ${runKey} came to no rest: ${state}`),
  ];
}

/** One for each violation, and for each run that came to no rest. */
export function failuresOf({ verdicts, settled }: Run): string[] {
  return [
    ...verdicts.flatMap(({ name, failures }) => failures.map((failure) => `${name}: ${failure}`)),
    ...settled.unsettled.map(({ runKey, state }) => `${runKey} came to no rest: ${state}`),
  ];
}

export function lastLine(seed: number, run: Run): string {
  const checks = run.verdicts.reduce((sum, { count }) => sum + count, 0);
  const failed = failuresOf(run).length;
  return `chaos seed ${seed}: ${Math.max(0, checks - failed)} checks passed, ${failed} failed`;
}
