import { workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { JourneyOutcome, JourneyResult, LendingJourneyInput } from '../../messages/journey/shapes.ts';
import { settleEarlyGrants } from '../consent/consent-handlers.ts';
import { closeDown, recordWhatCameLast } from '../consent/consent-recording.ts';
import { isOpen } from '../consent/share-record.ts';
import { journeyActivities } from '../run/activity-stubs.ts';
import { carryRun, type RunDefinition } from '../run/carry-run.ts';
import { settleAllWithdrawals } from '../share/share-withdrawal.ts';
import { compareAgain } from './comparisons.ts';
import { hearEarlierConsents } from './earlier-consents.ts';
import { failureOf, untilEnded } from './ends-of-parts.ts';
import { Journey, type JourneyResumption } from './journey.ts';
import { handleMessages } from './journey-handlers.ts';
import { journeyDetails } from './journey-view.ts';
import { planStages } from './planned-numbers.ts';
import { openUntilWith, repeatByDate } from './preclose-by-date.ts';
import { listConsentWaits, runShare } from './shares.ts';
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
  prepare: prepareJourney,
  onPrepared: settleEarlyGrants,
  work: runToTheEnd,
  recordWhatCameLast: async (journey) => {
    await journey.decided.untilSettled(journey);
    await settleAllWithdrawals(journey);
    await recordWhatCameLast(journey);
  },
  handedOver: (journey) => journey.handedOver(),
};

async function prepareJourney(journey: Journey): Promise<PreparedRun> {
  const args = { input: journey.input, firstRunId: workflowInfo().firstExecutionRunId };
  const { prepareJourney: prepare } = journeyActivities;
  const { heard, closing, ...run } = await prepare.executeWithOptions({ summary: 'checking the input' }, [args]);
  journey.heardAtStart = heard;
  if (closing) journey.closing.begin(closing);
  return run;
}

async function runToTheEnd(journey: Journey, run: PreparedRun): Promise<JourneyOutcome> {
  const { handOver } = journey;
  planStages(journey, run);
  compareAgain(journey, run);
  hearEarlierConsents(journey, run);
  const parts = [handOver.part(() => runStages(journey, run)), handOver.part(() => runShares(journey, run))] as const;
  const byDate = journey.input.preclose ? [repeatByDate(journey)] : [];
  const beside = [...byDate, listConsentWaits(journey, run)];
  await handOver.rest(untilEnded(parts, beside));
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

/** Runs every share as it becomes known, until the stages and all of them have settled and none may follow. */
async function runShares(journey: Journey, run: PreparedRun): Promise<void> {
  const { handOver } = journey;
  const tasks: Promise<void>[] = [];
  const started = new Set<string>();
  const { sharesOpenFor = '', repeatsOpenFor = '' } = journey.input;
  const openForMs = Math.max(parseDurationMs(sharesOpenFor) ?? 0, parseDurationMs(repeatsOpenFor) ?? 0);
  let openUntilMs = parseInstantMs(journey.openUntil ?? '') ?? undefined;
  let pulls = journey.stages.length;
  try {
    const mayBegin = () => journey.hasHeard || journey.isEnding;
    if (!mayBegin()) await handOver.wait(mayBegin);
    for (;;) {
      for (const share of journey.shares.values()) {
        if (started.has(share.input.shareId)) continue;
        started.add(share.input.shareId);
        // A run before may have settled it.
        if (isOpen(share)) tasks.push(handOver.part(() => runShare(journey, run, share)));
      }
      const isChecking = () => journey.checksOfMessages > 0 || journey.decided.isBusy;
      const isSettled = () => journey.stagesAreSettled && journey.sharesAreSettled && !isChecking();
      const hasNews = () => journey.shares.size > started.size;
      const change = handOver.wait(() => hasNews() || isSettled());
      await (tasks.length > 0 ? Promise.race([change, failureOf(tasks)]) : change);
      if (hasNews()) continue;
      if (journey.stages.length > pulls) openUntilMs = undefined;
      pulls = journey.stages.length;
      openUntilMs ??= Date.now() + openForMs;
      const openUntil = new Date(openUntilMs).toISOString();
      const leftMs = (parseInstantMs(openUntilWith(journey, openUntil)) ?? 0) - Date.now();
      const { placed } = journey.closing;
      const isMoved = () => journey.closing.placed !== placed;
      const isOver = () => journey.isEnding || hasNews() || !journey.stagesAreSettled || isMoved();
      if (journey.isEnding || leftMs <= 0) break;
      journey.openUntil = openUntil;
      journey.publish(journey.stageBegunLast);
      const isTold = await handOver.wait(isOver, leftMs, { summary: 'open for further shares and repeats' });
      if (!isTold && !isChecking()) break;
      if (!journey.stagesAreSettled) journey.openUntil = undefined;
    }
    journey.isClosing = true;
  } finally {
    if (tasks.length > 0) await handOver.rest(Promise.allSettled(tasks));
  }
}
