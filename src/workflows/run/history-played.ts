/**
 * Counts how much of its history a run has played. The SDK's own figures (`workflowInfo().historyLength` and others) move with
 * each workflow task, also with one that brings nothing but a refused update: no replay has that task. These move only when
 * something has come that the history has (docs/decisions/journeys.md, 54).
 */
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { workflowInfo } from '@temporalio/workflow';

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** The server ends a run at 51,200 events, and by default suggests a hand-over at 4,096. */
const DEFAULT_MAX_EVENTS = 3_000;

/** The server ends a run at 50 MB, and by default suggests a hand-over at 4 MB. A worker without the run in its cache reads all of it for one task. */
const MAX_BYTES = 4 * 1024 * 1024;

/** An estimate of the events behind one job: its own, those of the command before it, and a share of its workflow task. */
const EVENTS_OF_JOB = { activity: 4, timer: 3, other: 2 } as const;
const EVENTS_OF_UPDATE = 4;

interface Played {
  events: number;
  bytes: number;
}

/** By run id: the workflow bundle preloads this module for all runs of a thread. */
const playedByRun = new Map<string, Played>();

/** Whether the history has become so long that the run is to go on in a new one. */
export function isHistoryLong(maxEvents: number = DEFAULT_MAX_EVENTS): boolean {
  const played = playedByRun.get(workflowInfo().runId);
  return played !== undefined && (played.events >= maxEvents || played.bytes >= MAX_BYTES);
}

/** Notes events of the history, which by then has so many bytes. */
function note(events: number, bytes: number): void {
  const { runId } = workflowInfo();
  const played = playedByRun.get(runId) ?? { events: 0, bytes: 0 };
  playedByRun.set(runId, { events: played.events + events, bytes: Math.max(played.bytes, bytes) });
}

/** The events behind a job; none for one that leaves no event. An update counts once it is accepted. */
function countEvents(job: Job): number {
  if (job.doUpdate || job.queryWorkflow || job.removeFromCache || job.notifyHasPatch || job.updateRandomSeed) return 0;
  if (job.resolveActivity) return EVENTS_OF_JOB.activity;
  return job.fireTimer ? EVENTS_OF_JOB.timer : EVENTS_OF_JOB.other;
}

export const interceptors = (): WorkflowInterceptors => {
  let bytes = 0;
  return {
    internals: [
      {
        activate: (input, next) => {
          const { jobs, historySizeBytes } = input.activation;
          // A worker that lost the run in the middle of a task plays it from the start.
          if (jobs?.some(({ initializeWorkflow }) => initializeWorkflow)) playedByRun.delete(workflowInfo().runId);
          bytes = Number(historySizeBytes ?? 0);
          const events = (jobs ?? []).reduce((sum, job) => sum + countEvents(job), 0);
          if (events > 0) note(events, bytes);
          next(input);
        },
        dispose: (input, next) => {
          playedByRun.delete(workflowInfo().runId);
          next(input);
        },
      },
    ],
    inbound: [
      {
        // Called for accepted updates alone. Not `async`: a promise more would delay the handler in some tasks.
        handleUpdate: (input, next) => {
          note(EVENTS_OF_UPDATE, bytes);
          return next(input);
        },
      },
    ],
  };
};
