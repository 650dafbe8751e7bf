/**
 * Figures that every worker reads alike, at intervals: of the ledger what needs a person and whether it is an older copy,
 * of Temporal which runs there are and what waits on the queues, of the key ring how long its keys may still encrypt.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Ledger } from '../ledger/port.ts';
import { gatewayQueueOf, webhookQueueOf } from '../model/task-queues.ts';
import { keyAges, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-age.ts';
import type { KeyRing } from '../protection/keys/key-ring.ts';
import { type Metrics, type QueueKind, RUN_STAGES, type RunStage } from '../telemetry/metrics.ts';
import { countFailingRuns } from '../temporal/failing-runs.ts';

interface FleetFigures {
  ledger: Pick<Ledger, 'work' | 'restoreState'>;
  client: Pick<Client, 'workflow' | 'workflowService' | 'options'>;
  keys: { readonly ring: Pick<KeyRing, 'keys'> };
  taskQueue: string;
  profiles: readonly string[];
  metrics: Metrics;
  everyMs: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Whether the search attribute JourneyStage can be asked for. */
  knowsStages(): Promise<boolean>;
}

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;
const ACTIVITY = 2;

/** Reads at once and then every `everyMs`, until the signal. Never rejects: what cannot be read stands as it was. */
export async function watchFleetFigures(figures: FleetFigures): Promise<void> {
  const { everyMs, signal } = figures;
  while (!signal.aborted) {
    await Promise.allSettled([
      ...[readWork(figures), readCopy(figures)],
      ...[readRuns(figures), readFailingRuns(figures), readBacklogs(figures)],
    ]);
    readKeys(figures);
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function readWork({ ledger, metrics }: FleetFigures): Promise<void> {
  metrics.needsPerson(await ledger.work.counts());
}

async function readCopy({ ledger, metrics }: FleetFigures): Promise<void> {
  const { lost } = await ledger.restoreState();
  metrics.ledgerOlderCopy(lost !== undefined);
}

async function readRuns({ client, taskQueue, metrics, knowsStages }: FleetFigures): Promise<void> {
  if (!(await knowsStages())) return;
  const queue = taskQueue.replaceAll("'", "''");
  const counts = await Promise.all(
    RUN_STAGES.map(async (stage): Promise<[RunStage, number]> => {
      const query = `JourneyStage = '${stage}' AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
      return [stage, (await client.workflow.count(query)).count];
    }),
  );
  metrics.runningRuns(new Map(counts));
}

async function readFailingRuns({ client, taskQueue, metrics }: FleetFigures): Promise<void> {
  const count = await countFailingRuns(client, taskQueue);
  if (count !== null) metrics.failingRuns(count);
}

/** The SDK's own count of pollers stays as it was while the server is away: its polls are tried again and again. */
async function readBacklogs(figures: FleetFigures): Promise<void> {
  await countBacklogs(figures).then(
    () => figures.metrics.temporalUp(true),
    () => figures.metrics.temporalUp(false),
  );
}

async function countBacklogs({ client, taskQueue, profiles, metrics }: FleetFigures): Promise<void> {
  const gateways = profiles.map((profile) => gatewayQueueOf(taskQueue, profile));
  const queues: [QueueKind, string[], number[]][] = [
    ['journeys', [taskQueue], [WORKFLOW, ACTIVITY]],
    ['gateway', gateways, [ACTIVITY]],
    ['webhooks', [webhookQueueOf(taskQueue)], [ACTIVITY]],
  ];
  await Promise.all(
    queues.map(async ([kind, names, types]) => {
      const asked = names.flatMap((name) => types.map((type) => backlogOf(client, name, type)));
      const tasks = await Promise.all(asked);
      metrics.taskBacklog(
        kind,
        tasks.reduce((sum, one) => sum + one, 0),
      );
    }),
  );
}

async function backlogOf(client: FleetFigures['client'], name: string, taskQueueType: number): Promise<number> {
  const { namespace } = client.options;
  const asked = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
  const { stats } = await client.workflowService.describeTaskQueue(asked);
  return Number(stats?.approximateBacklogCount ?? 0);
}

function readKeys({ keys, metrics }: FleetFigures): void {
  for (const { use, ageDays, status } of keyAges(keys.ring)) {
    if (status === 'current') metrics.keyDaysLeft(use, MAX_ENCRYPTING_DAYS - ageDays);
  }
}
