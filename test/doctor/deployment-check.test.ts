/** What `doctor` says of a version, by where it stands among the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DoctorContext } from '../../src/doctor/check.ts';
import { deploymentCheck } from '../../src/doctor/temporal-checks.ts';

/** `temporal.api.enums.v1.WorkerDeploymentVersionStatus` */
const STATUS = { inactive: 1, current: 2, ramping: 3, draining: 4, drained: 5 };

interface Deployment {
  /** By build id. */
  versions: Record<string, keyof typeof STATUS>;
  managerIdentity?: string;
}

/** Of the build 2. */
function found({ versions, managerIdentity }: Deployment) {
  const [current] = Object.entries(versions).find(([, state]) => state === 'current') ?? [];
  const workerDeploymentInfo = {
    managerIdentity,
    routingConfig: current === undefined ? {} : { currentDeploymentVersion: { buildId: current } },
    versionSummaries: Object.entries(versions).map(([buildId, state]) => ({
      deploymentVersion: { buildId },
      status: STATUS[state],
    })),
  };
  const workflowService = { describeWorkerDeployment: async () => ({ workerDeploymentInfo }) };
  const context = {
    config: { worker: { deployment: { deploymentName: 'loans', buildId: '2' } } },
    temporal: async () => ({ workflowService, options: { namespace: 'default' } }),
  } as unknown as DoctorContext;
  return deploymentCheck.run(context, AbortSignal.timeout(5_000));
}

test('a version passes before its promotion, while it drains and when it is current', async () => {
  const waits = await found({ versions: { 1: 'current', 2: 'inactive' } });
  assert.equal(waits.status, 'pass');
  assert.match(waits.detail, /1 gets the work until `temporal worker deployment set-current-version /);
  for (const state of ['draining', 'drained'] as const) {
    assert.equal((await found({ versions: { 2: state, 3: 'current' } })).status, 'pass');
  }
  assert.equal((await found({ versions: { 2: 'current' } })).status, 'pass');
});

test('a deployment without a current version fails, and the finding names who can set it', async () => {
  const own = await found({ versions: { 1: 'drained', 2: 'inactive' } });
  assert.equal(own.status, 'fail');
  assert.match(own.toDo ?? '', /^`temporal worker deployment set-current-version .* --build-id 2` makes it current$/);
  const managed = await found({ versions: { 2: 'inactive' }, managerIdentity: 'the-controller' });
  assert.deepEqual([managed.status, managed.toDo], ['fail', 'the-controller makes it current']);
});

test('a ramping version or a version without pollers is a warning', async () => {
  assert.equal((await found({ versions: { 1: 'current', 2: 'ramping' } })).status, 'warn');
  assert.equal((await found({ versions: { 1: 'current' } })).status, 'warn');
});
