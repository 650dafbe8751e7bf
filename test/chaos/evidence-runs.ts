/** What Temporal knows of every run of a task queue: how it stands, what it answers, its history. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { inParallel } from '../../src/client/in-parallel.ts';
import type { JourneyReferences, JourneyResult, JourneyStatus } from '../../src/model/shapes.ts';
import type { RunEvidence } from './evidence.ts';

const RUNS_AT_ONCE = 16;
/** Visibility may be a moment behind; the list counts once it no longer grows. */
const LOOK_AGAIN_MS = 250;
const MOST_LOOKS = 8;
/** A run that says nothing by then has no worker, or is stuck. */
const QUERY_LIMIT_MS = 10_000;

export async function readRuns(client: Client, taskQueue: string): Promise<RunEvidence[]> {
  const runs = await listed(client, taskQueue);
  return inParallel(runs, RUNS_AT_ONCE, (run) => readRun(client, run));
}

async function listed(client: Client, taskQueue: string): Promise<WorkflowExecutionInfo[]> {
  const query = `TaskQueue = '${taskQueue}'`;
  let found: WorkflowExecutionInfo[] = [];
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const now: WorkflowExecutionInfo[] = [];
    for await (const run of client.workflow.list({ query, pageSize: 1_000 })) now.push(run);
    if (looks > 0 && now.length === found.length) return now;
    found = now;
    await sleep(LOOK_AGAIN_MS);
  }
  return found;
}

async function readRun(client: Client, { workflowId, runId, type }: WorkflowExecutionInfo): Promise<RunEvidence> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const described = await handle.describe();
  const { pendingWorkflowTask, pendingActivities } = described.raw;
  const run: RunEvidence = {
    workflowId,
    runId,
    workflowType: type,
    status: described.status.name,
    workflowTaskAttempts: pendingWorkflowTask?.attempt ?? 0,
    pendingActivities: (pendingActivities ?? []).map(({ activityType, attempt, paused }) => ({
      type: activityType?.name ?? '',
      attempt: attempt ?? 0,
      paused: paused ?? false,
    })),
  };
  run.history = await handle.fetchHistory();
  if (type === 'lendingJourney') await readJourney(client, run);
  return run;
}

async function readJourney(client: Client, run: RunEvidence): Promise<void> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
  if (run.status === 'COMPLETED') run.result = (await handle.result()) as JourneyResult;
  else if (run.status === 'FAILED') run.failureType = await failureTypeOf(handle.result());
  else if (run.status === 'RUNNING') {
    try {
      await client.withDeadline(Date.now() + QUERY_LIMIT_MS, async () => {
        run.current = await handle.query<JourneyStatus>('status');
        run.references = await handle.query<JourneyReferences>('references');
      });
    } catch (error) {
      run.queryProblem = error instanceof Error ? error.name : 'the query failed';
    }
  }
}

async function failureTypeOf(result: Promise<unknown>): Promise<string> {
  try {
    await result;
    return 'none';
  } catch (error) {
    let cause: unknown = error instanceof WorkflowFailedError ? error.cause : error;
    let name = 'unknown';
    for (; cause instanceof Error; cause = cause.cause) {
      name = cause instanceof ApplicationFailure ? (cause.type ?? 'ApplicationFailure') : cause.name;
    }
    return name;
  }
}

/** Types of the events, in their order. */
export function eventTypes({ history }: RunEvidence): string[] {
  const { EventType } = temporal.api.enums.v1;
  return (history?.events ?? []).map(({ eventType }) => EventType[eventType ?? 0] ?? '');
}
