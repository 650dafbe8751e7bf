/**
 * The deployment and version of a worker. A worker without a deployment name is unversioned. Temporal's Worker
 * Controller gives its workers both names in variables of its own, and these stand above ours: a worker that polled
 * under others would never be taken for the version that the controller waits for.
 */
import { defined } from '../base/defined.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** Temporal puts "." or ":" between the name and the build id. */
const DEPLOYMENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** `<Kubernetes namespace>/<name of the resource>`; both are DNS labels. */
const CONTROLLED_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A tag, a commit or the hex digits of a digest. */
const BUILD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Of a worker: `undefined` where `DEPLOYMENT_NAME` is not set, even if the image has a build id. */
export function readDeployment(reader: EnvironmentReader): DeploymentVersion | undefined {
  const { deploymentName, buildId } = readDeploymentNames(reader);
  if (deploymentName === undefined) return undefined;
  if (buildId === undefined) {
    const isControlled = reader.optional('TEMPORAL_DEPLOYMENT_NAME') !== undefined;
    if (isControlled) reader.report('TEMPORAL_WORKER_BUILD_ID', 'is required with TEMPORAL_DEPLOYMENT_NAME');
    else reader.report('BUILD_ID', 'is required with DEPLOYMENT_NAME');
  }
  return { deploymentName, buildId: buildId ?? '' };
}

/** Both names, each only where it is set. The controller's name never goes with the image's build id. */
export function readDeploymentNames(reader: EnvironmentReader): Partial<DeploymentVersion> {
  const controlled = reader.optional('TEMPORAL_DEPLOYMENT_NAME');
  if (controlled !== undefined) {
    if (!CONTROLLED_NAME.test(controlled) && !DEPLOYMENT_NAME.test(controlled)) {
      reader.report(
        'TEMPORAL_DEPLOYMENT_NAME',
        'must be a deployment name, or <namespace>/<name> as the controller has it',
      );
    }
    return defined({ deploymentName: controlled, buildId: readBuildId(reader, 'TEMPORAL_WORKER_BUILD_ID') });
  }
  const deploymentName = reader.optional('DEPLOYMENT_NAME');
  if (deploymentName !== undefined && !DEPLOYMENT_NAME.test(deploymentName) && !CONTROLLED_NAME.test(deploymentName)) {
    const rule = 'must be 1 to 64 letters, digits, dashes or underscores, or <namespace>/<name> of a controller';
    reader.report('DEPLOYMENT_NAME', rule);
  }
  return defined({ deploymentName, buildId: readBuildId(reader, 'BUILD_ID') });
}

function readBuildId(reader: EnvironmentReader, variable: string): string | undefined {
  const buildId = reader.optional(variable);
  if (buildId !== undefined && !BUILD_ID.test(buildId)) {
    reader.report(variable, 'must be 1 to 128 letters, digits, dots, dashes or underscores');
  }
  return buildId;
}
