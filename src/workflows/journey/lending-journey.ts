import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { PreparedJourney, PreparedRun } from '../../activities/contract.ts';
import type { JourneyOutcome, JourneyResult, LendingJourneyInput } from '../../messages/journey/shapes.ts';
import { settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { settleAllWithdrawals } from '../share/share-withdrawal.ts';
import { beginJourney } from './begin-journey.ts';
import { compareAgain } from './comparisons.ts';
import { hearEarlierConsents } from './earlier-consents.ts';
import { untilEnded } from './ends-of-parts.ts';
import { Journey, type JourneyResumption } from './journey.ts';
import { handleMessages } from './journey-handlers.ts';
import { journeyDetails } from './journey-view.ts';
import { planStages } from './planned-numbers.ts';
import { listConsentWaits, runShares } from './shares.ts';
import { runStages } from './stages.ts';

/**
 * One loan application's run: PREQUAL, PREAPP, PRECLOSE, and any number of shares, each awaiting consent.
 * Workflow id `journey-<journeyId>`. Input, messages and result: `messages/journey/shapes.ts`; docs/journeys.md.
 *
 * @param past what the run before has come to; never given by a caller
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function lendingJourney(input: LendingJourneyInput, past?: JourneyResumption): Promise<JourneyResult> {
  return carryRun(DEFINITION, input, past);
}

const DEFINITION: RunDefinition<Journey, JourneyResumption> = {
  State: Journey,
  handleMessages,
  details: journeyDetails,
  begin: async (journey) => taken(journey, await beginJourney(journey)),
  prepare: async (journey) => taken(journey, await prepareJourney(journey)),
  onPrepared: settleEarlyGrants,
  work: runToTheEnd,
  recordWhatCameLast: async (journey) => {
    await journey.decided.untilSettled(journey);
    await settleAllWithdrawals(journey);
    await recordWhatCameLast(journey);
  },
  handedOver: (journey) => journey.handedOver(),
};

function prepareJourney(journey: Journey): Promise<PreparedJourney> {
  const args = { input: journey.input, firstRunId: workflowInfo().firstExecutionRunId };
  const { prepareJourney: prepare } = journeyActivities;
  const ask = () => prepare.executeWithOptions({ summary: 'checking the input' }, [args]);
  // What the first activity may have sent is looked up, however the run ends.
  return journey.begun ? CancellationScope.nonCancellable(ask) : ask();
}

function taken(journey: Journey, prepared: PreparedJourney): PreparedRun;
function taken(journey: Journey, prepared: PreparedJourney | undefined): PreparedRun | undefined;
function taken(journey: Journey, prepared: PreparedJourney | undefined): PreparedRun | undefined {
  if (!prepared) return undefined;
  const { heard, ...run } = prepared;
  journey.heardAtStart = heard;
  return run;
}

async function runToTheEnd(journey: Journey, run: PreparedRun): Promise<JourneyOutcome> {
  const { handOver } = journey;
  planStages(journey, run);
  compareAgain(journey, run);
  hearEarlierConsents(journey, run);
  const parts = [handOver.part(() => runStages(journey, run)), handOver.part(() => runShares(journey, run))] as const;
  await handOver.rest(untilEnded(parts, listConsentWaits(journey, run)));
  const ofStages = await parts[0];
  await parts[1];
  const outcome = journey.withdrawal ? 'withdrawn' : ofStages;
  // Both are idempotent: the next run does them again.
  if (journey.comparisons.length > 0) await handOver.rest(Promise.all(journey.comparisons));
  await handOver.rest(closeDown(journey));
  // A run that no list has yet ends without an upsert.
  if (journey.stageBegunLast || journey.listed.WaitsFor) journey.publish(journey.stageBegunLast);
  journey.outcome = outcome;
  return outcome;
}
