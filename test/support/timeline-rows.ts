import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

/** Reads the summaries of a run's open timers, oldest first, as the UI's timeline shows them. */
export async function waitingRows(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const rows = new Map<string, string>();
  for (const event of (await handle.fetchHistory()).events ?? []) {
    const { timerStartedEventAttributes: started, userMetadata } = event;
    const over = event.timerCanceledEventAttributes ?? event.timerFiredEventAttributes;
    if (over) rows.delete(over.timerId ?? '');
    if (!started || !userMetadata?.summary) continue;
    rows.set(started.timerId ?? '', defaultPayloadConverter.fromPayload<string>(userMetadata.summary));
  }
  return [...rows.values()];
}
