/** Runs that were started in the clear: their input lies readable in Temporal's database. */
import type { Client } from '@temporalio/client';
import { MAX_ID_LENGTH, opaqueIdProblem } from '../../model/opaque-id.ts';
import { RUNS_WITH_INQUIRIES } from '../../model/owner-id.ts';
import { startedEncrypted } from '../../temporal/started-encrypted.ts';
import type { Check } from './check.ts';
import { refusalOf } from './context.ts';
import { counted, fail, pass } from './finding.ts';

/** Each is a call to the server. */
const MOST_LOOKED_AT = 20;

export const clearStartsCheck: Check = {
  name: 'clear-starts',
  needs: ['TEMPORAL_', 'TASK_QUEUE', 'GATEWAY_ENVIRONMENT'],
  async run({ config, temporal }) {
    if (!config.payloadsAreEncrypted) return pass('PAYLOAD_ENCRYPTION is off: workers take starts in the clear');
    const client = await temporal();
    const runs = await newestOpen(client, config.taskQueue);
    const looks = await Promise.all(runs.map(async (run) => ({ run, isEncrypted: await wasEncrypted(client, run) })));
    const clear = looks.filter(({ isEncrypted }) => !isEncrypted);
    const looked = `of ${counted(runs.length, 'open run')} looked at, the newest ones`;
    if (clear.length === 0) return pass(`none ${looked}, was started in the clear`);
    return fail(
      `${clear.length} ${looked}, started in the clear: ${clear.map(({ run }) => nameOf(run)).join(', ')}`,
      'terminate and delete them (`temporal workflow delete`), and start them again with the codec',
    );
  },
};

interface Run {
  workflowId: string;
  runId: string;
}

async function newestOpen(client: Client, taskQueue: string): Promise<Run[]> {
  const query = `${RUNS_WITH_INQUIRIES} AND ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
  const runs: Run[] = [];
  // The server's own order: the newest first.
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: MOST_LOOKED_AT })) {
    runs.push({ workflowId, runId });
    if (runs.length === MOST_LOOKED_AT) break;
  }
  return runs;
}

/** A run that has gone meanwhile counts as encrypted. */
function wasEncrypted(client: Client, run: Run): Promise<boolean> {
  return startedEncrypted(client, client.options.namespace, run).catch((error: unknown) => {
    if (refusalOf(error) === 'notFound') return true;
    throw error;
  });
}

/** A caller that starts in the clear may also put anything into the id. */
function nameOf({ workflowId, runId }: Run): string {
  return opaqueIdProblem(workflowId, MAX_ID_LENGTH + 'journey-'.length) === null ? workflowId : `the run ${runId}`;
}
