/** Operators with the whole of Temporal's commands, who know nothing of what a step does. */
import { setTimeout as delay } from 'node:timers/promises';
import { activityCommands, resetTo, workflowTasksOf } from '../../hazards/operator-hands.ts';
import type { Scene, Strike } from './strike.ts';

type PlannedStep = Parameters<Strike>[0];

/** To any workflow task that the current run has had; now and then without the messages that came later. */
export const resetWorkflow: Strike = async ({ journeyId = '', pick = 0 }, { people, world }) => {
  const handle = people.handle(journeyId);
  const tasks = await people.patiently(() => workflowTasksOf(handle));
  const task = tasks[Math.floor(pick * tasks.length)];
  if (!task) return false;
  await people.patiently(() =>
    resetTo(world, handle, task, { forgetMessages: pick * 100 - Math.floor(pick * 100) < 0.2 }),
  );
  return true;
};

/** Of the planned journey if it is open, then of every other that is. */
async function* openRuns({ journeyId }: PlannedStep, { people, world }: Scene) {
  const { journeys } = world.plan;
  const first = journeys.findIndex((one) => one.journeyId === journeyId);
  for (const plan of [...journeys.slice(first), ...journeys.slice(0, first)]) {
    const handle = people.handle(plan.journeyId);
    const described = await people.patiently(() => handle.describe()).catch(() => undefined);
    if (described?.status.name === 'RUNNING') yield { plan, handle, raw: described.raw };
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
  for await (const { plan } of openRuns(step, scene)) {
    await scene.people.cancel(plan.journeyId);
    return true;
  }
  return false;
};

export const terminateAndRestart: Strike = async (step, scene) => {
  for await (const { plan, handle } of openRuns(step, scene)) {
    await scene.people.patiently(() => handle.terminate('by an operator'));
    await scene.people.start(plan);
    return true;
  }
  return false;
};
