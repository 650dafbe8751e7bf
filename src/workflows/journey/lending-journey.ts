import { ActivityFailure, CancellationScope, isCancellation, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { BeginFailureDetails, BegunJourney, PreparedJourney, PreparedRun } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/is-record.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { JourneyOutcome, JourneyResult } from '../../messages/journey/shapes.ts';
import { STAGES } from '../../model/products.ts';
import { secondaryUserOf } from '../../model/stage-end-user.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { isBatch } from '../../model/work-class.ts';
import { closeDown, recordWhatCameLast } from '../consent/consents.ts';
import type { BegunAttempt } from '../inquiry/inquiry-spec.ts';
import { beginJourneyOf, journeyActivities } from '../run/activity-stubs.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { applicationFailureOf } from '../run/failures.ts';
import type { ActivityEnd } from '../run/in-flight-activities.ts';
import type { ShownDetails } from '../run/run-details.ts';
import { settleAllWithdrawals } from '../share/share-withdrawal.ts';
import { compareAgain } from './comparisons.ts';
import { Journey, type JourneyResumption, type StageRecord } from './journey.ts';
import { handleMessages } from './journey-handlers.ts';
import { listConsentWaits, planStages, runShares, untilEnded } from './shares.ts';
import { runStages } from './stages.ts';

// A journey whose first stage waits for nothing begins with one activity: the check of its input and the first
// attempt (docs/protocol.md, "The first attempt").

/**
 * @returns the run's configuration; `undefined` where only `prepareJourney` can bring it
 * @throws `InvalidInput` (an ActivityFailure) with `details[0] = { problems }`, before anything is posted
 */
export async function beginJourney(journey: Journey): Promise<PreparedJourney | undefined> {
  const stage = journey.nextStage;
  if (!stage || !beginsAtOnce(journey, stage)) return undefined;
  const { productCode } = stage.status;
  journey.changeStage(stage, { state: 'running' });
  stage.inquiry = { ordinal: 0 };
  const begunAt = new Date().toISOString();
  const args = {
    ...{ input: journey.input, firstRunId: workflowInfo().firstExecutionRunId },
    ...{ inquiry: { productCode }, attempt: 1 as const },
  };
  const isCalledBack = () => journey.isEnding || journey.handOver.isDue;
  const ended = await journey.inFlight.run(isCalledBack, () => beginJourneyOf(productCode)(args));
  if (ended.kind === 'threw' && isRefusal(ended.error)) {
    journey.changeStage(stage, { state: 'pending' });
    throw ended.error;
  }
  const { prepared, begun } = readEnd(ended);
  if (begun) journey.begun = { ...begun, begunAt };
  return prepared;
}

/** Its input is not checked yet: the activity does that. A batch's attempts wait in the gateway queue. */
function beginsAtOnce(journey: Journey, { status: { productCode } }: StageRecord): boolean {
  const { workflowType, priority } = workflowInfo();
  if (!STAGES.includes(productCode) || isBatch(workflowType, priority?.priorityKey)) return false;
  return !journey.isEnding && !journey.gateBefore(productCode) && !journey.handOver.isDue;
}

interface ReadEnd {
  prepared?: PreparedJourney;
  /** Absent if nothing can have been claimed. */
  begun?: Pick<BegunAttempt, 'ended' | 'isLedgerKnown'>;
}

function readEnd(ended: ActivityEnd<BegunJourney>): ReadEnd {
  const unknown = { begun: { ended, isLedgerKnown: false } } as ReadEnd;
  if (ended.kind === 'completed') {
    if (isUndecodable(ended.value)) return unknown;
    const { prepared, first } = ended.value;
    if (!prepared || !first) return prepared ? { prepared } : {};
    return { prepared, begun: { ended: { kind: 'completed', value: first }, isLedgerKnown: true } };
  }
  const { error } = ended;
  const timeout = timeoutIn(error);
  const told = timeout ? (timeout.lastHeartbeatDetails ?? undefined) : detailsOf(error)?.prepared;
  if (isPrepared(told)) return { prepared: told, begun: { ended, isLedgerKnown: true } };
  // It ended before its claim: until then Temporal has no configuration, and the activity does not end as cancelled.
  const isUnclaimed = isCancellation(error) || (timeout !== undefined && told === undefined);
  return isUnclaimed ? {} : unknown;
}

/** Whether the check refused the input: a failed attempt has the run's configuration in its details. */
function isRefusal(error: unknown): boolean {
  return applicationFailureOf(error)?.type === 'InvalidInput' && detailsOf(error)?.prepared === undefined;
}

function detailsOf(error: unknown): Partial<BeginFailureDetails> | undefined {
  return applicationFailureOf(error)?.details?.[0] as Partial<BeginFailureDetails> | undefined;
}

function timeoutIn(error: unknown): TimeoutFailure | undefined {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure ? error.cause : undefined;
}

/** Details that cannot be decrypted have no ledger id. */
function isPrepared(told: unknown): told is PreparedJourney {
  return isRecord(told) && typeof told.ledgerId === 'string';
}

function journeyDetails(journey: Journey): ShownDetails {
  const { gate, gateTimes, openUntil } = journey;
  const records = [...journey.shares.values()];
  return {
    endUserCode: journey.input.endUserCode,
    stages: journey.stages.map(({ status, since }) => ({ ...status, ...defined({ since }) })),
    shares: journey.status().shares.map((share, index) => {
      const { input = {}, since } = records[index] ?? {};
      return { ...share, sharedWith: secondaryUserOf(input), ...defined({ since }) };
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
 * @param past state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function lendingJourney(input: LendingJourneyInput, past?: JourneyResumption): Promise<JourneyResult> {
  return carryRun(DEFINITION, input, past);
}

const DEFINITION: RunDefinition<Journey, JourneyResumption> = {
  State: Journey,
  handleMessages,
  details: journeyDetails,
  begin: async (journey) => {
    const prepared = await beginJourney(journey);
    return prepared && taken(journey, prepared);
  },
  prepare: async (journey) => taken(journey, await prepareJourney(journey)),
  work: runToTheEnd,
  recordWhatCameLast: async (journey) => {
    await settleAllWithdrawals(journey);
    await recordWhatCameLast(journey);
  },
};

function prepareJourney(journey: Journey): Promise<PreparedJourney> {
  const args = { input: journey.input, firstRunId: workflowInfo().firstExecutionRunId };
  const { prepareJourney: prepare } = journeyActivities;
  const ask = () => prepare.executeWithOptions({ summary: 'checking the input' }, [args]);
  // An attempt of the first activity is looked up, however the run ends.
  return journey.begun ? CancellationScope.nonCancellable(ask) : ask();
}

/** Takes what stands for the shares of the input; the rest is the run's configuration. */
function taken(journey: Journey, { standings = [], ...run }: PreparedJourney): PreparedRun {
  const { shares = [] } = journey.input;
  for (const [index, standing] of standings.entries()) journey.consents.learn(shares[index]?.shareId ?? '', standing);
  return run;
}

async function runToTheEnd(journey: Journey, run: PreparedRun): Promise<JourneyOutcome> {
  const { handOver } = journey;
  planStages(journey, run);
  compareAgain(journey, run);
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
