/** Whether a worker polls each queue, and whether all workers that poll a gateway queue have the same limit. */
import { millisecondsOf } from '../../base/timestamps.ts';
import type { GatewayProfile } from '../../gateway/profile.ts';
import { gatewayQueueOf, webhookQueueOf } from '../../model/work-class.ts';
import type { Check } from './check.ts';
import { type DoctorContext, refusalOf } from './context.ts';
import { counted, type Finding, fail, NotCheckedError, pass, warn } from './finding.ts';

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;
const ACTIVITY = 2;

const NEEDS = ['TEMPORAL_', 'TASK_QUEUE', 'GATEWAY_PROFILES_FILE'];

/** A long poll takes a minute. The server remembers a poller for five minutes after its last poll. */
const RECENT_MS = 2 * 60_000;

/** What the server says of a poller that gave no limit. */
const NO_LIMIT = 100_000;

interface QueueView {
  /** For each worker that polls: tasks a second of the whole queue, as it would have it. The last one decides. */
  limits: number[];
  /** The queue's own limit, set by an operator: it stands above what workers say. */
  setLimit?: number;
}

/** The queue of workflows and their activities, then each profile's gateway queue. */
export function workerChecks(profiles: Iterable<string>): Check[] {
  return [
    queueCheck('workers', (taskQueue) => taskQueue, [WORKFLOW, ACTIVITY]),
    ...[...profiles].map((profile) =>
      queueCheck(`workers/gateway-${profile}`, (taskQueue) => gatewayQueueOf(taskQueue, profile), [ACTIVITY], {
        isLimited: true,
      }),
    ),
  ];
}

/** The queue of deliveries, where any profile has endpoints. */
export function webhookWorkerChecks(profiles: readonly GatewayProfile[]): Check[] {
  return profiles.some(({ webhooks }) => webhooks?.length)
    ? [queueCheck('workers/webhooks', webhookQueueOf, [ACTIVITY], { consequence: 'events wait' })]
    : [];
}

function queueCheck(
  name: string,
  queueOf: (taskQueue: string) => string,
  types: readonly number[],
  { consequence = 'journeys stand still', isLimited = false } = {},
): Check {
  return {
    name,
    needs: NEEDS,
    async run(context) {
      const queue = queueOf(context.config.taskQueue);
      const views = await Promise.all(types.map((type) => viewOf(context, queue, type)));
      const fewest = Math.min(...views.map(({ limits }) => limits.length));
      if (fewest === 0) {
        return fail(
          `no worker polls ${queue}: ${consequence}`,
          '`credit-journey worker`; see its log where it ends at once',
        );
      }
      const who = `${counted(fewest, 'worker')} on ${queue}`;
      const [view] = views;
      return isLimited && view ? ofLimits(who, view, context) : pass(who);
    },
  };
}

/** With several limits it is open which one holds: docs/configuration.md. */
function ofLimits(who: string, view: QueueView, { config }: DoctorContext): Finding {
  const ours = config.worker.maxInquiriesPerSecond ?? NO_LIMIT;
  if (view.setLimit !== undefined) {
    return warn(
      `${who}; the queue’s own limit stands above theirs: ${limitWords(view.setLimit)}`,
      'see docs/operating.md where it was not meant to stay',
    );
  }
  const limits = [...new Set(view.limits)].sort((one, other) => one - other);
  const [first = ours] = limits;
  const one = 'give all workers the same GATEWAY_MAX_INQUIRIES_PER_SECOND and restart them';
  if (limits.length > 1) {
    const told = limits.map(limitWords).join(', ');
    return warn(
      `${who}, started with different limits (${told}): the one that polls last decides`,
      `${one}; one that has stopped is remembered for two minutes`,
    );
  }
  if (first === ours) return pass(`${who}, ${limitWords(ours)}`);
  return warn(`${who}, started with ${limitWords(first)}; here it would be ${limitWords(ours)}`, one);
}

function limitWords(ratePerSecond: number): string {
  return ratePerSecond === NO_LIMIT ? 'no limit' : `${ratePerSecond} inquiries a second`;
}

async function viewOf({ temporal }: DoctorContext, name: string, taskQueueType: number): Promise<QueueView> {
  const client = await temporal();
  const { namespace } = client.options;
  const answer = await client.workflowService
    .describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType, reportConfig: true })
    .catch((error: unknown) => {
      if (refusalOf(error) === 'notFound') throw new NotCheckedError('there is no such namespace');
      throw error;
    });
  // Our clock decides, with room for the server's to differ.
  const recent = (answer.pollers ?? []).filter(
    ({ lastAccessTime }) => (millisecondsOf(lastAccessTime) ?? 0) > Date.now() - RECENT_MS,
  );
  const setLimit = answer.config?.queueRateLimit?.rateLimit?.requestsPerSecond;
  return {
    limits: recent.map(({ ratePerSecond }) => ratePerSecond || NO_LIMIT),
    ...(typeof setLimit === 'number' ? { setLimit } : {}),
  };
}
