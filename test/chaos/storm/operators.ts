/** Operators with the whole of Temporal's commands, who know nothing of what a step does. */
import { setTimeout as delay } from 'node:timers/promises';
import { activityCommands, resetTo, workflowTasksOf } from '../../hazards/operator-hands.ts';
import { runsOf, startRun } from '../runs.ts';
import type { Scene, Strike } from './strike.ts';

type PlannedStep = Parameters<Strike>[0];
type ActivityCommands = ReturnType<typeof activityCommands>;

/** To any workflow task that the current run has had; now and then without the messages that came later. */
export const resetWorkflow: Strike = async ({ runKey = '', pick = 0 }, { people, world }) => {
  const handle = people.handle(runKey);
  const tasks = await people.patiently(() => workflowTasksOf(handle));
  const task = tasks[Math.floor(pick * tasks.length)];
  if (!task) return false;
  await people.patiently(() =>
    resetTo(world, handle, task, { forgetMessages: pick * 100 - Math.floor(pick * 100) < 0.2 }),
  );
  return true;
};

/** The run that the step is about first, then all others. */
async function* openRuns({ runKey }: PlannedStep, { people, world }: Scene) {
  const runs = runsOf(world.plan);
  const first = runs.findIndex((run) => run.runKey === runKey);
  for (const run of [...runs.slice(first), ...runs.slice(0, first)]) {
    const handle = people.handle(run.runKey);
    const described = await people.patiently(() => handle.describe()).catch(() => undefined);
    if (described?.status.name === 'RUNNING') yield { run, handle, raw: described.raw };
  }
}

/** Activities are short: one is looked for, for a while, in the planned run first and then in all others. */
const LOOK_FOR_MS = 2_500;

/** The commands for one of the activities that a run waits for. */
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

function strikeActivity(
  strike: (commands: ActivityCommands, step: PlannedStep, scene: Scene) => Promise<unknown>,
): Strike {
  return async (step, scene) => {
    const commands = await onActivity(step, scene);
    if (commands) await strike(commands, step, scene);
    return commands !== undefined;
  };
}

export const resetActivity = strikeActivity(({ reset }, _step, { people }) => people.patiently(reset));

export const widenRetries = strikeActivity(({ widenRetries }, _step, { people }) => people.patiently(widenRetries));

export const pauseActivity = strikeActivity(async ({ pause, unpause }, { forMs = 0 }, { people }) => {
  await people.patiently(pause);
  await delay(forMs);
  await people.patiently(unpause);
});

export const cancel: Strike = async (step, scene) => {
  for await (const { run } of openRuns(step, scene)) {
    await scene.people.cancel(run.runKey);
    return true;
  }
  return false;
};

export const terminateAndRestart: Strike = async (step, scene) => {
  for await (const { run, handle } of openRuns(step, scene)) {
    await scene.people.patiently(() => handle.terminate('by an operator'));
    await startRun(run, scene);
    return true;
  }
  return false;
};
