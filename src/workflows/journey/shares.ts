/** Carries a journey's shares to their ends. */
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { deriveTraceNumber } from '../../model/trace-number.ts';
import { changeShare, isOpen, type ShareRecord } from '../consent/share-record.ts';
import { executeShare } from '../machine/share-posting.ts';
import type { Journey } from './journey.ts';

async function runShare(journey: Journey, config: RunConfig, share: ShareRecord): Promise<void> {
  const outcome = await executeShare(journey, config, share);
  changeShare(share, outcome);
  const { shareId } = share.input;
  const { customerTraceNumber } = share;
  journey.events.emit('share.ended', [shareId, outcome], { shareId, outcome, customerTraceNumber });
}

/** Runs every share as it becomes known, until the stages and all of them have settled and none may follow. */
export async function runShares(journey: Journey, config: RunConfig): Promise<void> {
  const { continuation } = journey;
  const tasks: Promise<void>[] = [];
  const started = new Set<string>();
  const { sharesOpenFor = '', repeatsOpenFor = '' } = journey.input;
  const openForMs = Math.max(parseDurationMs(sharesOpenFor) ?? 0, parseDurationMs(repeatsOpenFor) ?? 0);
  let openUntilMs = parseInstantMs(journey.openUntil ?? '') ?? undefined;
  let pulls = journey.stages.length;
  try {
    for (;;) {
      for (const share of journey.shares.values()) {
        const { shareId } = share.input;
        if (started.has(shareId)) continue;
        started.add(shareId);
        planShare(journey, config, share);
        // An earlier run may have settled it.
        if (isOpen(share)) tasks.push(continuation.part(() => runShare(journey, config, share)));
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
      journey.openUntil = new Date(openUntilMs).toISOString();
      journey.publish();
      const isTold = await continuation.wait(isOver, leftMs, { summary: 'open for further shares and repeats' });
      if (!isTold && !isChecking()) break;
      if (!journey.stagesAreSettled) journey.openUntil = undefined;
    }
    journey.isClosing = true;
  } finally {
    if (tasks.length > 0) await continuation.waitFor(Promise.allSettled(tasks));
  }
}

// The trace numbers that a journey's inquiries will have: they are found by them before anything was sent.

/** Plans the trace numbers of pending stages and of shares. A repeat's follows from the pulls before it, so it has none yet. */
export function planInquiries(journey: Journey, config: RunConfig): void {
  for (const stage of journey.stages) {
    if (stage.ordinal !== undefined || stage.repeat || stage.status.state === 'skipped') continue;
    stage.plannedTraceNumber ??= computeTraceNumber(journey, config, { productCode: stage.status.productCode });
  }
  for (const share of journey.shares.values()) planShare(journey, config, share);
}

function planShare(journey: Journey, config: RunConfig, share: ShareRecord): void {
  const { shareId } = share.input;
  share.plannedTraceNumber ??= computeTraceNumber(journey, config, { productCode: 'SECONDUSE', shareId });
}

function computeTraceNumber(
  { journeyId }: Journey,
  config: RunConfig,
  inquiry: Pick<Parameters<typeof deriveTraceNumber>[0], 'productCode' | 'shareId'>,
): string {
  const { workflowType } = workflowInfo();
  return deriveTraceNumber({ ...config, workflowType, runKey: journeyId, ...inquiry, ordinal: 0 });
}

// The parts of a journey end beside one another. Each of these adds no more promises than it must.

/**
 * Resolves when all parts have ended. A cancellation is passed on only when the attempts in flight on both sides have
 * landed. Fails at once by a bug.
 */
export function waitUntilEnded(parts: readonly Promise<unknown>[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = parts.length;
    const countEnd = () => {
      left--;
      if (left === 0) resolve();
    };
    for (const part of parts) {
      part.then(countEnd, (error: unknown) => {
        if (!isCancellation(error)) reject(error);
        countEnd();
      });
    }
  });
}

/** Settles only by failing: if a share's task has failed, its supervisor fails too instead of waiting for it. */
function waitForFailure(tasks: readonly Promise<void>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const task of tasks) task.catch(reject);
  });
}
