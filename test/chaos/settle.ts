/** The end of a storm: faults off, everything up, and people who finish what they have begun, until all is at rest. */

import { setTimeout as delay } from 'node:timers/promises';
import { inParallel } from '../../src/base/in-parallel.ts';
import { askRun } from '../../src/client/connection/run-messages.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { WEBHOOK_DELIVERY, type WebhookDeliveryStatus } from '../../src/messages/webhooks/delivery.ts';
import { toWorkflowId } from '../../src/model/run-key.ts';
import { activityCommands, resetTo, workflowTasksOf } from '../hazards/operator-hands.ts';
import { aMomentAgo, consentOf } from './journey-inputs.ts';
import type { Decided, Operator } from './operator.ts';
import { decidedAs, goOnOther, otherRunsOf } from './other-runs.ts';
import type { People } from './people.ts';
import type { JourneyPlan, Plan } from './plan.ts';
import { finishDeploys } from './storm/deploys.ts';
import type { Scene } from './storm/strike.ts';
import type { Conditions } from './worker-conditions.ts';

const AT_ONCE = 8;
const LOOK_AGAIN_MS = 400;
const DELIVERIES_LIMIT_MS = 120_000;
const DEPLOYS_LIMIT_MS = 30_000;
/** From then on a journey waits for a person who never comes. */
const HOLD_IS_FINAL_AFTER_MS = 4_000;
/** A run whose worker died in a step of the workflow queue stands still for 20 s. */
const SETTLE_BASE_MS = 75_000;
const SETTLE_PER_JOURNEY_MS = 1_500;

export interface Settled {
  /** Runs that have come to no rest, each with how it stands. */
  unsettled: { journeyId: string; state: string }[];
  /** What people still had to do. */
  decisions: number;
  tookMs: number;
}

export async function settle(scene: Scene, signal: AbortSignal): Promise<Settled> {
  const startedAt = performance.now();
  const { plan } = scene.world;
  const others = otherRunsOf(plan);
  const endsAt = startedAt + settleLimitMs(plan);
  await calm(scene);
  let decisions = 0;
  const wasReset = new Set<string>();
  const open = new Map(plan.journeys.map((journey) => [journey, 'not looked at']));
  const openOthers = new Map(others.map((run) => [run, 'not looked at']));
  while (open.size + openOthers.size > 0 && performance.now() < endsAt && !signal.aborted) {
    await inParallel([...open.keys()], AT_ONCE, async (journey) => {
      const look = await goOn(journey, scene).catch(failedLook);
      decisions += look.decisions;
      const { journeyId, resetAtRest } = journey;
      const isReset = look.state === 'at rest' && (await resetOnce(journeyId, resetAtRest, { scene, wasReset }));
      if (look.state === 'at rest' && !isReset) open.delete(journey);
      else open.set(journey, look.state);
    });
    await inParallel([...openOthers.keys()], AT_ONCE, async (run) => {
      const look = await goOnOther(run, scene).catch(failedLook);
      decisions += look.decisions;
      const isReset = look.state === 'at rest' && (await resetOnce(run.runKey, run.resetAtRest, { scene, wasReset }));
      if (look.state === 'at rest' && !isReset) openOthers.delete(run);
      else openOthers.set(run, look.state);
    });
    if (open.size + openOthers.size > 0) await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  const undelivered = await deliver(scene, signal);
  return {
    unsettled: [
      ...[...open].map(([{ journeyId }, state]) => ({ journeyId, state })),
      ...[...openOthers].map(([{ runKey }, state]) => ({ journeyId: runKey, state })),
      ...undelivered.map((workflowId) => ({ journeyId: workflowId, state: 'its events still wait' })),
    ],
    decisions,
    tookMs: performance.now() - startedAt,
  };
}

/** How long a world may take to come to rest. */
export function settleLimitMs(plan: Plan): number {
  return SETTLE_BASE_MS + (plan.journeys.length + otherRunsOf(plan).length) * SETTLE_PER_JOURNEY_MS;
}

function failedLook(error: unknown): Look {
  return { state: String((error as Error).name), decisions: 0 };
}

/** Waits until every event is delivered or given up. The workflow ids of deliveries that have some left. */
async function deliver({ world, people }: Scene, signal: AbortSignal): Promise<string[]> {
  if (!world.endpoint) return [];
  const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND WorkflowType = '${WEBHOOK_DELIVERY}'`;
  const open = new Set<string>();
  for await (const { workflowId } of world.client.workflow.list({ query })) open.add(workflowId);
  const endsAt = performance.now() + DELIVERIES_LIMIT_MS;
  while (open.size > 0 && performance.now() < endsAt && !signal.aborted) {
    await inParallel([...open], AT_ONCE, async (workflowId) => {
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

/** Nothing may be sent that was sent before, and nothing be decided anew. */
async function resetOnce(
  runKey: string,
  pick: number | undefined,
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

interface Look {
  /** `at rest`, or what it waits for. */
  state: string;
  decisions: number;
}

async function goOn(plan: JourneyPlan, { world, people, operator }: Scene): Promise<Look> {
  const { journeyId } = plan;
  const handle = people.handle(journeyId);
  const described = await people.patiently(() => handle.describe()).catch(() => undefined);
  const run = described?.status.name;
  if (run === undefined || run === 'TERMINATED') {
    if (run === 'TERMINATED' && people.books.cancelled.has(journeyId)) return { state: 'at rest', decisions: 0 };
    await people.start(plan);
    return { state: 'started again', decisions: 0 };
  }
  if (run !== 'RUNNING') return { state: 'at rest', decisions: 0 };
  for (const { paused, activityId } of described?.raw.pendingActivities ?? []) {
    if (paused && activityId) await people.patiently(activityCommands(world, handle, activityId).unpause);
  }
  const status = await people.status(journeyId);
  if (isLeftHeld(plan, status)) return { state: 'at rest', decisions: 0 };
  const decisions = await operator.resolve(plan, status.holds);
  return { state: (await act(plan, status, people)) ?? status.waitingFor ?? status.state, decisions };
}

/** Whether the plan leaves the journey's holds open, and they are so old that all other work has gone on. */
function isLeftHeld(plan: JourneyPlan, { state, holds }: JourneyStatus): boolean {
  if (!plan.leaveHeld || state !== 'held') return false;
  return holds.every(({ since }) => Date.now() - Date.parse(since) > HOLD_IS_FINAL_AFTER_MS);
}

/** What the platform and the consumers have left to say. Resolves with the state where that alone decides it. */
async function act(plan: JourneyPlan, status: JourneyStatus, people: People): Promise<string | undefined> {
  const { journeyId } = plan;
  if (status.state === 'waitingAtGate') {
    const next = plan.stages.find((stage) => status.waitingFor === stage);
    if (next) await people.advance(journeyId, next);
    return undefined;
  }
  const missing = plan.shares.filter(({ shareId }) => !status.shares.some((one) => one.shareId === shareId));
  for (const share of missing) await people.requestShare(journeyId, share).catch(() => {});
  if (status.state === 'waitingForConsent') return sayTheRest(plan, status, people);
  const isOpenForShares = plan.sharesOpenForSeconds !== undefined && status.holds.length === 0;
  if (isOpenForShares && isDone(status) && missing.length === 0) await people.withdraw(journeyId);
  return undefined;
}

function isDone({ stages, shares }: JourneyStatus): boolean {
  return (
    stages.every(({ state }) => !['pending', 'running', 'held'].includes(state)) &&
    shares.every(({ state }) => !['awaitingConsent', 'posting', 'held'].includes(state))
  );
}

async function sayTheRest(plan: JourneyPlan, status: JourneyStatus, people: People): Promise<string | undefined> {
  const waiting = status.shares.filter(({ state }) => state === 'awaitingConsent');
  const silent = waiting.every(({ shareId }) => planned(plan, shareId)?.inTheEnd === 'silence');
  if (silent && status.holds.length === 0) return 'at rest';
  for (const { shareId, waitingFor } of waiting) {
    const inTheEnd = planned(plan, shareId)?.inTheEnd;
    if (inTheEnd === undefined || inTheEnd === 'silence') continue;
    for (const applicantId of waitingFor) {
      const { journeyId, shares } = plan;
      const said = { atMs: 0, shareId, applicantId, decision: inTheEnd, by: 'update', copies: 1 } as const;
      await people.sendUntilItCounts(`${journeyId} ${shareId} ${applicantId}`, (nth) =>
        consentOf(journeyId, { ...said, consentId: `END-${shareId}-${applicantId}-${nth}` }, shares, aMomentAgo()),
      );
    }
  }
  return undefined;
}

function planned({ shares }: JourneyPlan, shareId: string) {
  return shares.find((share) => share.shareId === shareId);
}

/** Decides while the storm goes on, as the list of holds shows them; bounded by the signal alone. */
export async function operate(scene: Scene, operator: Operator, signal: AbortSignal): Promise<number> {
  const { world, people } = scene;
  let decisions = 0;
  const plans: Decided[] = [...world.plan.journeys, ...otherRunsOf(world.plan).map(decidedAs)];
  const known = new Map(plans.map((plan) => [toWorkflowId(plan.journeyId), plan]));
  while (!signal.aborted) {
    try {
      const query = `TaskQueue = '${world.taskQueue}' AND ExecutionStatus = 'Running' AND NeedsAttention IS NOT NULL`;
      for await (const { workflowId } of world.client.workflow.list({ query })) {
        if (signal.aborted) break;
        const plan = known.get(workflowId);
        if (plan) decisions += await operator.resolve(plan, (await people.status(plan.journeyId)).holds);
      }
    } catch {
      // Something is away for the moment: that is what a storm is.
    }
    await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
  return decisions;
}
