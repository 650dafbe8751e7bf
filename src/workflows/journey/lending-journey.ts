import { isCancellation, workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { JourneyOutcome, JourneyResult } from '../../messages/journey/shapes.ts';
import { toSecondaryUser } from '../../model/stage-end-user.ts';
import { deriveTraceNumber } from '../../model/trace-number.ts';
import { drainConsents } from '../consent/consents.ts';
import { changeShare, isOpen, type ShareRecord } from '../consent/share-record.ts';
import { drainShares, executeShare } from '../machine/share-posting.ts';
import { runActivities } from '../run/activity-stubs.ts';
import type { ShownDetails } from '../run/run-details.ts';
import { type RunDefinition, runWorkflow } from '../run/run-workflow.ts';
import { Journey, type JourneyRunState } from './journey.ts';
import { handleMessages } from './journey-handlers.ts';
import { runStages } from './stages.ts';

function writeJourneyDetails(journey: Journey): ShownDetails {
  const { gate, openUntil, shares } = journey.state;
  return {
    endUserCode: journey.input.endUserCode,
    stages: journey.stages.map(({ status, since }) => ({ ...status, since })),
    shares: journey.status().shares.map((share, index) => {
      const { input = {}, since } = shares[index] ?? {};
      return { ...share, sharedWith: toSecondaryUser(input), since };
    }),
    gate,
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

const DEFINITION: RunDefinition<Journey> = {
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
  const { standings, ...config } = await runActivities.prepareJourney.executeWithOptions(
    { summary: 'checking the input' },
    [args],
  );
  journey.consents.updateStandings(standings);
  return config;
}

async function runToTheEnd(journey: Journey): Promise<JourneyOutcome> {
  const { continuation } = journey;
  planInquiries(journey);
  const parts = [continuation.part(() => runStages(journey)), continuation.part(() => runShares(journey))] as const;
  // A cancellation is passed on only when the attempts in flight on both sides have landed.
  await continuation.waitFor(Promise.race([Promise.allSettled(parts), waitForFailure(parts)]));
  const ofStages = await parts[0];
  await parts[1];
  const outcome = journey.state.withdrawal ? 'withdrawn' : ofStages;
  // The step is idempotent, and the next run repeats it.
  await continuation.waitFor(drainConsents(journey));
  journey.end(outcome);
  return outcome;
}

/** Settles only by failing: if a part has failed, the run does not wait for the others. */
function waitForFailure(parts: readonly Promise<unknown>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const part of parts) part.catch((error: unknown) => isCancellation(error) || reject(error));
  });
}

async function runShare(journey: Journey, share: ShareRecord): Promise<void> {
  const outcome = await executeShare(journey, share);
  changeShare(share, outcome);
  const { shareId } = share.input;
  const { customerTraceNumber } = share;
  journey.events.emit('share.ended', [shareId, outcome], { shareId, outcome, customerTraceNumber });
}

/** Carries every share to its end as it becomes known, until the stages and all of them have settled and none may follow. */
async function runShares(journey: Journey): Promise<void> {
  const { continuation, state } = journey;
  const tasks: Promise<void>[] = [];
  const started = new Set<string>();
  const { sharesOpenFor = '', repeatsOpenFor = '' } = journey.input;
  const openForMs = Math.max(parseDurationMs(sharesOpenFor) ?? 0, parseDurationMs(repeatsOpenFor) ?? 0);
  let openUntilMs = parseInstantMs(state.openUntil ?? '') ?? undefined;
  let pulls = journey.stages.length;
  try {
    for (;;) {
      planInquiries(journey);
      for (const share of state.shares) {
        const { shareId } = share.input;
        if (started.has(shareId)) continue;
        started.add(shareId);
        // An earlier run may have settled it.
        if (isOpen(share)) tasks.push(continuation.part(() => runShare(journey, share)));
      }
      const isChecking = () => journey.checksOfMessages > 0 || journey.decided.isBusy;
      const isSettled = () => journey.stagesAreSettled && journey.sharesAreSettled && !isChecking();
      const hasNews = () => journey.shares.size > started.size;
      const change = continuation.wait(() => hasNews() || isSettled());
      await (tasks.length > 0 ? Promise.race([change, waitForFailure(tasks)]) : change);
      if (hasNews()) continue;
      if (journey.stages.length > pulls) openUntilMs = undefined;
      pulls = journey.stages.length;
      openUntilMs ??= Date.now() + openForMs;
      const leftMs = openUntilMs - Date.now();
      const isOver = () => journey.isEnding || hasNews() || !journey.stagesAreSettled;
      if (journey.isEnding || leftMs <= 0) break;
      state.openUntil = new Date(openUntilMs).toISOString();
      journey.publish();
      const isTold = await continuation.wait(isOver, leftMs, { summary: 'open for further shares and repeats' });
      if (!isTold && !isChecking()) break;
      if (!journey.stagesAreSettled) delete state.openUntil;
    }
    state.isClosing = true;
  } finally {
    if (tasks.length > 0) await continuation.waitFor(Promise.allSettled(tasks));
  }
}

// The trace numbers that a journey's inquiries will have: they are found by them before anything was sent.

/** Plans the trace numbers of pending stages and of shares. A repeat's follows from the pulls before it, so it has none yet. */
function planInquiries({ stages, state: { shares }, runKey, accepted }: Journey): void {
  const run = { ...accepted, workflowType: workflowInfo().workflowType, runKey, ordinal: 0 };
  for (const stage of stages) {
    const { productCode, state } = stage.status;
    if (stage.ordinal !== undefined || stage.repeat || state === 'skipped') continue;
    stage.plannedTraceNumber ??= deriveTraceNumber({ ...run, productCode });
  }
  for (const share of shares) {
    const { shareId } = share.input;
    share.plannedTraceNumber ??= deriveTraceNumber({ ...run, productCode: 'SECONDUSE', shareId });
  }
}
