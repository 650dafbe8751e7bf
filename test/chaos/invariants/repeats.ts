/**
 * The fence inside Temporal: an attempt runs once, even if an operator allows retries (docs/protocol.md,
 * "Three fences"). If a pause cancels an attempt before its first byte, Temporal starts it again, and the activity
 * itself refuses.
 */
import type { RunEvidence } from '../evidence.ts';
import type { Invariant } from './invariant.ts';

export const attemptsRunOnce: Invariant = {
  name: 'Temporal runs an attempt at the gateway once, whatever its retry policy has become',
  judge({ runs }) {
    const started = runs.flatMap((run) => startedAttempts(run).map((one) => ({ run, ...one })));
    const again = started.filter(({ attempt }) => attempt > 1);
    const failures = again
      .filter(({ isRefused }) => !isRefused)
      .map(({ run, attempt }) => `${run.workflowId} run ${run.runId}: the ${attempt}th time`);
    const refused = again.length - failures.length;
    return { count: started.length, failures, ...(refused > 0 ? { remark: `${refused} refused a second time` } : {}) };
  },
};

/** How manieth time, of each attempt's activity that has ended, and whether the activity refused to do anything. */
function startedAttempts({ history }: RunEvidence): { attempt: number; isRefused: boolean }[] {
  const events = history.events ?? [];
  const submissions = new Set(
    events.flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'submitInquiry' ? [String(eventId)] : [],
    ),
  );
  const refused = new Set(
    events.flatMap(({ activityTaskFailedEventAttributes: failed }) =>
      failed?.failure?.applicationFailureInfo?.type === 'ActivityFailed' ? [String(failed.startedEventId)] : [],
    ),
  );
  return events.flatMap(({ eventId, activityTaskStartedEventAttributes: started }) =>
    started && submissions.has(String(started.scheduledEventId))
      ? [{ attempt: started.attempt ?? 0, isRefused: refused.has(String(eventId)) }]
      : [],
  );
}
