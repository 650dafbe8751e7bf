/** Operators with the whole of Temporal's commands, who know nothing of what a step does. */
import { setTimeout as delay } from 'node:timers/promises';
import { activityCommands, resetTo, workflowTasksOf } from '../../hazards/operator-hands.ts';
import { otherRunsOf, startOther } from '../other-runs.ts';
import type { Scene, Strike } from './strike.ts';

type PlannedStep = Parameters<Strike>[0];

/** To any workflow task that the current run has had; now and then without the messages that came later. */
export const resetWorkflow: Strike = async ({ journeyId = '', runKey = journeyId, pick = 0 }, { people, world }) => {
  const handle = people.handle(runKey);
  const tasks = await people.patiently(() => workflowTasksOf(handle));
  const task = tasks[Math.floor(pick * tasks.length)];
  if (!task) return false;
  await people.patiently(() =>
    resetTo(world, handle, task, { forgetMessages: pick * 100 - Math.floor(pick * 100) < 0.2 }),
  );
  return true;
};

interface Startable {
  runKey: string;
  start(): Promise<unknown>;
}

/** What the step is about first, then all others of its sort. */
function inTurn({ journeyId, runKey }: PlannedStep, scene: Scene): Startable[] {
  const { people, world } = scene;
  const runs: Startable[] =
    runKey === undefined
      ? world.plan.journeys.map((plan) => ({ runKey: plan.journeyId, start: () => people.start(plan) }))
      : otherRunsOf(world.plan).map((run) => ({ runKey: run.runKey, start: () => startOther(run, scene) }));
  const first = runs.findIndex((run) => run.runKey === (runKey ?? journeyId));
  return [...runs.slice(first), ...runs.slice(0, first)];
}

async function* openRuns(step: PlannedStep, scene: Scene) {
  const { people } = scene;
  for (const run of inTurn(step, scene)) {
    const handle = people.handle(run.runKey);
    const described = await people.patiently(() => handle.describe()).catch(() => undefined);
    if (described?.status.name === 'RUNNING') yield { ...run, handle, raw: described.raw };
  }
}

/** Activities are short: one is looked for, for a while, in the planned journey first and then in all others. */
const LOOK_FOR_MS = 2_500;

/** The commands for one of the activities that a journey waits for. */
async function onActivity(step: PlannedStep, scene: Scene) {
  const endsAt = performance.now() + LOOK_FOR_MS;
  do {
    for await (const { handle, raw } of openRuns(step, scene)) {
      const pending = raw.pendingActivities ?? [];
      const id = pending[Math.floor((step.pick ?? 0) * pending.length)]?.activityId;
      if (id) return activityCommands(scene.world, handle, id);
    }
    await delay(25);
  } while (performance.now() < endsAt);
  return undefined;
}

export const resetActivity: Strike = async (step, scene) => {
  const commands = await onActivity(step, scene);
  if (!commands) return false;
  await scene.people.patiently(commands.reset);
  return true;
};

export const pauseActivity: Strike = async (step, scene) => {
  const commands = await onActivity(step, scene);
  if (!commands) return false;
  await scene.people.patiently(commands.pause);
  await delay(step.forMs ?? 0);
  await scene.people.patiently(commands.unpause);
  return true;
};

export const widenRetries: Strike = async (step, scene) => {
  const commands = await onActivity(step, scene);
  if (!commands) return false;
  await scene.people.patiently(commands.widenRetries);
  return true;
};

export const cancel: Strike = async (step, scene) => {
  for await (const { runKey } of openRuns(step, scene)) {
    await scene.people.cancel(runKey);
    return true;
  }
  return false;
};

export const terminateAndRestart: Strike = async (step, scene) => {
  for await (const { handle, start } of openRuns(step, scene)) {
    await scene.people.patiently(() => handle.terminate('by an operator'));
    await start();
    return true;
  }
  return false;
};

export const resetOther = resetWorkflow;
export const resetActivityOfOther = resetActivity;
export const pauseActivityOfOther = pauseActivity;
export const widenRetriesOfOther = widenRetries;
export const cancelOther = cancel;
export const terminateOther = terminateAndRestart;
