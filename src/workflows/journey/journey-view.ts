/** What a run knows, as its current details tell it. */
import { nameOfUser } from '../../model/secondary-user.ts';
import type { JourneyView, UncheckedInput } from '../details/current-details.ts';
import type { Journey } from './journey.ts';

export function viewOf(journey: Journey): JourneyView | UncheckedInput {
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
        sharedWith: nameOfUser(share.input),
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
