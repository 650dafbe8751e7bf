/**
 * Puts the updates of a workflow task after its signals, as each replay has them.
 *
 * A reset admits messages again, in the order in which they came. The SDK (1.24) plays them in that order at first. In a
 * replay it takes updates from their acceptance, which comes after every signal: handlers then find another state, and
 * commands come in another order. Where no reset was, the order is this one already.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        const jobs = input.activation.jobs ?? [];
        const messages = jobs.findLastIndex(({ signalWorkflow }) => signalWorkflow) + 1;
        const updates = jobs.slice(0, messages).filter(({ doUpdate }) => doUpdate);
        if (updates.length > 0) {
          const others = jobs.slice(0, messages).filter(({ doUpdate }) => !doUpdate);
          input.activation.jobs = [...others, ...updates, ...jobs.slice(messages)];
        }
        next(input);
      },
    },
  ],
});
