import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyHandle } from './journey-harness.ts';
import type { Scenario } from './scenarios.ts';

/** Plays a journey to its end. `act` sends what the journey needs, once it has started. */
export function playJourney(
  name: string,
  makeInput: () => LendingJourneyInput,
  act?: (handle: JourneyHandle, input: LendingJourneyInput) => Promise<void>,
): Scenario {
  return {
    name,
    async play(harness) {
      const input = makeInput();
      const handle = await harness.start(input);
      await act?.(handle, input);
      await handle.result();
      return handle;
    },
  };
}
