import { workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { JourneyOutcome, JourneyResult } from '../../messages/journey/shapes.ts';
import { toSecondaryUser } from '../../model/stage-end-user.ts';
import { drainConsents } from '../consent/consents.ts';
import { drainShares } from '../machine/share-withdrawal.ts';
import { runActivities } from '../run/activity-stubs.ts';
import type { ShownDetails } from '../run/run-details.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';
import { Journey, type JourneyRunState } from './journey.ts';
import { handleMessages } from './journey-handlers.ts';
import { planInquiries, runShares, waitUntilEnded } from './shares.ts';
import { runStages } from './stages.ts';

function writeJourneyDetails(journey: Journey): ShownDetails {
  const { gate, gateTimes, openUntil } = journey;
  const records = [...journey.shares.values()];
  return {
    endUserCode: journey.input.endUserCode,
    stages: journey.stages.map(({ status, since }) => ({ ...status, ...omitUndefined({ since }) })),
    shares: journey.status().shares.map((share, index) => {
      const { input = {}, since } = records[index] ?? {};
      return { ...share, sharedWith: toSecondaryUser(input), ...omitUndefined({ since }) };
    }),
    gate: gate === undefined ? undefined : { before: gate, ...gateTimes },
    openUntil,
  };
}

/**
 * The run of one loan application: PREQUAL, PREAPP, PRECLOSE, and shares that await consent. Workflow id
 * `journey-<journeyId>`. Input: `messages/inputs/lending-journey.ts`; result: `messages/journey/shapes.ts`;
 * docs/journeys.md.
 *
 * @param state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function lendingJourney(input: LendingJourneyInput, state?: JourneyRunState): Promise<JourneyResult> {
  return runWorkflow(DEFINITION, input, state);
}

const DEFINITION: RunDefinition<Journey, JourneyRunState> = {
  State: Journey,
  handleMessages,
  details: writeJourneyDetails,
  prepare: prepareJourney,
  onReset: ({ consents }) => consents.markAllStale(),
  work: runToTheEnd,
  drainMessages: drainShares,
};

/** Checks the input, keeps the ledger's answers about its shares, and returns the run's configuration. */
async function prepareJourney(journey: Journey): Promise<RunConfig> {
  const args = { input: journey.input, firstRunId: workflowInfo().firstExecutionRunId };
  const { standings = [], ...run } = await runActivities.prepareJourney.executeWithOptions(
    { summary: 'checking the input' },
    [args],
  );
  const { shares = [] } = journey.input;
  for (const [index, standing] of standings.entries())
    journey.consents.updateStanding(shares[index]?.shareId ?? '', standing);
  return run;
}

async function runToTheEnd(journey: Journey, config: RunConfig): Promise<JourneyOutcome> {
  const { continuation } = journey;
  planInquiries(journey, config);
  const parts = [
    continuation.part(() => runStages(journey, config)),
    continuation.part(() => runShares(journey, config)),
  ] as const;
  await continuation.waitFor(waitUntilEnded(parts));
  const ofStages = await parts[0];
  await parts[1];
  const outcome = journey.withdrawal ? 'withdrawn' : ofStages;
  // The step is idempotent, and the next run repeats it.
  await continuation.waitFor(drainConsents(journey));
  journey.end(outcome);
  return outcome;
}
