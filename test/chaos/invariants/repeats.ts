/** The fence inside Temporal: whatever an operator allows, it runs an attempt once (docs/protocol.md, "Three fences"). */
import type { RunEvidence } from '../evidence.ts';
import type { Invariant } from './invariant.ts';

export const attemptsRunOnce: Invariant = {
  name: 'Temporal runs an attempt at the gateway once, whatever its retry policy has become',
  judge({ runs }) {
    const started = runs.flatMap((run) => startedAttempts(run).map((attempt) => ({ run, attempt })));
    const again = started.filter(({ attempt }) => attempt > 1);
    const failures = again.map(({ run, attempt }) => `${run.workflowId} run ${run.runId}: the ${attempt}th time`);
    return { count: started.length, failures };
  },
};

/** How manieth time, of each `submitInquiry` that has ended. */
function startedAttempts({ history }: RunEvidence): number[] {
  const events = history.events ?? [];
  const submissions = new Set(
    events.flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'submitInquiry' ? [String(eventId)] : [],
    ),
  );
  return events.flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started && submissions.has(String(started.scheduledEventId)) ? [started.attempt ?? 0] : [],
  );
}
