/** Reports each completed workflow task to the worker: its number of jobs, and whether errors have stacks. */
import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

export interface TaskSinks extends Sinks {
  tasks: { done(jobs: number, hasStacks: boolean): void };
}

export const interceptors = (): WorkflowInterceptors => {
  const { tasks } = proxySinks<TaskSinks>();
  let [jobs, hasStacks] = [0, false];
  return {
    internals: [
      {
        activate: (input, next) => {
          jobs = input.activation.jobs?.length ?? 0;
          hasStacks = /\n\s+at /.test(new Error('here').stack ?? '');
          next(input);
        },
        concludeActivation: (input, next) => {
          tasks.done(jobs, hasStacks);
          return next(input);
        },
      },
    ],
  };
};
