/** A run of any kind, from its input to its end. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  setHandler,
  sleep,
  TemporalFailure,
} from '@temporalio/workflow';
import type { RefusedInput, RunConfig } from '../../activities/contract.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import type { TerminalState } from '../../messages/journey/shapes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { hasRunOut, waitToTryAgain } from './activity-stubs.ts';
import { showDetails } from './around-the-sdk.ts';
import { areMessagesAnswered, onReset, waitUntilUpdatesTaken } from './as-replayed.ts';
import { refuseForeignState } from './continuation.ts';
import { findApplicationFailure, readInputProblems, toUndecodableFailure } from './failures.ts';
import type { InFlightActivities } from './in-flight-activities.ts';
import type { Run } from './run.ts';
import { describeRun, type ShownDetails } from './run-details.ts';

// The signal by which `credit-journey resume` wakes the runs that a pause keeps waiting.

export const inquiriesResumed = defineSignal('inquiriesResumed');

/** Any sender may send it at any time: the claim decides whether the pause is over. Arguments are ignored. */
function handleResumption(inFlight: InFlightActivities): void {
  setHandler(
    inquiriesResumed,
    () => {
      inFlight.resumptions++;
    },
    { description: 'Wakes what waits for the end of a pause; `credit-journey resume` sends it. No input.' },
  );
}

/** Lists members that differ from another input, for callers whose codec server masks the run's own input. */
export const inputDifferences = defineQuery<string[], [unknown]>('inputDifferences');

/** Names only members of the input, so that no caller can find out a personal value by trying. */
function handleInputDifferences(input: object): void {
  const compare = (other: unknown) =>
    findDifferingPaths(input, other).map((path) => path.split('/').slice(0, 2).join('/'));
  setHandler(inputDifferences, (other) => [...new Set(compare(other))], {
    description: 'Which members of the run’s input differ from the input that is given.',
  });
}

type AnyRun = Run<object, RunConfig, string, object>;
type Prepared<R extends AnyRun> = NonNullable<R['config']>;
type Outcome<R extends AnyRun> = NonNullable<R['outcome']>;

/** The parts of a run that differ by its kind. */
export interface RunDefinition<R extends AnyRun, CarriedState extends { config?: Prepared<R> }> {
  State: new (input: R['input'], carried?: CarriedState) => R;
  handleMessages(run: R): void;
  /** Returns the details that the Temporal UI shows beside the status, once the input was accepted. */
  details(run: R): ShownDetails;
  /** Asks an activity to check the input. */
  prepare(run: R): Promise<Prepared<R>>;
  /** Called once the input was accepted; not again in the next run. */
  onPrepared?(run: R, prepared: Prepared<R>): void;
  /** Runs from the input to an outcome. Then no request is in flight, and every handler has answered. */
  work(run: R, prepared: Prepared<R>): Promise<Outcome<R>>;
  /** Called after an operator's reset: the run has lost the messages that it received after the reset point. */
  onReset?(run: R): void;
  /** Waits for further messages that were accepted and must not be lost, however the run ends. */
  drainMessages?(run: R): Promise<void>;
}

/**
 * @param carried state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function runWorkflow<R extends AnyRun, CarriedState extends { config?: Prepared<R> }>(
  definition: RunDefinition<R, CarriedState>,
  input: R['input'],
  carried: CarriedState | undefined,
): Promise<Awaited<ReturnType<R['result']>>> {
  refuseForeignState(carried);
  const run = new definition.State(input, carried);
  onReset(() => {
    run.holds.onReset();
    definition.onReset?.(run);
  });
  if (carried?.config) run.begin(carried.config);
  handleResumption(run.inFlight);
  handleInputDifferences(run.input);
  definition.handleMessages(run);
  showDetails(() => describeRun(run, () => definition.details(run)));
  return run.continuation.run(() => runToEnd(definition, run), {
    state: () => run.toState(),
    continueWith: (state) => continueAsNew<(input: R['input'], carried: object) => Promise<never>>(input, state),
  });
}

async function runToEnd<R extends AnyRun, CarriedState extends { config?: Prepared<R> }>(
  definition: RunDefinition<R, CarriedState>,
  run: R,
): Promise<Awaited<ReturnType<R['result']>>> {
  const drainMessages = async () => {
    await waitUntilUpdatesTaken();
    await run.decided.waitUntilSettled(run);
    await definition.drainMessages?.(run);
    await waitUntilAnswered();
  };
  try {
    const outcome = await definition.work(run, run.config ?? (await prepare(definition, run)));
    run.emitEnded(outcome);
    // Waits until Temporal has the event, never for an endpoint.
    if (!run.events.areOut) await run.events.flush();
    await drainMessages();
    await run.work.finish();
    return run.result(outcome) as Awaited<ReturnType<R['result']>>;
  } catch (error) {
    run.endedAs = toTerminalState(error);
    run.inputProblems = readInputProblems(error);
    if (run.endedAs) {
      await drainMessages();
      run.emitEnded(run.endedAs);
      if (!run.events.areOut) await run.events.flush();
      // Messages after this event do not change the end that it names.
      await drainMessages();
      await run.work.finish();
    }
    throw error;
  }
}

/** The maximum time for a handler to answer. A stuck handler does not keep the run from ending. */
const LAST_ANSWERS_MS = 10_000;

/** Waits for the last answers: without one, Temporal only reports to the sender that the run has ended. */
async function waitUntilAnswered(): Promise<void> {
  if (areMessagesAnswered()) return;
  const summary = 'answering the last messages';
  await CancellationScope.nonCancellable(() => condition(areMessagesAnswered, LAST_ANSWERS_MS, { summary }));
}

async function prepare<R extends AnyRun, CarriedState extends { config?: Prepared<R> }>(
  definition: RunDefinition<R, CarriedState>,
  run: R,
): Promise<Prepared<R>> {
  const prepared = await run.continuation.waitFor(prepareRun(run, () => definition.prepare(run)));
  run.begin(prepared);
  definition.onPrepared?.(run, prepared);
  return prepared;
}

/**
 * Returns the terminal state, which queries of a closed run must show. `undefined` if the error parks the run for a
 * fix, or hands it over to the next one.
 */
function toTerminalState(error: unknown): TerminalState | undefined {
  if (isCancellation(error)) return 'cancelled';
  return error instanceof TemporalFailure ? 'failed' : undefined;
}

/** A deploy gives a new profile to one worker after the other. For 31 s the check may reach one that has it. */
const WAITS_FOR_A_PROFILE = ['1 second', '2 seconds', '4 seconds', '8 seconds', '16 seconds'] as const;

/**
 * Asks `prepare` once the input could be decoded. A profile that the first worker lacks is in the status at once; other
 * workers are asked before the run fails.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function prepareRun<T>(
  run: Pick<Run<object, never, string, object>, 'input' | 'inputProblems'>,
  prepare: () => Promise<T>,
): Promise<T> {
  if (isUndecodable(run.input)) throw toUndecodableFailure(run.input);
  const waits = WAITS_FOR_A_PROFILE.values();
  for (let round = 0; ; round++) {
    try {
      const prepared = await prepare();
      run.inputProblems = undefined;
      return prepared;
    } catch (error) {
      const wait = isOfOneWorker(error) ? waits.next().value : undefined;
      if (wait !== undefined) {
        run.inputProblems = readInputProblems(error);
        await sleep(wait, { summary: 'no worker that was asked has the gateway profile: another one is asked' });
      } else if (hasRunOut(error)) await waitToTryAgain('the check of the input', round);
      else throw unwrapRefusal(error);
    }
  }
}

/** Whether the worker that checked the input lacks its profile, so that another one may have it. */
function isOfOneWorker(error: unknown): boolean {
  return (findApplicationFailure(error)?.details?.[0] as Partial<RefusedInput> | undefined)?.askOthers === true;
}

/** Makes the run fail with the problems, and not with an activity's failure around them. */
function unwrapRefusal(error: unknown): unknown {
  const failure = findApplicationFailure(error);
  if (failure?.type !== 'InvalidInput') return error;
  const { message, type } = failure;
  const details = [{ problems: readInputProblems(error) ?? [] }];
  return ApplicationFailure.create({ message, type, nonRetryable: true, details });
}
