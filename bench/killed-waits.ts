/** What journeys waited for after a worker was killed, read from their histories. */
import type { WorkflowHandle } from '@temporalio/client';

/** A shorter pause is work, or the line before it. */
const NOTICED_FROM_MS = 1_500;

const TIME_OUTS = ['', 'start to close', 'schedule to start', 'schedule to close', 'heartbeat'];

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** The longest pause of a journey that ended after `killedAtMs`: by what it ended. `none` where it never stood still. */
export async function longestWait(handle: WorkflowHandle, killedAtMs: number): Promise<string> {
  const { events } = await handle.fetchHistory();
  const scheduled = new Map((events ?? []).map((event) => [String(event.eventId), event]));
  let beforeMs = Number.POSITIVE_INFINITY;
  let longestMs = NOTICED_FROM_MS;
  let endedBy = 'none';
  for (const event of events ?? []) {
    const atMs = Number(event.eventTime?.seconds) * 1_000 + Number(event.eventTime?.nanos) / 1e6;
    if (atMs > killedAtMs && atMs - beforeMs >= longestMs) {
      longestMs = atMs - beforeMs;
      endedBy = endOfPause(event, scheduled);
    }
    beforeMs = atMs;
  }
  return endedBy;
}

function endOfPause(event: Event, scheduled: ReadonlyMap<string, Event>): string {
  const activity = event.activityTaskStartedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
  const task = event.workflowTaskTimedOutEventAttributes;
  if (task) return `workflow task, ${TIME_OUTS[task.timeoutType ?? 0]}`;
  if (!activity) return event.timerFiredEventAttributes ? 'timer' : 'workflow task waits for the worker';
  const type = scheduled.get(String(activity.scheduledEventId))?.activityTaskScheduledEventAttributes?.activityType;
  const failure =
    'lastFailure' in activity ? activity.lastFailure : 'failure' in activity ? activity.failure : undefined;
  const timeOut = failure?.timeoutFailureInfo?.timeoutType;
  return `${type?.name}, ${timeOut ? TIME_OUTS[timeOut] : 'waits for the worker'}`;
}
