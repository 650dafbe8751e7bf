import { setTimeout } from 'node:timers/promises';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { isFailureType } from '../model/failure-types.ts';
import { stageInquiry } from '../model/stage-end-user.ts';
import { describeInquiry } from '../model/trace-number.ts';
import type {
  BeginFailureDetails,
  BegunJourney,
  EagerActivities,
  PreparedJourney,
  RefusedInput,
  SubmitInquiryArgs,
} from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { finalFailure } from './failures.ts';
import { createStartActivities } from './prepared-run.ts';
import { makeOneAttempt } from './submit-inquiry.ts';

type BeginArgs = Parameters<EagerActivities['beginJourney']>[0];

/** The longest check before an attempt in this activity: a worker's shutdown waits for one attempt, and 5 s. */
const CHECKED_WITHIN_MS = 2_000;

/**
 * Checks a journey's input and, if nothing is wrong with it, makes the first attempt of the first stage. This saves one
 * activity. docs/protocol.md, "The first attempt".
 *
 * Temporal has the run's configuration before the claim: a run that loses this activity knows which ledger to ask.
 *
 * @throws each failure type of `submitInquiry`, with `BeginFailureDetails`; the check's `InvalidInput` lacks `prepared`
 */
export function createBeginJourney(dependencies: ActivityDependencies): EagerActivities['beginJourney'] {
  const { prepareJourney } = createStartActivities(dependencies);

  return async function beginJourney(args: BeginArgs): Promise<BegunJourney> {
    const { attempt, heartbeatTimeoutMs = 0 } = activityInfo();
    // `submitInquiry` does the same: this execution cannot know how far the first one got.
    if (attempt > 1) throw finalFailure('ActivityFailed');
    const startedAt = performance.now();
    const told: Told = { startedAt, run: undefined, isBare: false };
    const beats = setInterval(() => beat(told), Math.max(250, heartbeatTimeoutMs / 4));
    try {
      const prepared = await ifPrepared(prepareJourney(args));
      return prepared ? await begin(dependencies, args, prepared, told) : {};
    } finally {
      clearInterval(beats);
    }
  };
}

/** The state of this execution's heartbeats. */
interface Told {
  startedAt: number;
  run: Omit<PreparedJourney, 'heard'> | undefined;
  /** A heartbeat without the configuration was sent. It may arrive after a later one and replace it. */
  isBare: boolean;
}

function beat(told: Told): void {
  told.isBare ||= told.run === undefined;
  heartbeat(told.run);
}

/** Returns `undefined` if only `prepareJourney` can finish the check: the run never schedules this activity again. */
async function ifPrepared(check: Promise<PreparedJourney>): Promise<PreparedJourney | undefined> {
  try {
    return await check;
  } catch (error) {
    const isRefused = error instanceof ApplicationFailure && error.type === 'InvalidInput';
    if (isRefused && !(error.details?.[0] as RefusedInput | undefined)?.askOthers) throw error;
    return undefined;
  }
}

async function begin(
  dependencies: ActivityDependencies,
  { input, inquiry }: BeginArgs,
  prepared: PreparedJourney,
  told: Told,
): Promise<BegunJourney> {
  if (!hasTimeOf(prepared, told)) return { prepared };
  const release = prepared.submitsOnWorkflowQueue && dependencies.permits.get(prepared.profile)?.takeNow();
  if (!release) return { prepared, first: { kind: 'elsewhere' } };
  let attempt: ReturnType<typeof makeOneAttempt> | undefined;
  const { submitTimeoutMs } = prepared.settings;
  const late = new AbortController();
  try {
    if (!(await isKept(prepared, told))) return { prepared };
    const { workflowType = '' } = activityInfo();
    const args: SubmitInquiryArgs = {
      inquiry: describeInquiry({ ...prepared, workflowType }, stageInquiry(input, inquiry.productCode), 0),
      ...{ applicants: input.applicants, attempt: 1, consents: [], run: prepared, settings: prepared.settings },
      onWorkflowQueue: true,
    };
    attempt = makeOneAttempt(dependencies, args, performance.now() + submitTimeoutMs);
    const first = await Promise.race([attempt, lostAfter(submitTimeoutMs, late.signal)]);
    return { prepared, first };
  } catch (error) {
    const { type, details } = error as { type?: unknown; details?: BeginFailureDetails[] };
    // Includes cancellation. The ledger has the outcome of the claim.
    if (!isFailureType(type)) return { prepared, first: { kind: 'lost' } };
    throw finalFailure(type, { ...details?.[0], prepared });
  } finally {
    late.abort();
    // A hanging attempt keeps its connection.
    void Promise.resolve(attempt)
      .catch(() => {})
      .then(release);
  }
}

/** Resolves when Temporal's start-to-close would end an attempt that had an activity of its own. */
async function lostAfter(ms: number, signal: AbortSignal): Promise<{ kind: 'lost' }> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
  return { kind: 'lost' };
}

/** Whether this activity leaves an attempt at least the run's own time-outs. Otherwise `submitInquiry` makes it. */
function hasTimeOf({ settings, token }: PreparedJourney, { startedAt, isBare }: Told): boolean {
  const { heartbeatTimeoutMs = 0, startToCloseTimeoutMs } = activityInfo();
  const isSoon = !isBare && performance.now() - startedAt < CHECKED_WITHIN_MS;
  const isWithin = settings.submitTimeoutMs + 2 * CHECKED_WITHIN_MS <= startToCloseTimeoutMs;
  return token === 'ready' && isSoon && isWithin && settings.heartbeatTimeoutMs <= heartbeatTimeoutMs;
}

/** Whether Temporal's database now has the run's configuration, and still waits for this execution. */
async function isKept({ standings: _standings, ...run }: PreparedJourney, told: Told): Promise<boolean> {
  const { client, info } = Context.current();
  told.run = run;
  try {
    await client.withDeadline(Date.now() + CHECKED_WITHIN_MS, () => client.activity.heartbeat(info.taskToken, run));
    return !told.isBare;
  } catch {
    return false;
  }
}
