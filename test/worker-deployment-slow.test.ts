/** Worker Deployments on a real server: which version gets the tasks. A rolling deploy loses and doubles nothing. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { Config } from '../src/config/config.ts';
import { examine } from '../src/doctor/examine-installation.ts';
import { findTemporalBinary } from '../src/local/temporal/temporal-binaries.ts';
import { FAILURE_CONVERTER_PATH } from '../src/protection/payloads/data-converter.ts';
import {
  type DeploymentVersion,
  describeDeployment,
  formatPromotionCommand,
  isFleetPolling,
  type VersionState,
  watchDeployment,
} from '../src/temporal/worker-deployment.ts';
import { runWorker } from '../src/worker.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from './support/journey-harness.ts';
import { until } from './support/process-world.ts';
import { promote, versionState } from './support/promote.ts';
import { replay } from './support/temporal.ts';

const deploymentName = `loans-${randomUUID().slice(0, 8)}`;
const first = { deploymentName, buildId: '1' };
const second = { deploymentName, buildId: '2' };

let harness: Harness;
before(async () => {
  harness = await startHarness({
    env: { DEPLOYMENT_NAME: deploymentName, BUILD_ID: '1', GATEWAY_CONNECTIONS: '50' },
    sandbox: { latencyMs: 100 },
  });
});
after(() => harness?.close());

const service = () => harness.client.workflowService;
const namespace = () => harness.config.temporal.namespace;

function stateOf(version: DeploymentVersion): Promise<VersionState> {
  return versionState(service(), namespace(), version);
}

async function startedTasks(handle: JourneyHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return events?.filter(({ workflowTaskStartedEventAttributes: task }) => task).length ?? 0;
}

test('a deployment without a current version warns and gets no workflow tasks until an operator promotes a version', async (t) => {
  const said: [string, unknown][] = [];
  const write = (level: string) => (fields: object) => void said.push([level, (fields as { state?: string }).state]);
  let state: VersionState = 'unknown';
  const watch = watchDeployment({
    ...{ service: service(), namespace: namespace(), taskQueue: harness.config.taskQueue },
    ...{ version: first, askEveryMs: 50 },
    logger: { warn: write('warn'), info: write('info') },
    onAnswer: (answer) => {
      state = answer.state;
    },
  });
  t.after(() => watch.close());
  await until('its worker is known', async () => state === 'inactive');
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  const before = await describeDeployment(service(), namespace(), deploymentName);
  const versions = [{ buildId: '1', state: 'inactive' }];
  assert.deepEqual(before, { currentBuildId: undefined, manager: undefined, versions });
  assert.equal(await startedTasks(handle), 0);
  assert.equal(said.length, 1);
  assert.equal(said[0]?.[0], 'warn');
  assert.equal(await checkWorkers(), 'fail');

  const path = await findTemporalBinary();
  const [, ...args] = formatPromotionCommand(first).split(' ');
  const at = ['--address', harness.config.temporal.address, '--namespace', namespace(), '--yes'];
  await promisify(execFile)(path, [...args, ...at]);
  assert.equal((await handle.result()).outcome, 'completed');
  await until('the promotion is noticed', async () => state === 'current');
  assert.deepEqual(said[1], ['info', 'current']);
  assert.equal(await checkWorkers(), 'pass');
});

test('unversioned workers warn that they get no work while a version is current', async (t) => {
  const said: string[] = [];
  const answers: unknown[] = [];
  const watch = watchDeployment({
    ...{ service: service(), namespace: namespace(), taskQueue: harness.config.taskQueue, version: undefined },
    logger: { warn: (_: object, text?: string) => void said.push(text ?? ''), info: () => assert.fail() },
    onAnswer: (answer) => void answers.push(answer),
    askEveryMs: 50,
  });
  t.after(() => watch.close());
  await until('the server has answered twice', async () => answers.length >= 2);
  assert.deepEqual(answers[0], { state: 'inactive', hasCurrent: true });
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', new RegExp(`unversioned workers get no work .* ${deploymentName} 1$`));
});

/** What `doctor` finds about the workers of the first version. */
async function checkWorkers(): Promise<string | undefined> {
  const { checks } = await examine({ config: harness.config, problems: [] });
  return checks.find(({ check }) => check === 'workers')?.status;
}

test('a fleet counts as running when workers of the same version poll', async () => {
  const fleet = { namespace: namespace(), taskQueue: harness.config.taskQueue };
  assert.equal(await isFleetPolling(service(), { ...fleet, version: first }), true);
  assert.equal(await isFleetPolling(service(), { ...fleet, version: second }), false);
  assert.equal(await isFleetPolling(service(), { ...fleet, version: undefined }), false);
  assert.equal(await isFleetPolling(service(), { ...fleet, taskQueue: 'nobody-polls', version: first }), false);
});

test('a recordLateConsent run is pinned to its version, and a journey is not', async () => {
  const journey = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  await journey.result();
  const late = await harness.client.workflow.start('recordLateConsent', {
    workflowId: `late-${randomUUID()}`,
    taskQueue: harness.config.taskQueue,
    args: [{ consent: consentMessage(journey.workflowId.replace('journey-', ''), { applicantId: '1A' }) }],
  });
  await late.result();
  const behaviours = await Promise.all(
    [late, journey].map(async (handle) => {
      const { raw } = await handle.describe();
      return raw.workflowExecutionInfo?.versioningInfo?.behavior;
    }),
  );
  // `temporal.api.enums.v1.VersioningBehavior`
  assert.deepEqual(behaviours, [1, 2]);
});

test('in a rolling deploy 50 running journeys neither fail nor send twice, and every history replays', async () => {
  await promote(service(), namespace(), first);
  const start = () => harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
  const pass = (handle: JourneyHandle) =>
    update(handle, 'advance', { journeyId: handle.workflowId.replace('journey-', ''), to: 'PREAPP' });
  const code = await changedBundle();
  const atTheGate = await Promise.all(Array.from({ length: 20 }, start));
  await Promise.all(atTheGate.map((handle) => untilStatus(handle, ({ state }) => state === 'waitingAtGate')));
  const newWorker = await startSecondWorker(code);
  try {
    await until('the second version is known', async () => (await stateOf(second)) === 'inactive');
    const moving = await Promise.all(Array.from({ length: 30 }, start));
    // Their first attempts are in flight: the first version finishes them before it stops.
    await until('every queue of the second version is polled', () =>
      promote(service(), namespace(), second).then(
        () => true,
        () => false,
      ),
    );
    const stopped = harness.stopWorker();
    const running = [...atTheGate, ...moving];
    const late = await Promise.all(Array.from({ length: 5 }, start));
    await Promise.all([...running, ...late].map(pass));
    await stopped;
    const results = await Promise.all([...running, ...late].map((handle) => handle.result()));
    for (const { outcome } of results) assert.equal(outcome, 'completed');

    const own = new Set(results.flatMap(({ stages }) => stages.map(({ customerTraceNumber }) => customerTraceNumber)));
    assert.equal(own.size, 110);
    for (const route of ['requests', 'inquiries']) {
      const rows = (await (await fetch(`${harness.sandboxUrl}/_sandbox/${route}`)).json()) as {
        customerTraceNumber: string;
      }[];
      const numbers = rows.map(({ customerTraceNumber }) => customerTraceNumber).filter((number) => own.has(number));
      assert.equal(numbers.length, 110, `${route}: each exactly once`);
    }
    await assertReplay([...running, ...late], code);
  } finally {
    await newWorker.stop();
  }
});

async function changedBundle(): Promise<string> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath: file('../src/workflows/index.ts'),
    workflowInterceptorModules: [file('./support/changed-workflows/interceptors.ts')],
    failureConverterPath: FAILURE_CONVERTER_PATH,
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

async function startSecondWorker(code: string): Promise<{ stop(): Promise<void> }> {
  const workflowBundlePath = join(harness.dataDir, 'second-build.js');
  await writeFile(workflowBundlePath, code);
  const config: Config = {
    ...harness.config,
    worker: { ...harness.config.worker, deployment: second, workflowBundlePath },
  };
  const [stop, ready] = [new AbortController(), Promise.withResolvers<void>()];
  const done = runWorker(config, { signal: stop.signal, onReady: ready.resolve });
  done.catch(ready.reject);
  await ready.promise;
  return {
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}

/** Replays with the new code the runs that changed versions at a gate or on their way, and those that began with it. */
async function assertReplay(handles: JourneyHandle[], code: string): Promise<void> {
  const histories = await Promise.all(
    handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })),
  );
  const events = histories.map(({ history }) => history.events ?? []);
  const builds = events.map((one) =>
    one.flatMap(({ workflowTaskCompletedEventAttributes: task }) => task?.deploymentVersion?.buildId ?? []),
  );
  assert.ok(builds.filter((ids) => new Set(ids).size === 2).length >= 20, 'most have crossed over');
  const changed = events.filter((one) =>
    one.some(({ markerRecordedEventAttributes: marker }) => marker?.markerName === 'core_patch'),
  );
  assert.ok(changed.length >= 20, `${changed.length} have made the change`);
  assert.deepEqual(await replay(histories, { code }), []);
}
