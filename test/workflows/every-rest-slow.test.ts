/**
 * Plays every scenario again with messages at each wait of its runs: a query, a refused update, a signal and an
 * accepted update, each sent alone. Each history of the chain must replay, also if the run continues as new at any count of
 * events, and if a worker without a cache replays each workflow task from the start.
 */
import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { Client, type HistoryAndWorkflowId, type WorkflowClientInterceptor } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { runInParallel } from '../../src/base/in-parallel.ts';
import { interceptActivities } from '../support/intercept-activities.ts';
import { type Harness, type JourneyHandle, startHarness } from '../support/journey-harness.ts';
import { untilTaken } from '../support/patiently.ts';
import { RECORDED_SCENARIOS, type Scenario, type Stage } from '../support/scenarios.ts';
import { fetchChain, replay } from '../support/temporal.ts';

/** In this time the run processes the end of an activity, and waits at a timer or completes. */
const UNTIL_REST_MS = 30;
/** A message may come while a scenario has no worker. */
const LONGEST_MESSAGE_MS = 2_000;
/** A scenario may leave a run open. */
const OPEN_FOR_MS = 200;
/** The limit for a scenario, longer than any of its waits. */
const LONGEST_PLAY_MS = 25_000;
/** An activity records an accepted update, and the run waits for it too. */
const MOST_RESTS = 40;
/** With fewer events a run would continue as new before it has done anything. */
const [FEWEST_EVENTS, MOST_EVENTS] = [9, 45];
/** Each count is played with a tenth of the scenarios, and each scenario with several counts. */
const SCENARIOS_APART = 10;
/** The scenarios are split into parts, since a test must end within minutes on a busy machine. */
const PARTS = 4;

type Message = 'query' | 'refusedUpdate' | 'signal' | 'acceptedUpdate';

/** Sends a message that does not change the states that a scenario waits for. */
function send(client: Client, workflowId: string, message: Message, index: number): Promise<unknown> {
  const handle = client.workflow.getHandle(workflowId);
  switch (message) {
    case 'query':
      return handle.query('status');
    case 'refusedUpdate':
      return handle.executeUpdate('withdraw', { args: [{}] });
    case 'signal':
      return handle.signal('nobodyKnows', { index });
    case 'acceptedUpdate':
      return handle.executeUpdate('recordConsent', { args: [denial(workflowId, index)] });
  }
}

/** Makes a denial of a share that the journey does not have. */
function denial(workflowId: string, index: number): object {
  return {
    ...{ journeyId: workflowId.slice('journey-'.length), shareId: `NONE-${index}`, applicantId: '1A' },
    ...{ consentId: `NONE-${index}`, decision: 'denied', decidedAt: new Date(Date.now() - 1_000).toISOString() },
    secondaryUser: { endUserCode: 'EU998' },
  };
}

/** Sends messages to each run: before an activity begins, after it has ended, and around each message of the scenario. */
class Disturber {
  /** Counts how often each run has been disturbed. */
  readonly rests = new Map<string, number>();
  messages: readonly Message[] = [];
  sent = 0;
  readonly #client: Client;
  readonly #later = new Set<Promise<void>>();

  constructor({ connection, options }: Client) {
    this.#client = new Client({ connection, namespace: options.namespace });
  }

  readonly ofActivities: ActivityInboundCallsInterceptor = {
    execute: async (input, next) => {
      const { workflowExecution, activityType } = activityInfo();
      if (!workflowExecution) return next(input);
      const { workflowId } = workflowExecution;
      // The activity that an accepted update schedules is not disturbed by another one.
      const leavesOut = /consent/i.test(activityType) ? 'acceptedUpdate' : undefined;
      await this.disturb(workflowId, leavesOut);
      try {
        return await next(input);
      } finally {
        const later = sleep(UNTIL_REST_MS).then(() => this.disturb(workflowId, leavesOut));
        this.#later.add(later);
        void later.finally(() => this.#later.delete(later));
      }
    },
  };

  readonly #ofScenarios: WorkflowClientInterceptor = {
    signal: (input, next) => this.#around(input.workflowExecution.workflowId, () => next(input)),
    startUpdate: (input, next) => this.#around(input.workflowExecution.workflowId, () => next(input)),
    cancel: (input, next) => this.#around(input.workflowExecution.workflowId, () => next(input)),
    start: async (input, next) => {
      const started = await next(input);
      await this.disturb(input.options.workflowId);
      return started;
    },
  };

  stage({ client: { connection, options }, config }: Harness): Stage {
    const client = new Client({
      connection,
      namespace: options.namespace,
      interceptors: { workflow: [this.#ofScenarios] },
    });
    return {
      ...{ client, config },
      start: async (input) =>
        (await client.workflow.start('lendingJourney', {
          ...{ workflowId: `journey-${input.journeyId}`, taskQueue: config.taskQueue, args: [input] },
        })) as JourneyHandle,
    };
  }

  async disturb(workflowId: string, leavesOut?: Message): Promise<void> {
    const rest = (this.rests.get(workflowId) ?? 0) + 1;
    this.rests.set(workflowId, rest);
    if (rest > MOST_RESTS) return;
    for (const message of this.messages) {
      if (message === leavesOut || (message === 'acceptedUpdate' && !workflowId.startsWith('journey-'))) continue;
      this.sent++;
      // The message may be refused, or the run may have ended.
      await this.#client.connection
        .withDeadline(Date.now() + LONGEST_MESSAGE_MS, () => send(this.#client, workflowId, message, rest))
        .catch(() => undefined);
    }
  }

  async settle(): Promise<void> {
    while (this.#later.size) await Promise.all(this.#later);
  }

  async #around<T>(workflowId: string, act: () => Promise<T>): Promise<T> {
    await this.disturb(workflowId);
    const result = await act();
    await this.disturb(workflowId);
    return result;
  }
}

async function play(harness: Harness, disturber: Disturber, scenario: Scenario): Promise<void> {
  const handle = await scenario.play(disturber.stage(harness));
  const { status } = await harness.client.workflow.getHandle(handle.workflowId).describe();
  if (status.name === 'RUNNING') await sleep(OPEN_FOR_MS);
}

/** Reads the histories of the disturbed runs, and terminates the open ones. They answer: no run turns in place for ever. */
async function* fetchHistories(
  { client, config }: Harness,
  { rests }: Disturber,
): AsyncGenerator<HistoryAndWorkflowId> {
  for (const workflowId of rests.keys()) {
    const handle = client.workflow.getHandle(workflowId);
    const { raw, status } = await handle.describe();
    const { attempt } = raw.pendingWorkflowTask ?? {};
    assert.ok((attempt ?? 0) <= 1, `${workflowId} fails its workflow task again and again`);
    const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId ?? '';
    // A scenario has stopped the workers that it started.
    if (status.name === 'RUNNING' && raw.workflowExecutionInfo?.taskQueue === config.taskQueue) {
      const isOver = (error: unknown) => error instanceof WorkflowNotFoundError;
      const ask = () => handle.query('__temporal_workflow_metadata').catch((error) => assert.ok(isOver(error), error));
      await untilTaken(ask, () => true);
    }
    yield* fetchChain(client, { workflowId, firstExecutionRunId });
    if (status.name === 'RUNNING') await handle.terminate().catch(() => undefined);
  }
}

interface Plays {
  harness: Harness;
  disturber: Disturber;
  atOnce: number;
  /** Counts the scenarios that completed. */
  ended: number;
}

/**
 * Plays the scenarios, some of them at the same time. Messages take time, so a scenario may fail because a short wait
 * times out or a run has ended. Its histories are checked like the others.
 */
async function playAll(plays: Plays, scenarios: readonly Scenario[]): Promise<void> {
  const { harness, disturber, atOnce } = plays;
  const failed: string[] = [];
  const gaveUp: string[] = [];
  await runInParallel([...scenarios], atOnce, async (scenario) => {
    const late = new AbortController();
    const tooLong = sleep(LONGEST_PLAY_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`waited in vain: not over after ${LONGEST_PLAY_MS} ms`);
    });
    await Promise.race([play(harness, disturber, scenario), tooLong]).catch((error: unknown) => {
      const says = `${scenario.name}: ${String(error).slice(0, 400)} ${String((error as Error).cause ?? '')}`;
      const isOfTime = error instanceof WorkflowNotFoundError || /waited in vain|query timed out/.test(says);
      (isOfTime ? gaveUp : failed).push(says);
    });
    late.abort();
  });
  await disturber.settle();
  if (gaveUp.length) console.log(`# gave up: ${gaveUp.join('; ')}`);
  assert.deepEqual(failed, []);
  plays.ended += scenarios.length - gaveUp.length;
}

async function assertEachReplays({ harness, disturber, ended }: Plays): Promise<void> {
  assert.ok(ended > 0, 'no scenario came to its end');
  assert.deepEqual(await replay(fetchHistories(harness, disturber)), []);
  disturber.rests.clear();
}

for (const { title, worker, apart, atOnce } of [
  { title: 'with a cache', worker: {}, apart: 1, atOnce: 6 },
  // Without a cache the worker replays the whole history for each message, one task at a time.
  { title: 'that plays each task from the start', worker: { maxCachedWorkflows: 0 }, apart: 4, atOnce: 2 },
]) {
  describe(`a run in a worker ${title}`, () => {
    let harness: Harness;
    let disturber: Disturber;
    before(async () => {
      harness = await startHarness({
        ...{ proving: true, withoutWorker: true },
        env: { SUBMIT_TIMEOUT_MS: '15000', GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000' },
      });
      disturber = new Disturber(harness.client);
      Object.assign(harness.config.worker, worker);
      interceptActivities(() => disturber.ofActivities);
      await harness.startWorker();
    });
    after(async () => {
      await harness?.close();
      mock.restoreAll();
    });

    for (let part = 0; part < PARTS; part++) {
      test(`completes and replays although it gets messages at each of its waits: part ${part + 1}`, async (t) => {
        disturber.messages = ['query', 'refusedUpdate', 'signal', 'refusedUpdate', 'acceptedUpdate'];
        const some = everyNth(RECORDED_SCENARIOS, PARTS * apart, part * apart);
        const before = disturber.sent;
        const plays = { harness, disturber, atOnce, ended: 0 };
        await playAll(plays, some);
        t.diagnostic(`${disturber.sent - before} messages`);
        assert.ok(disturber.sent - before > 20 * some.length);
        await assertEachReplays(plays);
      });
    }

    test('continues as new at any count of events although it refuses an update, and replays', async () => {
      disturber.messages = ['refusedUpdate'];
      const plays = { harness, disturber, atOnce, ended: 0 };
      for (let count = FEWEST_EVENTS; count <= MOST_EVENTS; count += apart) {
        Object.assign(harness.config.protocol, { handOverAfterEvents: count });
        const some = everyNth(RECORDED_SCENARIOS, SCENARIOS_APART, count);
        await playAll(plays, some);
      }
      await assertEachReplays(plays);
    });
  });
}

function everyNth<T>(items: readonly T[], n: number, offset = 0): T[] {
  return items.filter((_, index) => index % n === offset % n);
}
