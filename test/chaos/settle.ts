/** Ends a storm: stops faults, starts all programs, and completes the messages until all runs are at rest. */

import { setTimeout as delay } from 'node:timers/promises';
import { runInParallel } from '../../src/base/in-parallel.ts';
import { askRun } from '../../src/client/connection/run-messages.ts';
import { WEBHOOK_DELIVERY, type WebhookDeliveryStatus } from '../../src/messages/webhooks/delivery.ts';
import { toWorkflowId } from '../../src/model/run-key.ts';
import { resetTo, workflowTasksOf } from '../hazards/operator-hands.ts';
import type { Operator } from './operator.ts';
import type { Plan } from './plan.ts';
import { goOn, type Look, type PlannedRun, runsOf } from './runs.ts';
import { finishDeploys } from './storm/deploys.ts';
import type { Scene } from './storm/strike.ts';
import type { Conditions } from './worker-conditions.ts';

const AT_ONCE = 8;
const LOOK_AGAIN_MS = 400;
const DELIVERIES_LIMIT_MS = 120_000;
const DEPLOYS_LIMIT_MS = 30_000;
/** A run whose worker died in a step of the workflow queue does nothing for 20 s. */
const SETTLE_BASE_MS = 75_000;
const SETTLE_PER_RUN_MS = 1_500;

export interface Settled {
  /** Runs that are not at rest, each with its status. */
  unsettled: { runKey: string; state: string }[];
  /** The number of decisions that were still missing. */
  decisions: number;
  tookMs: number;
}

export async function settle(scene: Scene, signal: AbortSignal): Promise<Settled> {
  const startedAt = performance.now();
  const { plan } = scene.world;
  const endsAt = startedAt + settleLimitMs(plan);
  await calm(scene);
  let decisions = 0;
  const wasReset = new Set<string>();
  const open = new Map(runsOf(plan).map((run) => [run, 'not looked at']));
  while (open.size > 0 && performance.now() < endsAt && !signal.aborted) {
    await runInParallel([...open.keys()], AT_ONCE, async (run) => {
      const look = await goOn(run, scene).catch((error): Look => ({ state: String(error.name), decisions: 0 }));
      decisions += look.decisions;
      const isReset = look.state === 'at rest' && (await resetOnce(run, { scene, wasReset }));
      if (look.state === 'at rest' && !isReset) open.delete(run);
      else open.set(run, look.state);
    });
    if (open.size > 0) await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  const undelivered = await deliver(scene, signal);
  return {
    unsettled: [
      ...[...open].map(([{ runKey }, state]) => ({ runKey, state })),
      ...undelivered.map((workflowId) => ({ runKey: workflowId, state: 'its events still wait' })),
    ],
    decisions,
    tookMs: performance.now() - startedAt,
  };
}

/** Limits how long a world may take until all runs are at rest. */
export function settleLimitMs(plan: Plan): number {
  return SETTLE_BASE_MS + runsOf(plan).length * SETTLE_PER_RUN_MS;
}

/** Waits until every event is delivered or given up. The workflow ids of deliveries that have some left. */
async function deliver({ world, people }: Scene, signal: AbortSignal): Promise<string[]> {
  if (!world.endpoint) return [];
  const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND WorkflowType = '${WEBHOOK_DELIVERY}'`;
  const open = new Set<string>();
  for await (const { workflowId } of world.client.workflow.list({ query })) open.add(workflowId);
  const endsAt = performance.now() + DELIVERIES_LIMIT_MS;
  while (open.size > 0 && performance.now() < endsAt && !signal.aborted) {
    await runInParallel([...open], AT_ONCE, async (workflowId) => {
      const handle = world.client.workflow.getHandle(workflowId);
      const ask = () => askRun<WebhookDeliveryStatus>(handle, 'webhookStatus');
      const status = await people.patiently(ask).catch(() => undefined);
      if (status?.endpoints.every(({ waiting }) => waiting === 0)) open.delete(workflowId);
    });
    if (open.size > 0) await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  return [...open];
}

async function calm({ world }: Scene): Promise<void> {
  world.gatewayWire.heal();
  world.tokenWire.heal();
  await world.endpoint?.be('well');
  await world.ledger.heal();
  for (const worker of world.workers) {
    worker.tell({ ledgerIsFull: false } satisfies Conditions);
    worker.thaw();
    worker.start();
  }
  for (const copy of world.api?.copies ?? []) {
    copy.tell({ ledgerIsFull: false } satisfies Conditions);
    copy.start();
  }
  await world.setFaults([]);
  const endsAt = performance.now() + DEPLOYS_LIMIT_MS;
  for (;;) {
    try {
      return await finishDeploys(world);
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(LOOK_AGAIN_MS);
    }
  }
}

/** After a reset no request may be sent again, and no new decision may be needed. */
async function resetOnce(
  { runKey, resetAtRest: pick }: PlannedRun,
  { scene: { people, world }, wasReset }: { scene: Scene; wasReset: Set<string> },
): Promise<boolean> {
  if (pick === undefined || wasReset.has(runKey)) return false;
  const handle = people.handle(runKey);
  const tasks = await people.patiently(() => workflowTasksOf(handle));
  const task = tasks[Math.floor(pick * tasks.length)];
  if (!task) return false;
  await people.patiently(() => resetTo(world, handle, task));
  wasReset.add(runKey);
  return true;
}

/** Decides about holds in the list while the storm lasts, until the signal. */
export async function operate(scene: Scene, operator: Operator, signal: AbortSignal): Promise<number> {
  const { world, people } = scene;
  let decisions = 0;
  const known = new Map(runsOf(world.plan).map((run) => [toWorkflowId(run.runKey), run]));
  while (!signal.aborted) {
    try {
      const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND NeedsAttention IS NOT NULL`;
      for await (const { workflowId } of world.client.workflow.list({ query })) {
        if (signal.aborted) break;
        const run = known.get(workflowId);
        if (run) decisions += await operator.resolve(run, (await people.status(run.runKey)).holds);
      }
    } catch {
      // Something is away for the moment: that is what a storm is.
    }
    await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  return decisions;
}
