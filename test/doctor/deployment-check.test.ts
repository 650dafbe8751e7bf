/** Tests the findings of `doctor` for the deployment state of a worker's version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { DoctorContext } from '../../src/doctor/check.ts';
import { createWorkerChecks, deploymentCheck } from '../../src/doctor/temporal-checks.ts';

/** `temporal.api.enums.v1.WorkerDeploymentVersionStatus` */
const STATUS = { inactive: 1, current: 2, ramping: 3, draining: 4, drained: 5 };

interface Deployment {
  /** The state of each version, by build id. */
  versions: Record<string, keyof typeof STATUS>;
  managerIdentity?: string;
  /** Whether unversioned workers poll. */
  unversioned?: true;
}

/** Runs the check for a worker with build id 2. */
function found({ versions, managerIdentity, unversioned }: Deployment) {
  const [current] = Object.entries(versions).find(([, state]) => state === 'current') ?? [];
  const workerDeploymentInfo = {
    managerIdentity,
    routingConfig: current === undefined ? {} : { currentDeploymentVersion: { buildId: current } },
    versionSummaries: Object.entries(versions).map(([buildId, state]) => ({
      deploymentVersion: { buildId },
      status: STATUS[state],
    })),
  };
  const workflowService = {
    describeWorkerDeployment: async () => ({ workerDeploymentInfo }),
    describeTaskQueue: async () => ({ pollers: unversioned ? [{}] : [] }),
  };
  const context = {
    config: { worker: { deployment: { deploymentName: 'loans', buildId: '2' } } },
    temporal: async () => ({ workflowService, options: { namespace: 'default' } }),
  } as unknown as DoctorContext;
  return deploymentCheck.run(context, AbortSignal.timeout(5_000));
}

const cases: [string, Deployment, 'pass' | 'warn' | 'fail', RegExp?][] = [
  ['that is current', { versions: { 2: 'current' } }, 'pass'],
  [
    'that is not yet promoted',
    { versions: { 1: 'current', 2: 'inactive' } },
    'pass',
    /1 gets the work until `temporal worker deployment set-current-version .* --build-id 2`/,
  ],
  ['that drains', { versions: { 2: 'draining', 3: 'current' } }, 'pass'],
  ['that has drained', { versions: { 2: 'drained', 3: 'current' } }, 'pass'],
  [
    'that is inactive while no version is current',
    { versions: { 1: 'drained', 2: 'inactive' } },
    'fail',
    /^`temporal worker deployment set-current-version .* --build-id 2` makes it current$/m,
  ],
  [
    'that a controller promotes',
    { versions: { 2: 'inactive' }, managerIdentity: 'the-controller' },
    'fail',
    /^the-controller makes it current$/m,
  ],
  [
    'that waits beside unversioned workers',
    { versions: { 2: 'inactive' }, unversioned: true },
    'pass',
    /an unversioned worker gets the work until/,
  ],
  ['that ramps', { versions: { 1: 'current', 2: 'ramping' } }, 'warn'],
  ['without pollers', { versions: { 1: 'current' } }, 'warn'],
];
for (const [what, deployment, status, told = /^/] of cases) {
  test(`the deployment check yields ${status} for a version ${what}`, async () => {
    const finding = await found(deployment);
    assert.equal(finding.status, status);
    assert.match(`${finding.detail}\n${finding.toDo}`, told);
  });
}

interface Polls {
  /** The build id of the current version; absent where unversioned workers get the work. */
  current?: string;
  /** The build ids of those that poll; an empty one is unversioned. */
  pollers: string[];
}

function foundOfWorkers({ current, pollers }: Polls) {
  const toVersion = (buildId: string) => ({ deploymentName: 'loans', buildId });
  const answer = {
    versioningInfo: current === undefined ? {} : { currentDeploymentVersion: toVersion(current) },
    pollers: pollers.map((buildId) => ({
      lastAccessTime: msToTs(Date.now()),
      ...(buildId && { deploymentOptions: toVersion(buildId) }),
    })),
  };
  const context = {
    config: { taskQueue: 'q' },
    temporal: async () => ({ workflowService: { describeTaskQueue: async () => answer }, options: {} }),
  } as unknown as DoctorContext;
  const [check = assert.fail()] = createWorkerChecks([]);
  return check.run(context, AbortSignal.timeout(5_000));
}

const polling: [string, Polls, 'pass' | 'fail', RegExp?][] = [
  ['unversioned, as the only ones', { pollers: [''] }, 'pass'],
  ['of the current version, beside others', { current: '2', pollers: ['', '1', '2'] }, 'pass'],
  ['unversioned, where a version gets the work', { current: '1', pollers: ['', '2'] }, 'fail', /none .* loans 1: jour/],
  ['of a version, where none is current', { pollers: ['1'] }, 'fail', /none .* unversioned: journeys/],
];
for (const [what, polls, status, told = /^/] of polling) {
  test(`the check of workers yields ${status} for workers ${what}`, async () => {
    const finding = await foundOfWorkers(polls);
    assert.equal(finding.status, status);
    assert.match(finding.detail, told);
  });
}
