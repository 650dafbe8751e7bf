import { isCancellation } from '@temporalio/workflow';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { JourneyOutcome, JourneyResult } from '../../messages/journey/shapes.ts';
import { changeShare, isOpen, type ShareRecord } from '../consent/share-record.ts';
import { drainShares, executeShare } from '../machine/share-posting.ts';
import { runActivities } from '../run/activity-stubs.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';
import { Journey, type JourneyRunState } from './journey.ts';
import { handleMessages, takeDecided } from './journey-handlers.ts';
import { mustRunStages, runStages } from './stages.ts';

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

const DEFINITION: RunDefinition<Journey> = {
  State: Journey,
  handleMessages,
  prepare: ({ input }) =>
    runActivities.prepareJourney.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
  takeEffect: takeDecided,
  work: runToTheEnd,
  drainMessages: drainShares,
};

async function runToTheEnd(journey: Journey): Promise<JourneyOutcome> {
  const { state } = journey;
  await runParts(journey);
  await journey.waitUntilMessagesSettled();
  // A withdrawal may have come until now.
  const outcome = state.withdrawal ? 'withdrawn' : (state.stagesEndedAs ?? 'completed');
  journey.end(outcome);
  return outcome;
}

/** Carries the stages, and every share as it becomes known, to their end, until all have settled and none may follow. */
async function runParts(journey: Journey): Promise<void> {
  const { continuation, state } = journey;
  const tasks: Promise<void>[] = [];
  const failed = Promise.withResolvers<never>();
  const begin = (work: () => Promise<void>) => {
    const task = continuation.part(work);
    task.catch((error: unknown) => isCancellation(error) || failed.reject(error));
    tasks.push(task);
  };
  const started = new Set<string>();
  const { sharesOpenFor = '', repeatsOpenFor = '' } = journey.input;
  const openForMs = Math.max(parseDurationMs(sharesOpenFor) ?? 0, parseDurationMs(repeatsOpenFor) ?? 0);
  let openUntilMs = parseInstantMs(state.openUntil ?? '') ?? undefined;
  let pulls = journey.stages.length;
  const isChecking = () => journey.checksOfMessages > 0 || journey.decided.isBusy;
  const isSettled = () => journey.stagesAreSettled && journey.sharesAreSettled && !isChecking();
  const hasNews = () => mustRunStages(journey) || journey.shares.size > started.size;
  try {
    for (;;) {
      if (mustRunStages(journey)) begin(() => runStages(journey));
      for (const share of state.shares) {
        const { shareId } = share.input;
        if (started.has(shareId)) continue;
        started.add(shareId);
        // An earlier run may have settled it.
        if (isOpen(share)) begin(() => runShare(journey, share));
      }
      await Promise.race([continuation.wait(() => hasNews() || isSettled()), failed.promise]);
      if (hasNews()) continue;
      if (journey.stages.length > pulls) openUntilMs = undefined;
      pulls = journey.stages.length;
      openUntilMs ??= Date.now() + openForMs;
      const leftMs = openUntilMs - Date.now();
      if (journey.isEnding || leftMs <= 0) break;
      state.openUntil = new Date(openUntilMs).toISOString();
      journey.publish();
      const isOver = () => journey.isEnding || hasNews();
      const isTold = await continuation.wait(isOver, leftMs, { summary: 'open for further shares and repeats' });
      if (!isTold && !isChecking()) break;
      if (!journey.stagesAreSettled) delete state.openUntil;
    }
  } catch (error) {
    // A cancellation is passed on only when the attempts in flight have landed. After a failure, the run waits for none.
    if (isCancellation(error)) await continuation.waitFor(Promise.allSettled(tasks));
    throw error;
  }
  state.isClosing = true;
  await Promise.all(tasks);
}

async function runShare(journey: Journey, share: ShareRecord): Promise<void> {
  const outcome = await executeShare(journey, share);
  changeShare(share, outcome);
  const { shareId } = share.input;
  const { customerTraceNumber } = share;
  journey.events.emit('share.ended', [shareId, outcome], { shareId, outcome, customerTraceNumber });
}
