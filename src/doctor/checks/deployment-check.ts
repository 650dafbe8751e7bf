/** Whether the version that this configuration names gets any work. docs/versioning.md */
import { versionState } from '../../temporal/worker-deployment.ts';
import type { Check } from './check.ts';
import { fail, pass, warn } from './finding.ts';

export const deploymentCheck: Check = {
  name: 'deployment',
  needs: ['TEMPORAL_', 'DEPLOYMENT_NAME', 'BUILD_ID'],
  async run({ config, temporal }) {
    const { deployment } = config.worker;
    if (!deployment) return pass('workers are unversioned: DEPLOYMENT_NAME is not set');
    const client = await temporal();
    const state = await versionState(client.workflowService, client.options.namespace, deployment);
    const told = `${deployment.deploymentName} ${deployment.buildId} is ${state}`;
    if (state === 'current') return pass(told);
    if (state === 'ramping') return warn(told, '`credit-journey deploy promote` once it has shown that it works');
    return fail(`${told}: its workers get no new runs`, '`credit-journey deploy promote` makes it current');
  },
};
