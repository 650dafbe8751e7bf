/** Whether the version that this configuration names gets any work. docs/versioning.md */
import { describeDeployment, promotionCommand, stateIn } from '../../temporal/worker-deployment.ts';
import type { Check } from './check.ts';
import { fail, pass, warn } from './finding.ts';

export const deploymentCheck: Check = {
  name: 'deployment',
  needs: ['TEMPORAL_', 'DEPLOYMENT_NAME', 'BUILD_ID'],
  async run({ config, temporal }) {
    const { deployment } = config.worker;
    if (!deployment) return pass('workers are unversioned: DEPLOYMENT_NAME is not set');
    const client = await temporal();
    const { deploymentName, buildId } = deployment;
    const view = await describeDeployment(client.workflowService, client.options.namespace, deploymentName);
    const state = stateIn(view, buildId);
    const told = `${deploymentName} ${buildId} is ${state}`;
    if (state === 'current') return pass(told);
    const current = view?.currentBuildId;
    const who = view?.manager ?? `\`${promotionCommand(deployment)}\``;
    if (current === undefined) {
      return fail(`${told}, and no version is current: journeys stand still`, `${who} makes it current`);
    }
    // Looked at before it is promoted, and while it drains: both are as they should be.
    if (state === 'inactive') return pass(`${told}: ${current} gets the work until ${who} makes this one current`);
    if (state === 'draining' || state === 'drained') return pass(`${told}: ${current} gets the work`);
    if (state === 'ramping') return warn(told, `${who} makes it current once it has shown that it works`);
    return warn(`${told}: none of its workers has polled yet; ${current} gets the work`, 'start its workers');
  },
};
