/** The evidence of Temporal about every run of a task queue: state, query answers and history. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { SubmitInquiryArgs } from '../../src/activities/contract.ts';
import { runInParallel } from '../../src/base/in-parallel.ts';
import { askRun } from '../../src/client/connection/run-messages.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { HoldStatus, JourneyReferences, JourneyResult, JourneyStatus } from '../../src/messages/journey/shapes.ts';
import {
  type AddressedEvent,
  WEBHOOK_DELIVERY,
  type WebhookDeliveryStatus,
} from '../../src/messages/webhooks/delivery.ts';
import type { WebhookEvent } from '../../src/messages/webhooks/events.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { RUN_KINDS } from '../../src/model/run-key.ts';
import type { ConsentHeard, RunEvidence, Submission } from './evidence.ts';
import { readMessages, readStart } from './evidence-api.ts';

type History = temporal.api.history.v1.IHistory;
type Event = temporal.api.history.v1.IHistoryEvent;
type Versioning = temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo;
type Payloads = temporal.api.common.v1.IPayloads;

const RUNS_AT_ONCE = 16;
/** Visibility may be a moment behind; the list counts once it no longer grows. */
const LOOK_AGAIN_MS = 250;
const MOST_LOOKS = 8;
/** A run that says nothing by then has no worker, or is stuck. */
const QUERY_LIMIT_MS = 10_000;

export async function readRuns(client: Client, taskQueue: string): Promise<RunEvidence[]> {
  const runs = await listed(client, taskQueue);
  return runInParallel(runs, RUNS_AT_ONCE, (run) => readRun(client, run));
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
  const { pendingWorkflowTask, pendingActivities, workflowExecutionInfo } = described.raw;
  const pinnedTo = pinnedBuild(workflowExecutionInfo?.versioningInfo);
  const history = await handle.fetchHistory();
  const continuedFrom =
    history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  const run: RunEvidence = {
    workflowId,
    runId,
    workflowType: type,
    status: described.status.name,
    startedAtMs: described.startTime.getTime(),
    ...(described.closeTime ? { closedAtMs: described.closeTime.getTime() } : {}),
    workflowTaskAttempts: pendingWorkflowTask?.attempt ?? 0,
    pendingActivities: (pendingActivities ?? []).map(({ activityType, attempt, paused }) => ({
      type: activityType?.name ?? '',
      attempt: attempt ?? 0,
      paused: paused ?? false,
    })),
    ...(await readEvents(client, history)),
    messages: await readMessages(client, history),
    start: await readStart(client, history, runId),
    ...(pinnedTo === undefined ? {} : { pinnedTo }),
    ...(continuedFrom ? { continuedFrom } : {}),
    history,
  };
  if (type === 'lendingJourney') await readJourney(client, run);
  if (OTHER_RUNS.has(type)) await readOther(client, run);
  if (type === WEBHOOK_DELIVERY) await readDelivery(client, run);
  else await readTold(client, run);
  return run;
}

/** The only build whose workers may continue the run. An operator's override precedes the worker's version. */
export function pinnedBuild(info: Versioning | null | undefined): string | undefined {
  const override = info?.versioningOverride;
  const pinned = proto.temporal.api.enums.v1.VersioningBehavior.VERSIONING_BEHAVIOR_PINNED;
  if (override?.autoUpgrade || info?.behavior !== pinned) return undefined;
  return override?.pinned?.version?.buildId ?? info.deploymentVersion?.buildId ?? undefined;
}

async function readJourney(client: Client, run: RunEvidence): Promise<void> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
  if (run.status === 'COMPLETED') run.result = (await handle.result()) as JourneyResult;
  else if (run.status === 'FAILED') run.failureType = await failureTypeOf(handle.result());
  else if (run.status === 'RUNNING') {
    try {
      await client.withDeadline(Date.now() + QUERY_LIMIT_MS, async () => {
        run.current = await askRun<JourneyStatus>(handle, 'status');
        run.references = await askRun<JourneyReferences>(handle, 'references');
      });
    } catch (error) {
      run.queryProblem = error instanceof Error ? error.name : 'the query failed';
    }
  }
}

/** Pulls, shares by themselves, reviews: results and statuses that are alike in what is asked for here. */
const OTHER_RUNS = new Set<string>([...RUN_KINDS.pull, ...RUN_KINDS.share, ...RUN_KINDS.portfolio]);

interface AnyResult {
  outcome: string;
  reference?: ReportReference;
}

async function readOther(client: Client, run: RunEvidence): Promise<void> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId, { followRuns: false });
  if (run.status === 'COMPLETED') {
    const { outcome, reference } = (await handle.result()) as AnyResult;
    run.other = { state: outcome, holds: [], ...(reference ? { reference } : {}) };
  } else if (run.status === 'FAILED') run.failureType = await failureTypeOf(handle.result());
  else if (run.status === 'RUNNING') {
    const ask = () => askRun<{ state: string; holds: HoldStatus[] }>(handle, 'status');
    try {
      const { state, holds } = await client.withDeadline(Date.now() + QUERY_LIMIT_MS, ask);
      run.other = { state, holds };
    } catch (error) {
      run.queryProblem = error instanceof Error ? error.name : 'the query failed';
    }
  }
}

async function readDelivery(client: Client, run: RunEvidence): Promise<void> {
  const taken: string[] = [];
  for (const { workflowExecutionSignaledEventAttributes: signal } of run.history.events ?? []) {
    if (signal?.signalName !== 'deliverEvents') continue;
    const { events } = await argumentOf<{ events: AddressedEvent[] }>(client, signal.input);
    taken.push(...events.map(({ id }) => id));
  }
  const { endpoints } = await askRun<WebhookDeliveryStatus>(
    client.workflow.getHandle(run.workflowId, run.runId),
    'webhookStatus',
  );
  run.delivery = {
    taken,
    failed: endpoints.flatMap(({ endpoint, failed }) => failed.map(({ id }) => ({ endpoint, id }))),
    waiting: endpoints.reduce((sum, { waiting }) => sum + waiting, 0),
  };
}

async function readTold(client: Client, run: RunEvidence): Promise<void> {
  const events = run.history.events ?? [];
  const done = new Set(
    events.map(({ activityTaskCompletedEventAttributes: completed }) => String(completed?.scheduledEventId)),
  );
  for (const { eventId, activityTaskScheduledEventAttributes: scheduled } of events) {
    if (scheduled?.activityType?.name !== 'queueWebhooks') continue;
    const told = await argumentOf<{ events: WebhookEvent[] }>(client, scheduled.input);
    const isHandedOver = done.has(String(eventId));
    run.events = [...(run.events ?? []), ...told.events.map(({ id, type }) => ({ id, type, isHandedOver }))];
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

/** The run's messages and scheduled activities, as far as invariants use them. */
async function readEvents(
  client: Client,
  { events }: History,
): Promise<Pick<RunEvidence, 'submissions' | 'recordedByRun' | 'consents'>> {
  const read = { submissions: [] as Submission[], recordedByRun: [] as string[], consents: [] as ConsentHeard[] };
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'submitInquiry') {
      read.submissions.push(submissionOf(await argumentOf<SubmitInquiryArgs>(client, scheduled.input), event));
    } else if (scheduled?.activityType?.name === 'recordOutcome') {
      read.recordedByRun.push((await argumentOf<OutcomeRecord>(client, scheduled.input)).customerTraceNumber);
    }
    const told = consentIn(event);
    const consent = told && heardOf(await argumentOf<Partial<ConsentMessage>>(client, told).catch(() => null), event);
    if (consent) read.consents.push(consent);
  }
  return read;
}

function submissionOf({ inquiry, attempt, reference, consents }: SubmitInquiryArgs, event: Event): Submission {
  const { customerTraceNumber, productCode, shareId } = inquiry;
  return {
    customerTraceNumber,
    productCode,
    ...(shareId === undefined ? {} : { shareId }),
    attempt,
    eventId: Number(event.eventId),
    applicantIds: (reference?.applicants ?? []).map(({ applicantId }) => applicantId),
    consents: consents.map(({ applicantId, consentId }) => ({ applicantId, consentId })),
  };
}

/** A reset re-admits the updates that it undoes: they come as events of their own. */
function consentIn(event: Event): Payloads | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === 'consent') return signal.input ?? undefined;
  const update =
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest ??
    event.workflowExecutionUpdateAdmittedEventAttributes?.request;
  return update?.input?.name === 'recordConsent' ? (update.input.args ?? undefined) : undefined;
}

/** Anything may have been sent as a signal. */
function heardOf(message: Partial<ConsentMessage> | null, event: Event): ConsentHeard | undefined {
  const { shareId, applicantId, consentId, decision, decidedAt } = message ?? {};
  const decidedAtMs = Date.parse(String(decidedAt));
  if (!shareId || !applicantId || !consentId || !decision || Number.isNaN(decidedAtMs)) return undefined;
  return { shareId, applicantId, consentId, decision, decidedAtMs, eventId: Number(event.eventId), atMs: msOf(event) };
}

function argumentOf<T>({ options: { loadedDataConverter } }: Client, input: Payloads | null | undefined): Promise<T> {
  return decodeFromPayloadsAtIndex<T>(loadedDataConverter, 0, input?.payloads);
}

function msOf({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
}

/**
 * Why workflow tasks of the run failed. Leaves out tasks that a reset or the server itself ended. Also leaves out those
 * of a worker that stood still for so long that the SDK assumed its code hangs.
 */
export function failedTasks({ events }: History): string[] {
  const causes = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
  const cause = (event: Event) => causes[event.workflowTaskFailedEventAttributes?.cause ?? 0] ?? 'unknown';
  return (events ?? [])
    .filter((event) => event.workflowTaskFailedEventAttributes && !stoodStill(event, events ?? []))
    .map((event) => cause(event).replace('WORKFLOW_TASK_FAILED_CAUSE_', ''))
    .filter((name) => !OF_THE_SERVER.has(name));
}

/** The SDK's limit for one activation, by the clock on the wall. */
const ACTIVATION_LIMIT_MS = 5_000;

function stoodStill(failed: Event, events: readonly Event[]): boolean {
  const { cause, startedEventId } = failed.workflowTaskFailedEventAttributes ?? {};
  const { WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE: unhandled } =
    proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
  const started = events.find(({ eventId }) => Number(eventId) === Number(startedEventId));
  return cause === unhandled && started !== undefined && msOf(failed) - msOf(started) >= ACTIVATION_LIMIT_MS;
}

const OF_THE_SERVER = new Set([
  'RESET_WORKFLOW',
  'UNHANDLED_COMMAND',
  'RESET_STICKY_TASK_QUEUE',
  'FORCE_CLOSE_COMMAND',
]);
