/** The Temporal server: reachable, the namespace, the search attributes. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import { millisecondsOf } from '../../base/timestamps.ts';
import { whyUnreachable } from '../../client/connection/why-unreachable.ts';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../../model/search-attributes.ts';
import { askSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import type { Check } from './check.ts';
import { isOwnFault, refusalOf } from './context.ts';
import { counted, type Finding, fail, pass, warn } from './finding.ts';

// How far Temporal's clock is ahead of ours. No call returns the time, but the server records the time of a poll.

const ACTIVITY = 2;
/** A poll that may not wait this long is refused by the server. */
const POLL_DEADLINE_MS = 5_000;
const LOOK_EVERY_MS = 50;
const MAX_LOOKS = 40;

/**
 * Polls a queue that nothing is ever put on, and reads when the server says that it was polled.
 *
 * @returns milliseconds, or `null` where the server does not say
 */
async function serverClock({ connection, options }: Client, taskQueue: string): Promise<number | null> {
  const own = connection as Connection;
  const { namespace } = options;
  // Polls of others are remembered for minutes.
  const identity = `credit-journey doctor ${randomUUID()}`;
  const queue = { name: `${taskQueue}-doctor` };
  const poll = new AbortController();
  const askedAtMs = Date.now();
  const polled = own
    .withDeadline(Date.now() + POLL_DEADLINE_MS, () =>
      own.withAbortSignal(poll.signal, () =>
        own.workflowService.pollActivityTaskQueue({ namespace, taskQueue: queue, identity }),
      ),
    )
    // It ends without a task, or is given up.
    .catch(() => {});
  try {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      await delay(LOOK_EVERY_MS);
      const { pollers } = await own.workflowService.describeTaskQueue({
        namespace,
        taskQueue: queue,
        taskQueueType: ACTIVITY,
      });
      const mine = pollers?.find((poller) => poller.identity === identity);
      const polledAtMs = millisecondsOf(mine?.lastAccessTime);
      if (polledAtMs !== null) return polledAtMs - (askedAtMs + LOOK_EVERY_MS / 2);
    }
    return null;
  } finally {
    poll.abort();
    await polled;
  }
}

/** Half of a check's time is over when this begins. */
const WHY_MS = 2_000;

const NEEDS = ['TEMPORAL_', 'TASK_QUEUE'];

/** Updates, which every message here is, are on by default from this version. */
const OLDEST_SERVER = [1, 25] as const;

export const temporalCheck: Check = {
  name: 'temporal',
  needs: NEEDS,
  async run(context) {
    const { address } = context.config.temporal;
    let client: Client;
    try {
      client = await context.connect();
    } catch (error) {
      if (isOwnFault(error)) throw error;
      if (refusalOf(error) === 'notAllowed') {
        return fail(`${address} refuses the credentials`, 'check the API key or the client certificate');
      }
      const { message } = await whyUnreachable(context.config.temporal.connectionOptions, WHY_MS);
      return fail(message, 'start the server, or correct TEMPORAL_ADDRESS and its TLS settings');
    }
    const aheadMs = await serverClock(client, context.config.taskQueue).catch(() => null);
    if (aheadMs !== null) context.clocks.push({ whose: 'Temporal', aheadMs });
    const { serverVersion } = await client.workflowService.getSystemInfo({});
    return versionFinding(serverVersion ?? '');
  },
};

function versionFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  if (version !== '' && isOld) {
    return warn(`server ${version}`, `run ${OLDEST_SERVER.join('.')} or newer: older ones refuse updates by default`);
  }
  return pass(version === '' ? 'reachable; the server does not tell its version' : `server ${version}`);
}

const DAY_S = 86_400;

export const namespaceCheck: Check = {
  name: 'namespace',
  needs: NEEDS,
  async run({ temporal }) {
    const client = await temporal();
    const { namespace } = client.options;
    try {
      const { config } = await client.workflowService.describeNamespace({ namespace });
      const retentionS = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
      const days = counted(Math.round((retentionS / DAY_S) * 10) / 10, 'day');
      if (retentionS < DAY_S) {
        return warn(`${namespace}, closed runs are kept for ${days}`, 'keep them for a day at least, to be looked at');
      }
      return pass(`${namespace}, closed runs are kept for ${days}`);
    } catch (error) {
      if (refusalOf(error) === 'notAllowed') {
        return warn(`${namespace}, which may not be described`, 'let this identity read the namespace');
      }
      if (refusalOf(error) !== 'notFound') throw error;
      const make = `\`temporal operator namespace create --namespace ${namespace}\``;
      return fail(`the server has no namespace ${namespace}`, `${make}, or correct TEMPORAL_NAMESPACE`);
    }
  },
};

export const searchAttributesCheck: Check = {
  name: 'search-attributes',
  needs: NEEDS,
  async run({ temporal }) {
    const { connection, options } = await temporal();
    const names = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];
    let registered: SearchAttributeName[];
    try {
      registered = await askSearchAttributes(connection, options.namespace);
    } catch (error) {
      // The check of the namespace reports a missing one.
      if (refusalOf(error) === 'notFound') return fail('there is no such namespace', 'put that right first');
      if (refusalOf(error) === 'other') throw error;
      return warn(
        'the server does not say which are registered',
        'register them there by hand: `credit-journey setup` prints how',
      );
    }
    const missing = names.filter((name) => !registered.includes(name));
    if (missing.length === 0) return pass(`all ${names.length} are registered`);
    return warn(`not registered, or of another type: ${missing.join(', ')}`, '`credit-journey setup` registers them');
  },
};
