/** What a run knows, as its current details tell it. */
import { setCurrentDetails } from '@temporalio/workflow';
import { currentDetails, type JourneyView, type UncheckedInput } from './current-details.ts';
import type { Journey } from './journey.ts';

/**
 * Keeps the run's current details true. The SDK holds them as they are and writes them as JSON when the UI asks for
 * them: what has a `toJSON` is only built then, from how things stand then. It is in no history.
 */
export function showDetails(journey: Journey): void {
  const details: { toJSON(): string } = { toJSON: () => currentDetails(viewOf(journey)) };
  setCurrentDetails(details as unknown as string);
}

function viewOf(journey: Journey): JourneyView | UncheckedInput {
  const { run, gate, gateTimes, openUntil, isEnding, isCancelled } = journey;
  if (!run) return journey.endedUnchecked ? 'endedUnchecked' : 'beingChecked';
  const status = journey.status();
  const shares = [...journey.shares.values()];
  return {
    status,
    run: { customerId: run.customerId, endUserCode: journey.input.endUserCode },
    stages: journey.stages.map((stage) => ({
      ...stage.status,
      ...(stage.since === undefined ? {} : { since: stage.since }),
    })),
    shares: shares.map((share, index) => {
      const shown = status.shares[index];
      if (!shown) throw new Error('a share without a status');
      return {
        ...shown,
        sharedWith: journey.nameOf(share),
        ...(share.since === undefined ? {} : { since: share.since }),
        ...(share.until === undefined ? {} : { until: share.until }),
      };
    }),
    holds: journey.holds.view,
    ...(gate === undefined ? {} : { gate: { before: gate, ...gateTimes } }),
    isEnding,
    isCancelled,
    ...(openUntil === undefined ? {} : { openUntil }),
  };
}
