import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

/** The summaries of the timers that a run waits for, oldest first, as rows of the UI's timeline show them. Its payloads are in the clear. */
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
