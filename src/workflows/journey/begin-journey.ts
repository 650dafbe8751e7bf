/**
 * A journey whose first stage waits for nothing begins with one activity: the check of its input and the first attempt
 * (docs/protocol.md, "The first attempt").
 */
import { ActivityFailure, isCancellation, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { BeginFailureDetails, BegunJourney, PreparedJourney } from '../../activities/contract.ts';
import { isRecord } from '../../base/is-record.ts';
import { STAGES } from '../../model/products.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { isBatch } from '../../model/work-class.ts';
import type { BegunAttempt } from '../inquiry/inquiry-spec.ts';
import { beginJourneyOf } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import type { ActivityEnd } from '../run/in-flight-activities.ts';
import type { Journey } from './journey.ts';
import type { StageRecord } from './stage-record.ts';

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
  /** Absent where nothing can have been claimed. */
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

/** By the check: what the attempt throws has the run's configuration in its details. */
function isRefusal(error: unknown): boolean {
  return applicationFailureOf(error)?.type === 'InvalidInput' && detailsOf(error)?.prepared === undefined;
}

function detailsOf(error: unknown): Partial<BeginFailureDetails> | undefined {
  return applicationFailureOf(error)?.details?.[0] as Partial<BeginFailureDetails> | undefined;
}

function timeoutIn(error: unknown): TimeoutFailure | undefined {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure ? error.cause : undefined;
}

/** Details that no key opens have no ledger. */
function isPrepared(told: unknown): told is PreparedJourney {
  return isRecord(told) && typeof told.ledgerId === 'string';
}
