/** What becomes of a journey's shares: which report each is of, and when it is carried to its end. */
import { condition } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import type { WebhookEventData } from '../../messages/webhooks/events.ts';
import { changeShare, isOpen, type ShareRecord, traceNumberOf } from '../consent/share-record.ts';
import { passingIn } from '../inquiry/listed-wait.ts';
import { SharePosting, type SharePostingHost } from '../share/share-posting.ts';
import { settleWithdrawal } from '../share/share-withdrawal.ts';
import { failureOf } from './ends-of-parts.ts';
import type { Journey } from './journey.ts';
import { planShares } from './planned-numbers.ts';
import { takeShare } from './share-requests.ts';

/**
 * Shows in the search attributes that only consents to shares are missing. All shares that wait at once cost one
 * upsert. A posting takes seconds and is not shown.
 */
export async function listConsentWaits(journey: Journey, run: PreparedRun): Promise<void> {
  const isListed = () => journey.listed.JourneyStage === 'awaitingConsent';
  // A run before may have shown it.
  for (let isShown = isListed(); ; isShown = false) {
    if (!isShown) await condition(() => journey.stagesAreSettled && journey.sharesInWait.length > 0);
    planShares(journey, run);
    if (!isShown) journey.publish('awaitingConsent');
    const wasListed = isListed();
    // A hold has taken it back.
    const isOver = () => wasListed && !isListed();
    await condition(() => isOver() || (journey.openUntil !== undefined && journey.sharesAreSettled));
    if (!isOver()) journey.publish(journey.stageBegunLast);
  }
}

/** Carries one share to its end: its report, the consent of each applicant, one posting. */
export async function runShare(journey: Journey, run: PreparedRun, share: ShareRecord): Promise<void> {
  for (;;) {
    await journey.handOver.wait(
      () => share.withdrawal !== undefined || journey.isEnding || journey.reportOf(share) !== 'notYet',
    );
    if (share.withdrawal && !share.inquiry) {
      if (await settleWithdrawal(journey, share, (replacement) => takeShare(journey, replacement))) {
        return endShare(journey, share, 'withdrawn');
      }
      continue;
    }
    const report = journey.reportOf(share);
    if (report === 'notYet') return endShare(journey, share, 'abandoned');
    if (report === null) return endShare(journey, share, journey.isEnding ? 'abandoned' : 'nothingToShare');
    journey.endGrantsOfOthers(share, report);
    const end = await new SharePosting(journey, termsOf(journey, run, share, report)).toItsEnd();
    if (end !== 'otherReport') return endShare(journey, share, end === 'stopped' ? 'abandoned' : end);
    delete share.until;
  }
}

function endShare(
  journey: Journey,
  share: ShareRecord,
  outcome: WebhookEventData['share.ended']['outcome'] & ShareState,
): void {
  changeShare(share, outcome);
  const { shareId } = share.input;
  const { replacedBy } = share.withdrawn ?? {};
  const ended = { shareId, outcome, ...traceNumberOf(share), ...(replacedBy === undefined ? {} : { replacedBy }) };
  journey.events.emit('share.ended', [shareId, outcome], ended);
}

function termsOf(
  journey: Journey,
  run: PreparedRun,
  share: ShareRecord,
  report: SharePostingHost['report'],
): SharePostingHost {
  return {
    ...{ share, report, called: `${share.input.shareId} ` },
    permissiblePurposeCode: journey.input.permissiblePurposeCodes.SECONDUSE,
    inquiry: {
      run,
      inFlight: journey.inFlight,
      holds: journey.holds,
      waits: journey.waits,
      isEnding: () => journey.isEnding,
      onWithdrawn: (withdrawal) => journey.learnWithdrawal({ journeyId: journey.journeyId, ...withdrawal }),
      handOver: journey.handOver,
      onProgress: (progress) => {
        journey.waits.tell(progress.customerTraceNumber, progress.waitingFor);
        journey.publish(undefined, passingIn(run, progress));
      },
    },
    takeReplacement: (replacement) => takeShare(journey, replacement),
    isOtherReport: () => journey.reportOf(share) !== report,
  };
}

/** Runs every share as it becomes known, until the stages and all of them have settled and none may follow. */
export async function runShares(journey: Journey, run: PreparedRun): Promise<void> {
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
      const leftMs = openUntilMs - Date.now();
      const isOver = () => journey.isEnding || hasNews() || !journey.stagesAreSettled;
      if (journey.isEnding || leftMs <= 0) break;
      journey.openUntil = new Date(openUntilMs).toISOString();
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
