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

/** The commands for one of the activities that the journey waits for. */
async function onActivity({ journeyId = '', pick = 0 }: PlannedStep, { people, world }: Scene) {
  const handle = people.handle(journeyId);
  const { raw } = await people.patiently(() => handle.describe());
  const pending = raw.pendingActivities ?? [];
  const id = pending[Math.floor(pick * pending.length)]?.activityId;
  return id ? activityCommands(world, handle, id) : undefined;
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

export const cancel: Strike = async ({ journeyId = '' }, { people }) => {
  await people.cancel(journeyId);
  return true;
};

export const terminateAndRestart: Strike = async ({ journeyId = '' }, { people, world }) => {
  const plan = world.plan.journeys.find((one) => one.journeyId === journeyId);
  if (!plan) return false;
  await people.patiently(() => people.handle(journeyId).terminate('by an operator'));
  await people.start(plan);
  return true;
};
