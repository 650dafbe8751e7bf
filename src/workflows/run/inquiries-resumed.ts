/** The signal by which `credit-journey resume` wakes the runs that a pause keeps waiting. */
import { defineSignal, setHandler } from '@temporalio/workflow';
import type { InFlightActivities } from './in-flight-activities.ts';

export const inquiriesResumed = defineSignal('inquiriesResumed');

/** Any sender may say it at any time: the claim decides whether the pause is over. Arguments are ignored. */
export function handleResumption(inFlight: InFlightActivities): void {
  setHandler(
    inquiriesResumed,
    () => {
      inFlight.resumptions++;
    },
    { description: 'Wakes what waits for the end of a pause; `credit-journey resume` sends it. No input.' },
  );
}
