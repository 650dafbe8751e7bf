/**
 * Counts how much of its history a run has played, from the messages and results that reach it. The SDK's own figures
 * (`workflowInfo().historyLength` and others) move with each workflow task, also with one that brings nothing but a refused
 * update: no replay has that task. These counts move only with what the history has (docs/decisions/journeys.md, 58).
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

function note(events: number, payloads: readonly unknown[] | null | undefined): void {
  const { runId } = workflowInfo();
  const played = playedByRun.get(runId) ?? { events: 0, bytes: 0 };
  playedByRun.set(runId, played);
  played.events += events;
  for (const payload of payloads ?? []) played.bytes += (payload as { data?: Uint8Array } | null)?.data?.length ?? 0;
}

function noteJob(job: Job): void {
  const { resolveActivity, fireTimer, signalWorkflow, initializeWorkflow } = job;
  // An update counts once it is accepted. Queries and evictions leave no event.
  if (job.doUpdate || job.queryWorkflow || job.removeFromCache || job.notifyHasPatch || job.updateRandomSeed) return;
  if (resolveActivity) note(EVENTS_OF_JOB.activity, [resolveActivity.result?.completed?.result]);
  else if (fireTimer) note(EVENTS_OF_JOB.timer, []);
  else note(EVENTS_OF_JOB.other, signalWorkflow?.input ?? initializeWorkflow?.arguments);
}

export const interceptors = (): WorkflowInterceptors => {
  let updates: Job[] = [];
  return {
    internals: [
      {
        activate: (input, next) => {
          const jobs = input.activation.jobs ?? [];
          // A worker that lost the run in the middle of a task plays it from the start.
          if (jobs.some(({ initializeWorkflow }) => initializeWorkflow)) playedByRun.delete(workflowInfo().runId);
          updates = jobs.filter(({ doUpdate }) => doUpdate);
          jobs.forEach(noteJob);
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
          const job = updates.find(({ doUpdate }) => doUpdate?.id === input.updateId);
          note(EVENTS_OF_UPDATE, job?.doUpdate?.input);
          return next(input);
        },
      },
    ],
  };
};
