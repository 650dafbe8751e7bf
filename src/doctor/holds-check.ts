/** Checks how much work waits for operators, and which runs make no progress because their workflow tasks fail. */
import type { Client } from '@temporalio/client';
import { WEBHOOK_DELIVERY } from '../messages/webhooks/delivery.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { countFailingRuns } from '../temporal/failing-runs.ts';
import { type Check, counted, NotCheckedError, pass, refusalOf, warn } from './check.ts';

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
      `the tasks of ${counted(count, 'run')} fail again and again`,
      '`credit-journey holds` lists them; docs/runbook/workflow-tasks-fail.md',
    );
  },
};

export const holdsCheck: Check = {
  name: 'holds',
  needs: ['TEMPORAL_', 'TASK_QUEUE', 'LEDGER_'],
  async run({ config, temporal, ledger }) {
    const [inRuns, inLedger] = await Promise.all([
      temporal().then((client) => countedRuns(client, config.taskQueue)),
      ledger().then(({ content }) => content?.needsPerson ?? 0),
    ]);
    // A run has a row for each thing that it waits for. Runs are counted only if the ledger has no row.
    if (inLedger > 0) return warn(`${counted(inLedger, 'row')} of the work queue`, '`credit-journey holds` lists them');
    if (inRuns === null) {
      return warn(
        'none in the ledger; runs cannot be searched',
        '`credit-journey setup` registers the search attribute NeedsAttention',
      );
    }
    return inRuns === 0
      ? pass('nothing needs a person')
      : warn(`${counted(inRuns, 'run')}, of which the ledger has no row`, '`credit-journey holds` lists them');
  },
};

/** `null` where the search attribute is not registered. */
async function countedRuns(client: Client, taskQueue: string): Promise<number | null> {
  const name: SearchAttributeName = 'NeedsAttention';
  const query = [
    `${name} IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`,
    // An event that was given up is no hold: `webhooks list` has it.
    `WorkflowType != '${WEBHOOK_DELIVERY}'`,
  ].join(' AND ');
  try {
    const { count } = await client.workflow.count(query);
    return count;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === 'notFound') throw new NotCheckedError('there is no such namespace');
    if (refusal === 'notKnown') return null;
    throw error;
  }
}
