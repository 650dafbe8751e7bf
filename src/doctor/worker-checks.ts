/** Whether somebody polls each queue. */
import type { GatewayProfile } from '../gateway/profile.ts';
import { gatewayQueueOf, webhookQueueOf } from '../task-queues.ts';
import { type Check, counted, fail, NotCheckedError, pass } from './check.ts';
import type { DoctorContext } from './context.ts';
import { refusalOf } from './context.ts';
import { millisecondsOf } from './timestamps.ts';

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;
const ACTIVITY = 2;

/** A long poll takes a minute; the server remembers a poller for five after its last. */
const RECENT_MS = 2 * 60_000;

const NEEDS = ['TEMPORAL_', 'TASK_QUEUE', 'GATEWAY_PROFILES_FILE'];

/** The queue of workflows and their activities, then each profile's gateway queue. */
export function workerChecks(profiles: Iterable<string>): Check[] {
  return [
    queueCheck('workers', (taskQueue) => taskQueue, [WORKFLOW, ACTIVITY]),
    ...[...profiles].map((profile) =>
      queueCheck(`workers/gateway-${profile}`, (taskQueue) => gatewayQueueOf(taskQueue, profile), [ACTIVITY]),
    ),
  ];
}

/** The queue of deliveries, where any profile has endpoints. */
export function webhookWorkerChecks(profiles: readonly GatewayProfile[]): Check[] {
  return profiles.some(({ webhooks }) => webhooks?.length)
    ? [queueCheck('workers/webhooks', webhookQueueOf, [ACTIVITY], 'events wait')]
    : [];
}

function queueCheck(
  name: string,
  queueOf: (taskQueue: string) => string,
  types: readonly number[],
  consequence = 'journeys stand still',
): Check {
  return {
    name,
    needs: NEEDS,
    async run(context) {
      const queue = queueOf(context.config.taskQueue);
      const counts = await Promise.all(types.map((type) => pollersOf(context, queue, type)));
      const fewest = Math.min(...counts);
      return fewest > 0
        ? pass(`${counted(fewest, 'worker')} on ${queue}`)
        : fail(
            `no worker polls ${queue}: ${consequence}`,
            '`credit-journey worker`; see its log where it ends at once',
          );
    },
  };
}

async function pollersOf({ temporal }: DoctorContext, name: string, taskQueueType: number): Promise<number> {
  const client = await temporal();
  const { namespace } = client.options;
  const answer = await client.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType })
    .catch((error: unknown) => {
      if (refusalOf(error) === 'notFound') throw new NotCheckedError('there is no such namespace');
      throw error;
    });
  // By our clock, with room for the server's to differ.
  const times = (answer.pollers ?? []).map(({ lastAccessTime }) => millisecondsOf(lastAccessTime) ?? 0);
  return times.filter((time) => time > Date.now() - RECENT_MS).length;
}
