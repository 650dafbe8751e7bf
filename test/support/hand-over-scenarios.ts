/** Runs that continue as new, with a worker whose configuration makes them do so early, and their next runs. */
import { HANDS_OVER_SOON, handsOver } from './floods.ts';
import { consentMessage, type Harness, journeyInput, untilStatus, update } from './journey-harness.ts';
import { besideOwnWorker } from './own-worker-scenario.ts';
import { reportPull, startPull } from './pull-scenarios.ts';
import type { Scenario } from './scenarios.ts';

/** Continues as new at a gate, passes it, and continues as new again while it waits for consent. */
async function journeyOfThreeRuns(own: Harness): Promise<{ workflowId: string; runs: string[] }> {
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares });
  const { journeyId } = input;
  const handle = await own.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const atGate = await handsOver(handle);
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  const waiting = await handsOver(handle);
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
  await handle.result();
  return { workflowId: handle.workflowId, runs: [atGate.before, waiting.before, waiting.after] };
}

function runOfJourney(name: string, index: number): Scenario {
  return besideOwnWorker(`lendingJourney-${name}`, HANDS_OVER_SOON, async (own) => {
    const { workflowId, runs } = await journeyOfThreeRuns(own);
    return { workflowId, runId: runs[index] ?? '' };
  });
}

/** The first run continues as new while it is held, and the next run receives the decision. */
const pullTookOver = besideOwnWorker('creditReport-tookOver', HANDS_OVER_SOON, async (own) => {
  const input = reportPull('4002');
  const handle = await startPull(own, input);
  await untilStatus(handle, ({ state }) => state === 'held');
  const { after: runId } = await handsOver(handle);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  await handle.executeUpdate<unknown, [object]>('resolveInquiry', {
    args: [
      {
        ...{ pullId: input.pullId, decisionId: 'D1', customerTraceNumber: holds[0]?.customerTraceNumber },
        ...{ attempt: holds[0]?.attempts, action: 'abandon', providerSaid: 'notPosted' },
        ...{ by: 'operator', reason: 'asked the provider' },
      },
    ],
  });
  await handle.result();
  return { workflowId: handle.workflowId, runId };
});

export const HAND_OVER_SCENARIOS: readonly Scenario[] = [
  runOfJourney('handedOver', 0),
  runOfJourney('tookOverAndHandedOver', 1),
  runOfJourney('tookOver', 2),
  pullTookOver,
];
