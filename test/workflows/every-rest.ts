/**
 * Every scenario once more, with a message at each point where its run rests: a refused update, a query, an accepted update
 * or a signal. Each history of the chain must replay, also where the run is due to hand over at any count of events, and
 * where a worker without a cache plays each task from the start. Run by hand, `npx node --test test/workflows/every-rest.ts`:
 * it takes some ten minutes, and how many rests it meets depends on the machine.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { inParallel } from '../../src/base/in-parallel.ts';
import { type Harness, type JourneyHandle, startHarness } from '../support/journey-harness.ts';
import { RECORDED_SCENARIOS, type Scenario, type Stage } from '../support/scenarios.ts';
import { assertAllReplay } from '../support/temporal.ts';

const AT_ONCE = 3;
const LOOK_EVERY_MS = 4;
/** A run that a scenario leaves open is disturbed for so long. */
const OPEN_FOR_MS = 400;
const MOST_DISTURBANCES = 40;
/** Counts of events at which runs hand over. Below the fewest, a run would hand over before it has done anything. */
const [FEWEST_EVENTS, MOST_EVENTS, EVENTS_STEP] = [9, 45, 3];
/** Each count is played with a part of the scenarios, and each scenario with several counts. */
const SHARES_OF_SCENARIOS = 5;
/** Short ones of each kind of wait: all 88 take an hour. */
const SCENARIOS = RECORDED_SCENARIOS.filter(({ name }) =>
  [
    'lendingJourney-completed',
    'lendingJourney-waitingAtGate',
    'lendingJourney-withdrawn',
    'lendingJourney-cancelled',
    'lendingJourney-changesFound',
    'lendingJourney-shareDenied',
    'lendingJourney-shareRevoked',
    'lendingJourney-grantTakenBack',
    'lendingJourney-revokedAfterPosting',
    'lendingJourney-requestedShare',
    'lendingJourney-abandoned',
    'lendingJourney-amended',
    'creditReport-answered',
    'shareReport-posted',
    'shareReport-denied',
  ].includes(name),
);
const ENV = { SUBMIT_TIMEOUT_MS: '15000', GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000' };

/** Messages that change nothing which a scenario waits for. */
const DISTURBANCES = {
  refusedUpdate: (handle: WorkflowHandle) => handle.executeUpdate('withdraw', { args: [{}] }),
  query: (handle: WorkflowHandle) => handle.query('status'),
  acceptedUpdate: (handle: WorkflowHandle, index: number) =>
    handle.executeUpdate('recordConsent', { args: [denial(handle, index)] }),
  signal: (handle: WorkflowHandle, index: number) => handle.signal('nobodyKnows', { index }),
} satisfies Record<string, (handle: WorkflowHandle, index: number) => Promise<unknown>>;
type Disturbance = keyof typeof DISTURBANCES;

/** Of a share that the journey does not have. */
function denial({ workflowId }: WorkflowHandle, index: number): object {
  return {
    ...{ journeyId: workflowId.slice('journey-'.length), shareId: `NONE-${index}`, applicantId: '1A' },
    ...{ consentId: `NONE-${index}`, decision: 'denied', decidedAt: new Date(Date.now() - 1_000).toISOString() },
    secondaryUser: { endUserCode: 'EU998' },
  };
}

/** Disturbs every run that a scenario starts, each time that it has come to rest after something new. */
class Disturber {
  readonly started = new Map<string, WorkflowHandle>();
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  readonly #disturbance: Disturbance;
  sent = 0;

  constructor(disturbance: Disturbance) {
    this.#disturbance = disturbance;
  }

  stageOf(harness: Harness): Stage {
    const { workflow } = harness.client;
    const noted = new Proxy(workflow, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        if (member !== 'start') return value.bind(target);
        return async (...args: Parameters<typeof workflow.start>) =>
          this.note(harness.client, await workflow.start(...args));
      },
    });
    const client = new Proxy(harness.client, {
      get: (target, member) => (member === 'workflow' ? noted : Reflect.get(target, member, target)),
    });
    return {
      ...{ client, config: harness.config },
      start: async (input) => this.note(harness.client, await harness.start(input)) as JourneyHandle,
    };
  }

  note<H extends WorkflowHandle>({ workflow }: Client, handle: H): H {
    if (this.started.has(handle.workflowId)) return handle;
    this.started.set(handle.workflowId, handle);
    this.#loops.push(this.#disturb(workflow.getHandle(handle.workflowId)));
    return handle;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  async #disturb(handle: WorkflowHandle): Promise<void> {
    const kind = handle.workflowId.startsWith('journey-') ? this.#disturbance : withoutConsents(this.#disturbance);
    for (let index = 0, restedAt = ''; !this.#stop.signal.aborted && index < MOST_DISTURBANCES; ) {
      const rest = await restOf(handle);
      if (rest !== undefined && rest !== restedAt) {
        // It may be refused, or meet the run's end.
        await DISTURBANCES[kind](handle, index++).catch(() => undefined);
        this.sent++;
        // What this message has brought is no new rest.
        restedAt = (await restOf(handle)) ?? rest;
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
}

/** Where the run rests: its id and the length of its history; `undefined` while a task of it is under way. */
async function restOf(handle: WorkflowHandle): Promise<string | undefined> {
  // A busy server may refuse to say.
  const description = await handle.describe().catch(() => undefined);
  if (!description || description.raw.pendingWorkflowTask) return undefined;
  return `${description.runId} ${description.historyLength}`;
}

function withoutConsents(disturbance: Disturbance): Disturbance {
  return disturbance === 'acceptedUpdate' ? 'signal' : disturbance;
}

async function playDisturbed(harness: Harness, scenario: Scenario, disturbance: Disturbance): Promise<number> {
  const disturber = new Disturber(disturbance);
  const handle = await scenario.play(disturber.stageOf(harness));
  const latest = harness.client.workflow.getHandle(handle.workflowId);
  if ((await latest.describe()).status.name === 'RUNNING') await sleep(OPEN_FOR_MS);
  await disturber.stop();
  for (const started of disturber.started.values()) {
    await assertAllReplay(harness.client, {
      firstExecutionRunId: await firstRunOf(started),
      workflowId: started.workflowId,
    });
    await harness.client.workflow
      .getHandle(started.workflowId)
      .terminate()
      .catch(() => undefined);
  }
  return disturber.sent;
}

async function firstRunOf(handle: WorkflowHandle): Promise<string> {
  const { firstExecutionRunId } = handle as WorkflowHandle & { firstExecutionRunId?: string };
  return firstExecutionRunId ?? (await handle.describe()).runId;
}

async function playAll(harness: Harness, disturbance: Disturbance, scenarios: readonly Scenario[]): Promise<void> {
  const failed: string[] = [];
  let sent = 0;
  await inParallel([...scenarios], AT_ONCE, async (scenario) => {
    try {
      sent += await playDisturbed(harness, scenario, disturbance);
    } catch (error) {
      failed.push(`${scenario.name}: ${String(error).slice(0, 400)}`);
    }
  });
  assert.deepEqual(failed, []);
  assert.ok(sent > 0, 'no message met a rest');
}

for (const [title, worker] of [
  ['in a worker with a cache', {}],
  ['in a worker that plays each task from the start', { maxCachedWorkflows: 0 }],
] as const) {
  describe(`a run that is disturbed where it rests, ${title}`, () => {
    let harness: Harness;
    before(async () => {
      harness = await startHarness({ proving: true, env: ENV, withoutWorker: true });
      Object.assign(harness.config.worker, worker);
      await harness.startWorker();
    });
    after(() => harness?.close());
    for (const disturbance of Object.keys(DISTURBANCES) as Disturbance[]) {
      test(`by a ${disturbance}, replays and comes to its end`, () => playAll(harness, disturbance, SCENARIOS));
    }
    test('by a refused update, hands over at any count of events, replays and comes to its end', async () => {
      for (let count = FEWEST_EVENTS; count <= MOST_EVENTS; count += EVENTS_STEP) {
        Object.assign(harness.config.protocol, { handOverAfterEvents: count });
        const some = SCENARIOS.filter((_, index) => index % SHARES_OF_SCENARIOS === count % SHARES_OF_SCENARIOS);
        await playAll(harness, 'refusedUpdate', some);
      }
    });
  });
}
