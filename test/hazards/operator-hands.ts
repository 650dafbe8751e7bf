/** Actions of an operator on a run at the Temporal server, and readings for the tests about them. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createGatewayActivities, createRunActivities } from '../../src/activities/index.ts';
import { TokenSource } from '../../src/gateway/token-source.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { HoldStatus, JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { ProductCode } from '../../src/model/products.ts';
import { deriveTraceNumber } from '../../src/model/trace-number.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createConsentProofVerifier, createDecisionProofVerifier } from '../../src/protection/proofs.ts';
import { type Harness, type JourneyHandle, WAIT_LIMIT_MS } from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { workflowBundle } from '../support/temporal.ts';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** An event's number as the server's interface wants it back. */
export type EventId = NonNullable<HistoryEvent['eventId']>;

const { ResetReapplyType, PendingActivityState } = proto.temporal.api.enums.v1;

/** The journey's current run, whichever that is by now. */
export function currentRun(harness: Harness, { workflowId }: { workflowId: string }): JourneyHandle {
  return harness.client.workflow.getHandle(workflowId) as JourneyHandle;
}

export interface ResetOptions {
  /** The run that has the events. Default: the current run. */
  runId?: string;
  /** Forget the messages that came after that point, which are otherwise admitted again. */
  forgetMessages?: boolean;
}

/** `temporal workflow reset`: runs the journey again from that workflow task on. Resolves to the run that it makes. */
export async function resetTo(
  harness: Pick<Harness, 'client'>,
  handle: JourneyHandle,
  workflowTaskFinishEventId: EventId,
  options: ResetOptions = {},
): Promise<JourneyHandle> {
  const { client } = harness;
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId: options.runId ?? '' },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId,
    resetReapplyType: options.forgetMessages
      ? ResetReapplyType.RESET_REAPPLY_TYPE_NONE
      : ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
  });
  return client.workflow.getHandle(handle.workflowId, runId) as JourneyHandle;
}

export async function eventsOf(handle: JourneyHandle): Promise<HistoryEvent[]> {
  return (await handle.fetchHistory()).events ?? [];
}

function numberOf({ eventId }: HistoryEvent): number {
  return Number(eventId);
}

/** The workflow tasks that a run can be reset to. */
export async function workflowTasksOf(handle: JourneyHandle): Promise<EventId[]> {
  return (await eventsOf(handle)).flatMap(({ eventId, workflowTaskCompletedEventAttributes: completed }) =>
    completed && eventId ? [eventId] : [],
  );
}

export function schedulesAttempt({ activityTaskScheduledEventAttributes: scheduled }: HistoryEvent): boolean {
  return scheduled?.activityType?.name === 'submitInquiry';
}

/** The workflow task that scheduled the nth attempt: a reset to it is one to before the send. */
export async function taskBeforeSend(handle: JourneyHandle, nth = 1): Promise<EventId> {
  const submits = (await eventsOf(handle)).flatMap((event) =>
    schedulesAttempt(event) ? [event.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId] : [],
  );
  const task = submits[nth - 1];
  if (!task) throw new Error(`the run has made ${submits.length} attempts`);
  return task;
}

/** The first workflow task that took up a message of this name: a reset to it has the message admitted again. */
export async function taskOfMessage(handle: JourneyHandle, name: string): Promise<EventId> {
  const events = await eventsOf(handle);
  const tookIt = events.find(
    (event) =>
      event.workflowExecutionSignaledEventAttributes?.signalName === name ||
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === name,
  );
  if (!tookIt) throw new Error(`nobody has sent ${name}`);
  const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes);
  // A signal comes before the task that takes it up, an accepted update is among that task's results.
  const task = tookIt.workflowExecutionSignaledEventAttributes
    ? tasks.find((event) => numberOf(event) > numberOf(tookIt))
    : tasks.findLast((event) => numberOf(event) < numberOf(tookIt));
  return task?.eventId as EventId;
}

/**
 * The most times that Temporal itself ran one attempt. It must be 1, also when an operator allowed retries. The ledger
 * stops a second run, since it has the claim, but Temporal's own fence has then failed.
 */
export async function runsPerAttempt(handle: JourneyHandle): Promise<number> {
  const events = await eventsOf(handle);
  const scheduledAt = events.flatMap((event) => (schedulesAttempt(event) ? [Number(event.eventId)] : []));
  const runs = events.flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started && scheduledAt.includes(Number(started.scheduledEventId)) ? [started.attempt ?? 0] : [],
  );
  return Math.max(...runs);
}

/** Polls until it is so. */
export async function until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A run that waits, once the ledger has the rows of its holds. */
export async function untilIdle(handle: WorkflowHandle): Promise<void> {
  await until(async () => {
    const { pendingActivities, pendingWorkflowTask } = (await handle.describe()).raw;
    return !pendingActivities?.length && !pendingWorkflowTask;
  }, 'the run is at work');
}

export interface PendingAttempt {
  activityId: string;
  isStarted: boolean;
  attempt: number;
}

/** The attempt, or the activity `of` that type, once the run has scheduled it (with `started`: once a worker has it). */
export async function pendingAttempt(
  handle: JourneyHandle,
  options: { started?: boolean; of?: string } = {},
): Promise<PendingAttempt> {
  const { of: type = 'submitInquiry' } = options;
  const { PENDING_ACTIVITY_STATE_SCHEDULED, PENDING_ACTIVITY_STATE_PAUSED } = PendingActivityState;
  let found: PendingAttempt | undefined;
  await until(async () => {
    const { raw } = await handle.describe();
    const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
    if (!pending) return false;
    const isWaiting =
      pending.state === PENDING_ACTIVITY_STATE_SCHEDULED || pending.state === PENDING_ACTIVITY_STATE_PAUSED;
    found = { activityId: pending.activityId ?? '', isStarted: !isWaiting, attempt: pending.attempt ?? 0 };
    return !options.started || found.isStarted;
  }, `no ${type} is pending`);
  return found as PendingAttempt;
}

/** The operator's commands about one activity: `temporal activity fail`, `complete`, `reset`, `pause`, `unpause`, `update-options`. */
export function activityCommands(
  harness: Pick<Harness, 'client'>,
  handle: Pick<WorkflowHandle, 'workflowId'>,
  id: string,
) {
  const { workflowService, options } = harness.client;
  const target = {
    namespace: options.namespace,
    execution: { workflowId: handle.workflowId },
    identity: 'operator',
    id,
  };
  return {
    fail: () =>
      workflowService.respondActivityTaskFailedById({
        ...{ namespace: options.namespace, workflowId: handle.workflowId, activityId: id, identity: 'operator' },
        failure: { message: 'a test', source: 'CLI', applicationFailureInfo: { nonRetryable: true } },
      }),
    complete: () =>
      workflowService.respondActivityTaskCompletedById({
        ...{ namespace: options.namespace, workflowId: handle.workflowId, activityId: id, identity: 'operator' },
        result: { payloads: [defaultPayloadConverter.toPayload({})] },
      }),
    reset: () => workflowService.resetActivity({ ...target, resetHeartbeat: true, keepPaused: true }),
    pause: () => workflowService.pauseActivity({ ...target, reason: 'a test' }),
    unpause: () => workflowService.unpauseActivity({ ...target, resetAttempts: true }),
    /** Five attempts where the workflow allows one. */
    widenRetries: () =>
      workflowService.updateActivityOptions({
        ...target,
        activityOptions: { retryPolicy: { maximumAttempts: 5, initialInterval: msToTs(50) } },
        updateMask: { paths: ['retryPolicy.maximumAttempts', 'retryPolicy.initialInterval'] },
      }),
    /** One attempt where the workflow allows as many as it takes: the next failure is the last. */
    boundRetries: () =>
      workflowService.updateActivityOptions({
        ...target,
        activityOptions: { retryPolicy: { maximumAttempts: 1 } },
        updateMask: { paths: ['retryPolicy.maximumAttempts'] },
      }),
    shortenScheduleToClose: (ms: number) =>
      workflowService.updateActivityOptions({
        ...target,
        activityOptions: { scheduleToCloseTimeout: msToTs(ms) },
        updateMask: { paths: ['scheduleToCloseTimeout'] },
      }),
    shortenStartToClose: (ms: number) =>
      workflowService.updateActivityOptions({
        ...target,
        activityOptions: { startToCloseTimeout: msToTs(ms) },
        updateMask: { paths: ['startToCloseTimeout'] },
      }),
  };
}

/** The trace number of an inquiry that is yet to be made, for fault plans: a pure function of what is asked for. */
export function traceOf(harness: Harness, runKey: string, productCode: ProductCode, shareId?: string): string {
  const { environment, profiles } = harness.config;
  const customerId = profiles.get('default')?.customerId ?? '';
  return deriveTraceNumber({
    environment,
    customerId,
    workflowType: 'lendingJourney',
    runKey,
    productCode,
    shareId,
    ordinal: 0,
  });
}

/** A decision about the first hold of the status; what matters is overridden. */
export function decisionAbout({ journeyId, holds: [hold] }: JourneyStatus, overrides: object = {}) {
  const { customerTraceNumber, attempts } = hold as HoldStatus;
  return {
    journeyId,
    decisionId: 'D1',
    customerTraceNumber,
    attempt: attempts,
    action: 'resend',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'notPosted',
    ...overrides,
  };
}

/** Reads with the ledger open beside the worker, as the command line does. */
export async function withLedger<T>(
  harness: Pick<Harness, 'config'>,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const ledger = await openLedgerOf(harness);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

export function inquiriesOf(harness: Harness, journeyId: string): Promise<InquiryView[]> {
  return withLedger(harness, (ledger) => ledger.inquiriesOf(journeyId));
}

/** Every row of an SQLite ledger, column by column. */
export function ledgerRows({ config }: Pick<Harness, 'config'>): Record<string, unknown[]> {
  const database = new DatabaseSync(config.ledger.url.slice('file:'.length), { readOnly: true, timeout: 2_000 });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
    return Object.fromEntries(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
  } finally {
    database.close();
  }
}

interface WorkflowWorker {
  stop(): Promise<void>;
}

/** A worker that serves only the workflow queue. Activities on the gateway queue stay there. */
async function startWorkflowWorker({ config }: Harness): Promise<WorkflowWorker> {
  const connection = await NativeConnection.connect(config.temporal.connectionOptions);
  const tokens = new TokenSource();
  const ledger = await openLedger({
    url: config.ledger.url,
    environment: config.environment,
    keyRing: await openKeyRing(config),
    create: true,
  });
  const dependencies = {
    config,
    ledger,
    tokens,
    gateways: new Map(),
    slots: new Map(),
    registeredSearchAttributes: async () => [],
    checkConsentProof: createConsentProofVerifier(undefined),
    checkDecisionProof: createDecisionProofVerifier(undefined),
  };
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    workflowBundle: (await workflowBundle()) as { code: string },
    activities: {
      ...createRunActivities(dependencies),
      // Without slots the worker makes no attempt.
      ...createGatewayActivities(dependencies),
    },
    stickyQueueScheduleToStartTimeout: 1_000,
  });
  const done = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await done;
      await tokens.close();
      await ledger.close();
      await connection.close();
    },
  };
}

/** Runs the work without a gateway worker. Activities on the gateway queue wait there until this function ends. */
export async function withoutGatewayWorker<T>(harness: Harness, work: () => Promise<T>): Promise<T> {
  await harness.stopWorker();
  const workflows = await startWorkflowWorker(harness);
  try {
    return await work();
  } finally {
    await workflows.stop();
    await harness.startWorker();
  }
}
