/** A run of any kind, from its input to its end. */
import {
  allHandlersFinished,
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
import type { RefusedInput } from '../../activities/contract.ts';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import type { TerminalState } from '../../messages/journey/shapes.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { repeatUntilDone, runUntilRecorded } from './activity-stubs.ts';
import { showDetails } from './around-the-sdk.ts';
import { areMessagesAnswered, listen, waitUntilUpdatesTaken } from './as-replayed.ts';
import { refuseForeignState } from './continuation.ts';
import { createInvalidInput, findApplicationFailure, readInputProblems, toUndecodableFailure } from './failures.ts';
import { answerUnderway, handleUnknownSignals, handleUpdate } from './message-answers.ts';
import type { AnyRun } from './run.ts';
import { findTakenDecision, type RunDecisionEffect } from './run-decisions.ts';
import { describeRun } from './run-details.ts';

// The signal by which `credit-journey resume` wakes the runs that a pause keeps waiting.

export const inquiriesResumed = defineSignal('inquiriesResumed');

/** Lists members that differ from another input, for callers whose codec server masks the run's own input. */
export const inputDifferences = defineQuery<string[], [unknown]>('inputDifferences');

function handleQueries(run: AnyRun): void {
  const { status, references }: { status: string; references?: string } = QUERIES[run.kind];
  setHandler(defineQuery('status'), () => run.status(), { description: status });
  if (references) setHandler(defineQuery('references'), () => run.references?.(), { description: references });
  // Names only members of the input, so that no caller can find out a personal value by trying.
  const compare = (other: unknown) =>
    findDifferingPaths(run.input, other).map((path) => path.split('/').slice(0, 2).join('/'));
  const description = 'Which members of the run’s input differ from the input that is given.';
  setHandler(inputDifferences, (other) => [...new Set(compare(other))], { description });
}

type Outcome<R extends AnyRun> = NonNullable<R['outcome']>;

// Messages to every run that makes inquiries: a person's decision about a hold, and a withdrawal.

/** A withdrawal takes effect at once, and the update answers once the ledger has it. */
export function handleWithdrawals(run: AnyRun): void {
  const check = ({ by, reason }: RunWithdrawal): MessageRefusal | null => {
    const { withdrawal } = run.state;
    if (!withdrawal) return run.isEnding ? refuse('ending', `the ${run.kind} is ending already`) : null;
    return refuseDifference('withdraw was accepted', withdrawal, { by, reason });
  };
  handleUpdate(run, 'withdraw', {
    check,
    answer: async (message) => {
      const duplicate = !run.withdraw(message);
      // A withdrawal is one row, however often it is written.
      return { ...(await run.decided.answer(findTakenDecision('withdraw', run.runKey, message))), duplicate };
    },
    ask: (message) => {
      if (run.withdraw(message)) run.decided.note(findTakenDecision('withdraw', run.runKey, message));
    },
  });
}

/**
 * The activity that records a decision also judges it: its proof, and the applicants of an amendment. If the ledger
 * refuses it, so does the run, and the hold stays and shows that.
 */
function handleDecisions(run: AnyRun): void {
  const { holds } = run;
  handleUpdate(run, 'resolveInquiry', {
    check: (message) => holds.findProblem(message, run.isEnding),
    answer: (message) => {
      const { taken, isDuplicate } = holds.take(message);
      return answerUnderway(run, taken, isDuplicate);
    },
  });
}

/** The parts of a run that differ by its kind. */
export interface RunDefinition<R extends AnyRun> {
  State: new (input: R['input'], state?: R['state']) => R;
  handleMessages(run: R): void;
  /** Asks an activity to check the input. */
  prepare(run: R): Promise<R['accepted']>;
  /** Runs from the input to an outcome. Then no request is in flight, every handler has answered, and the task is at rest. */
  work(run: R): Promise<Outcome<R>>;
  /** Takes the effect of a decision that the ledger has by now. Returns why the run no longer can, or `null`. */
  takeEffect?(run: R, effect: RunDecisionEffect): MessageRefusal | null;
  /** Waits for further messages that were accepted and must not be lost, however the run ends. */
  drainMessages?(run: R): Promise<void>;
}

/**
 * @param state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function runWorkflow<R extends AnyRun>(
  definition: RunDefinition<R>,
  input: R['input'],
  state: R['state'] | undefined,
): Promise<Awaited<ReturnType<R['result']>>> {
  refuseForeignState(state);
  const run = new definition.State(input, state);
  listen({ onReset: () => run.onReset() });
  if (run.config) run.begin(run.config);
  // Any sender may send it at any time: the claim decides whether the pause is over. Arguments are ignored.
  const resume = () => void run.inFlight.resumptions++;
  const description = 'Wakes what waits for the end of a pause; `credit-journey resume` sends it. No input.';
  setHandler(inquiriesResumed, resume, { description });
  definition.handleMessages(run);
  handleDecisions(run);
  handleQueries(run);
  handleUnknownSignals(run);
  run.decided.takeEffect = (effect) => definition.takeEffect?.(run, effect) ?? null;
  showDetails(() => describeRun(run));
  return run.continuation.run(() => runToEnd(definition, run), {
    state: () => run.toState(),
    continueWith: (next) => continueAsNew<(input: R['input'], state: object) => Promise<never>>(input, next),
  });
}

async function runToEnd<R extends AnyRun>(
  definition: RunDefinition<R>,
  run: R,
): Promise<Awaited<ReturnType<R['result']>>> {
  // Without an answer, Temporal only reports to the sender that the run has ended.
  const summary = 'answering the last messages';
  const waitForAnswers = () => condition(allHandlersFinished, LAST_ANSWERS_MS, { summary });
  const drainMessages = async () => {
    for (;;) {
      await run.decided.waitUntilSettled();
      await definition.drainMessages?.(run);
      const wasIdle = run.isIdle;
      await waitUntilUpdatesTaken();
      const hasNews = wasIdle && !run.isIdle;
      if (!hasNews && areMessagesAnswered()) return;
      // Even a timer that ends in its own task has a number, so whether there is one may depend on no refused update.
      if (!allHandlersFinished() && !(await CancellationScope.nonCancellable(waitForAnswers))) return;
    }
  };
  const finish = async (outcome: Outcome<R> | TerminalState) => {
    run.emitEnded(outcome);
    for (let isFirst = true; isFirst || !run.events.areOut; isFirst = false) {
      // Waits until Temporal has the events, never for an endpoint.
      if (!run.events.areOut) {
        await CancellationScope.nonCancellable(() => condition(() => run.events.areOut));
        await waitUntilUpdatesTaken();
      }
      // Messages after the event of the end do not change what it names. They may cause further events.
      if (!run.isIdle || !areMessagesAnswered()) await drainMessages();
      if (!isFirst || !run.state.mayLeaveRows) continue;
      await closeRows(run);
      await drainMessages();
    }
  };
  try {
    if (!run.config) run.begin(await run.continuation.waitFor(prepareRun(run, () => definition.prepare(run))));
    const outcome = await definition.work(run);
    await finish(outcome);
    return run.result(outcome) as Awaited<ReturnType<R['result']>>;
  } catch (error) {
    // Queries of a closed run must show it. Any other error parks the run for a fix, or makes it continue as new.
    if (error instanceof TemporalFailure) run.endedAs = isCancellation(error) ? 'cancelled' : 'failed';
    run.inputProblems = readInputProblems(error);
    if (run.endedAs) {
      run.inFlight.recheck();
      await waitUntilUpdatesTaken();
      await drainMessages();
      await finish(run.endedAs);
    }
    throw error;
  }
}

/** Closes the rows of operator work that an ending run leaves open. No cancellation stops the write. */
async function closeRows({ config, runKey }: AnyRun): Promise<void> {
  if (!config) return;
  const args = { ledgerId: config.ledgerId, runKey, until: new Date().toISOString() };
  const summary = 'closing the rows that the run leaves';
  await CancellationScope.nonCancellable(() => runUntilRecorded('closeWork', { summary }, args));
}

/** The maximum time for a handler to answer. A stuck handler does not keep the run from ending. */
const LAST_ANSWERS_MS = 10_000;

/** A deploy gives a new profile to one worker after the other. For 31 s the check may reach one that has it. */
const WAITS_FOR_A_PROFILE = ['1 second', '2 seconds', '4 seconds', '8 seconds', '16 seconds'] as const;

/**
 * Asks `prepare` once the input could be decoded. A profile that the first worker lacks is in the status at once; other
 * workers are asked before the run fails.
 *
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted
 */
export async function prepareRun<T>(run: Pick<AnyRun, 'input' | 'inputProblems'>, prepare: () => Promise<T>) {
  if (isUndecodable(run.input)) throw toUndecodableFailure(run.input);
  const waits = WAITS_FOR_A_PROFILE.values();
  for (;;) {
    try {
      const prepared = await repeatUntilDone('the check of the input', prepare);
      run.inputProblems = undefined;
      return prepared;
    } catch (error) {
      const { message = '', details } = findApplicationFailure(error) ?? {};
      const problems = readInputProblems(error);
      run.inputProblems = problems;
      const { askOthers } = (details?.[0] ?? {}) as Partial<RefusedInput>;
      const wait = askOthers ? waits.next().value : undefined;
      // The run fails with the problems, and not with an activity's failure around them.
      if (wait === undefined) throw problems ? createInvalidInput(message, problems) : error;
      await sleep(wait, { summary: 'no worker that was asked has the gateway profile: another one is asked' });
    }
  }
}
