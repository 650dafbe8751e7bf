/** Checks how much work waits for operators, and which runs make no progress because their workflow tasks fail. */
import { countFailingRuns } from '../temporal/failing-runs.ts';
import { type Check, describeCount, ledgerContent, pass, warn } from './check.ts';

/** A run whose workflow tasks fail takes no message and fires no timer. */
export const failingRunsCheck: Check = {
  name: 'failing-runs',
  needs: ['TEMPORAL_', 'TASK_QUEUE'],
  async run({ config, temporal }) {
    const count = await countFailingRuns(await temporal(), config.taskQueue);
    if (count === null) {
      return warn(
        'this Temporal does not tell whose tasks fail',
        'version 1.30 or newer tells it; until then watch temporal_workflow_task_execution_failed of the workers',
      );
    }
    if (count === 0) return pass('the tasks of no run fail');
    return warn(
      `the tasks of ${describeCount(count, 'run')} fail again and again`,
      '`credit-journey holds` lists them; docs/runbook/workflow-tasks-fail.md',
    );
  },
};

export const holdsCheck: Check = {
  name: 'holds',
  needs: ['LEDGER_'],
  async run(context) {
    const { needsPerson } = await ledgerContent(context);
    if (needsPerson === 0) return pass('nothing needs a person');
    return warn(`${describeCount(needsPerson, 'row')} of the work queue`, '`credit-journey holds` lists them');
  },
};
