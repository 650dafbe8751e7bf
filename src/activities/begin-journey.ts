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

/** A check that takes longer has its own activity: a worker's shutdown waits for one attempt, and 5 s. */
const CHECKED_WITHIN_MS = 2_000;

/**
 * The check of a journey's input, and where nothing stands against it the first attempt of its first stage: one activity
 * where there were two. docs/protocol.md, "The first attempt".
 *
 * Before it claims, Temporal has the run's configuration: a run that loses this activity knows which ledger to ask.
 *
 * @throws every failure type of `submitInquiry`, with `BeginFailureDetails`; `InvalidInput` of the check without `prepared`
 */
export function createBeginJourney(dependencies: ActivityDependencies): EagerActivities['beginJourney'] {
  const { prepareJourney } = createStartActivities(dependencies);

  return async function beginJourney(args: BeginArgs): Promise<BegunJourney> {
    const { attempt, heartbeatTimeoutMs = 0 } = activityInfo();
    // As of `submitInquiry`: this execution cannot know what the first one has done.
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

/** What Temporal was told by heartbeats. */
interface Told {
  startedAt: number;
  run: Omit<PreparedJourney, 'heard'> | undefined;
  /** A heartbeat without the configuration went out. It may arrive after a later one, and would take its place. */
  isBare: boolean;
}

function beat(told: Told): void {
  told.isBare ||= told.run === undefined;
  heartbeat(told.run);
}

/** `undefined` where the check did not come to its end, or another worker is to be asked: the run schedules `prepareJourney`, and never this activity. */
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
    // A cancellation among others: what came of the claim stands in the ledger.
    if (!isFailureType(type)) return { prepared, first: { kind: 'lost' } };
    throw finalFailure(type, { ...details?.[0], prepared });
  } finally {
    late.abort();
    // One that hangs keeps its connection.
    void Promise.resolve(attempt)
      .catch(() => {})
      .then(release);
  }
}

/** Where the attempt had an activity of its own, Temporal's start-to-close would end it then. */
async function lostAfter(ms: number, signal: AbortSignal): Promise<{ kind: 'lost' }> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
  return { kind: 'lost' };
}

/** No attempt has shorter time-outs than the run's own. Where these are longer, `submitInquiry` makes it, which has them. */
function hasTimeOf({ settings, token }: PreparedJourney, { startedAt, isBare }: Told): boolean {
  const { heartbeatTimeoutMs = 0, startToCloseTimeoutMs } = activityInfo();
  const isSoon = !isBare && performance.now() - startedAt < CHECKED_WITHIN_MS;
  const isWithin = settings.submitTimeoutMs + 2 * CHECKED_WITHIN_MS <= startToCloseTimeoutMs;
  return token === 'ready' && isSoon && isWithin && settings.heartbeatTimeoutMs <= heartbeatTimeoutMs;
}

/** Whether Temporal's database has the run's configuration now, and still waits for this execution. */
async function isKept({ heard: _heard, ...run }: PreparedJourney, told: Told): Promise<boolean> {
  const { client, info } = Context.current();
  told.run = run;
  try {
    await client.withDeadline(Date.now() + CHECKED_WITHIN_MS, () => client.activity.heartbeat(info.taskToken, run));
    return !told.isBare;
  } catch {
    return false;
  }
}
