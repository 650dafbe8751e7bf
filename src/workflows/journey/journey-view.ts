/** What a run knows, as its current details tell it. */
import type { PreparedRun } from '../../activities/contract.ts';
import { secondaryUserOf } from '../../model/secondary-user.ts';
import { currentDetails, type JourneyView, uncheckedDetails } from '../details/current-details.ts';
import type { Journey } from './journey.ts';

/** Markdown for the Temporal UI. */
export function journeyDetails(journey: Journey): string {
  return journey.run ? currentDetails(viewOf(journey, journey.run)) : uncheckedDetails(journey);
}

function viewOf(journey: Journey, run: PreparedRun): JourneyView {
  const { gate, gateTimes, openUntil, isEnding, isCancelled } = journey;
  const status = journey.status();
  const shares = [...journey.shares.values()];
  return {
    status,
    run: { customerId: run.customerId, endUserCode: journey.input.endUserCode, runbookUrl: run.runbookUrl },
    stages: journey.stages.map((stage) => ({
      ...stage.status,
      ...(stage.since === undefined ? {} : { since: stage.since }),
    })),
    shares: shares.map((share, index) => {
      const shown = status.shares[index];
      if (!shown) throw new Error('a share without a status');
      return {
        ...shown,
        sharedWith: secondaryUserOf(share.input),
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
