import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { variablesOf } from './problems.ts';

describe('the deployment of a worker', () => {
  it('is absent without a deployment name, even if the image has a build id', () => {
    assert.equal(loadConfig({ BUILD_ID: '1.5.0' }).worker.deployment, undefined);
  });

  it('consists of a name and a build id', () => {
    const { deployment } = loadConfig({ DEPLOYMENT_NAME: 'loans-uat', BUILD_ID: '1.5.0-a1b2c3' }).worker;
    assert.deepEqual(deployment, { deploymentName: 'loans-uat', buildId: '1.5.0-a1b2c3' });
  });

  it('needs both, without the separators that Temporal puts between them', () => {
    assert.deepEqual(
      variablesOf(() => loadConfig({ DEPLOYMENT_NAME: 'loans' })),
      ['BUILD_ID'],
    );
    assert.deepEqual(
      variablesOf(() => loadConfig({ DEPLOYMENT_NAME: 'loans.uat', BUILD_ID: 'a:b' })),
      ['DEPLOYMENT_NAME', 'BUILD_ID'],
    );
  });

  it('comes from the controller’s variables before those of the image and the configuration', () => {
    const env = { DEPLOYMENT_NAME: 'loans', BUILD_ID: '1.5.0', TEMPORAL_DEPLOYMENT_NAME: 'loans-prod/worker' };
    const { deployment } = loadConfig({ ...env, TEMPORAL_WORKER_BUILD_ID: '1.5.0-3f2a' }).worker;
    assert.deepEqual(deployment, { deploymentName: 'loans-prod/worker', buildId: '1.5.0-3f2a' });
    // A controller waits for its own build id, so the build id of the image is not enough.
    assert.deepEqual(
      variablesOf(() => loadConfig(env)),
      ['TEMPORAL_WORKER_BUILD_ID'],
    );
    assert.deepEqual(
      variablesOf(() => loadConfig({ ...env, TEMPORAL_DEPLOYMENT_NAME: 'a/b/c', TEMPORAL_WORKER_BUILD_ID: 'a:b' })),
      ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'],
    );
  });
});
