/** A journey's runs: the latest is the one that counts, a reset or a new start having replaced those before it. */
import type { Evidence, RunEvidence } from '../evidence.ts';

/** By `journeyId`, the latest run of each `lendingJourney`. */
export function latestRuns({ runs }: Pick<Evidence, 'runs'>): Map<string, RunEvidence> {
  const latest = new Map<string, RunEvidence>();
  for (const run of runs) {
    if (run.workflowType !== 'lendingJourney') continue;
    const journeyId = run.workflowId.replace(/^journey-/, '');
    const known = latest.get(journeyId);
    if (!known || isLater(run, known)) latest.set(journeyId, run);
  }
  return latest;
}

/** One workflow id has one open run at the most, so that they close in their order; a reset keeps the start's time. */
function isLater(run: RunEvidence, known: RunEvidence): boolean {
  return (run.closedAtMs ?? Number.POSITIVE_INFINITY) > (known.closedAtMs ?? Number.POSITIVE_INFINITY);
}
