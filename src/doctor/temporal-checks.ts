/** The Temporal server: the namespace, search attributes, the workers of each queue and their version, open runs. */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { diagnoseUnreachable } from '../client/connection/connect.ts';
import { hasStatus } from '../client/connection/errors.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { listMissingSearchAttributes, type SearchAttributeName } from '../model/search-attributes.ts';
import { toGatewayQueue, toWebhookQueue } from '../model/work-class.ts';
import { countFailingRuns, TASKS_FAIL } from '../temporal/failing-runs.ts';
import { askSearchAttributes } from '../temporal/registered-search-attributes.ts';
import {
  describeDeployment,
  findVersionState,
  formatPromotionCommand,
  isFleetPolling,
  TASK_QUEUE_TYPES,
} from '../temporal/worker-deployment.ts';
import { countWords } from '../words/writer.ts';
import { type Check, type DoctorContext, defineCheck, fail, NotCheckedError, pass, warn } from './check.ts';

/** Half of a check's time is over when this begins. */
const WHY_MS = 2_000;

const NEEDS = ['TEMPORAL_', 'TASK_QUEUE'];

export const temporalCheck = defineCheck('temporal', NEEDS, async (context) => {
  const { address } = context.config.temporal;
  let client: Client;
  try {
    client = await context.connect();
  } catch (error) {
    if (hasStatus(error, 'permissionDenied', 'unauthenticated')) {
      return fail(`${address} refuses the credentials`, 'check the API key or the client certificate');
    }
    const why = await diagnoseUnreachable(context.config.temporal.connectionOptions, WHY_MS);
    return fail(
      why instanceof Error ? why.message : String(why),
      'start the server, or correct TEMPORAL_ADDRESS and its TLS settings',
    );
  }
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return pass(`server ${serverVersion}`);
});

const DAY_S = 86_400;

export const namespaceCheck = defineCheck('namespace', NEEDS, async ({ temporal }) => {
  const client = await temporal();
  const { namespace } = client.options;
  try {
    const { config } = await client.workflowService.describeNamespace({ namespace });
    const retentionS = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    const days = countWords(Math.round((retentionS / DAY_S) * 10) / 10, 'day');
    return pass(`${namespace}, closed runs are kept for ${days}`);
  } catch (error) {
    if (hasStatus(error, 'permissionDenied', 'unauthenticated')) {
      return warn(`${namespace}, which may not be described`, 'let this identity read the namespace');
    }
    if (!hasStatus(error, 'notFound')) throw error;
    const make = `\`temporal operator namespace create --namespace ${namespace}\``;
    return fail(`the server has no namespace ${namespace}`, `${make}, or correct TEMPORAL_NAMESPACE`);
  }
});

export const searchAttributesCheck = defineCheck('search-attributes', NEEDS, async ({ temporal }) => {
  const { connection, options } = await temporal();
  let registered: SearchAttributeName[];
  try {
    registered = await askSearchAttributes(connection, options.namespace);
  } catch (error) {
    // The check of the namespace reports a missing one.
    if (hasStatus(error, 'notFound')) return fail('there is no such namespace', 'fix that first');
    const isKnown = hasStatus(error, 'permissionDenied', 'unauthenticated', 'unimplemented', 'invalidArgument');
    if (!isKnown) throw error;
    return warn('the server does not report which are registered', 'register them there by hand: docs/deploy.md');
  }
  const missing = listMissingSearchAttributes(registered);
  if (missing.length === 0) return pass(`all ${registered.length} are registered`);
  return warn(`not registered, or of another type: ${missing.join(', ')}`, '`credit-journey setup` registers them');
});

/** A long poll takes a minute. The server remembers a poller for five minutes after its last poll. */
const RECENT_MS = 2 * 60_000;

/** The queue of workflows and their activities, each profile's gateway queue, and where any has endpoints theirs. */
export function createWorkerChecks(profiles: readonly Pick<GatewayProfile, 'name' | 'webhooks'>[]): Check[] {
  const hasEndpoints = profiles.some(({ webhooks }) => webhooks?.length);
  return [
    createQueueCheck('workers', (taskQueue) => taskQueue, [TASK_QUEUE_TYPES.workflow, TASK_QUEUE_TYPES.activity]),
    ...profiles.map(({ name }) =>
      createQueueCheck(`workers/gateway-${name}`, (taskQueue) => toGatewayQueue(taskQueue, name), [
        TASK_QUEUE_TYPES.activity,
      ]),
    ),
    ...(hasEndpoints
      ? [createQueueCheck('workers/webhooks', toWebhookQueue, [TASK_QUEUE_TYPES.activity], 'events wait')]
      : []),
  ];
}

function createQueueCheck(
  name: string,
  toQueue: (taskQueue: string) => string,
  types: readonly number[],
  consequence = 'journeys make no progress',
): Check {
  return defineCheck(name, [...NEEDS, 'GATEWAY_PROFILES_FILE'], async (context) => {
    const queue = toQueue(context.config.taskQueue);
    const polls = await Promise.all(types.map((type) => findPollers(context, queue, type)));
    const fewest = Math.min(...polls.map(({ count }) => count));
    if (fewest === 0) {
      return fail(
        `no worker polls ${queue}: ${consequence}`,
        '`credit-journey worker`; see its log where it ends at once',
      );
    }
    const workers = `${countWords(fewest, 'worker')} on ${queue}`;
    const [idle] = types.includes(TASK_QUEUE_TYPES.workflow) ? polls.filter(({ served }) => served === 0) : [];
    if (!idle) return pass(workers);
    const toDo = 'start workers of that version, or make the version of these current: docs/versioning.md';
    return fail(`${workers}, and none of the version that gets its work, ${idle.current}: ${consequence}`, toDo);
  });
}

/** Counts the workers that poll, and those of them that the server gives the tasks of new runs to. */
async function findPollers({ temporal }: DoctorContext, name: string, taskQueueType: number) {
  const { workflowService, options } = await temporal();
  const { namespace } = options;
  const { pollers, versioningInfo } = await workflowService
    .describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType })
    .catch((error: unknown) => {
      throw hasStatus(error, 'notFound') ? new NotCheckedError('there is no such namespace') : error;
    });
  // Our clock decides, with room for the server's to differ.
  const since = Date.now() - RECENT_MS;
  const recent = (pollers ?? []).filter(({ lastAccessTime }) => (optionalTsToMs(lastAccessTime) ?? 0) > since);
  const version = versioningInfo?.currentDeploymentVersion;
  const served = recent.filter(({ deploymentOptions: own }) =>
    version?.deploymentName
      ? own?.deploymentName === version.deploymentName && own.buildId === version.buildId
      : !own?.deploymentName,
  );
  const current = version?.deploymentName ? `${version.deploymentName} ${version.buildId}` : 'unversioned';
  return { count: recent.length, served: served.length, current };
}

/** Checks whether this configuration's version gets any work (docs/versioning.md). */
export const deploymentCheck = defineCheck(
  'deployment',
  ['TEMPORAL_', 'DEPLOYMENT_NAME', 'BUILD_ID'],
  async ({ config, temporal }) => {
    const { deployment } = config.worker;
    if (!deployment) return pass('workers are unversioned: DEPLOYMENT_NAME is not set');
    const client = await temporal();
    const { deploymentName, buildId } = deployment;
    const view = await describeDeployment(client.workflowService, client.options.namespace, deploymentName);
    const state = findVersionState(view, buildId);
    const standing = `${deploymentName} ${buildId} is ${state}`;
    if (state === 'current') return pass(standing);
    const current = view?.currentBuildId;
    const who = view?.manager ?? `\`${formatPromotionCommand(deployment)}\``;
    const fleet = { namespace: client.options.namespace, taskQueue: config.taskQueue, version: undefined };
    const isUnversioned = current === undefined && (await isFleetPolling(client.workflowService, fleet));
    if (current === undefined && !isUnversioned) {
      return fail(`${standing}, and no version is current: journeys make no progress`, `${who} makes it current`);
    }
    // An operator may look before promotion, or while the version drains: these states are in order.
    const isInOrder = ['inactive', 'draining', 'drained'].includes(state);
    const detail = `${standing}; ${current ?? 'an unversioned worker'} gets the work until ${who} makes this one current`;
    return isInOrder ? pass(detail) : warn(detail, 'start its workers, and make it current once it works');
  },
);

/** A run whose workflow tasks fail takes no message and fires no timer. */
export const failingRunsCheck = defineCheck(
  'failing-runs',
  ['TEMPORAL_', 'TASK_QUEUE'],
  async ({ config, temporal }) => {
    const count = await countFailingRuns(await temporal(), config.taskQueue);
    if (count === null) {
      return warn(
        'this Temporal server does not report whose tasks fail',
        'version 1.30 or newer reports it; until then watch temporal_workflow_task_execution_failed of the workers',
      );
    }
    if (count === 0) return pass('no run has tasks that fail again and again');
    return warn(
      `the tasks of ${countWords(count, 'run')} fail again and again`,
      `\`temporal workflow list --query '${TASKS_FAIL}'\` lists them; docs/runbook/workflow-tasks-fail.md`,
    );
  },
);
