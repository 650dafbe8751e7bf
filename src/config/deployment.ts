/** The deployment and version of a worker. A worker without a deployment name is unversioned. */
import { defined } from '../base/defined.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** Temporal puts "." or ":" between the name and the build id. */
const DEPLOYMENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** A tag, a commit or the hex digits of a digest. */
const BUILD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Of a worker: `undefined` where `DEPLOYMENT_NAME` is not set, even if the image has a build id. */
export function readDeployment(reader: EnvironmentReader): DeploymentVersion | undefined {
  const { deploymentName, buildId } = readDeploymentNames(reader);
  if (deploymentName === undefined) return undefined;
  if (buildId === undefined) reader.report('BUILD_ID', 'is required with DEPLOYMENT_NAME');
  return { deploymentName, buildId: buildId ?? '' };
}

/** Both names, each only where it is set. */
export function readDeploymentNames(reader: EnvironmentReader): Partial<DeploymentVersion> {
  const [deploymentName, buildId] = [reader.optional('DEPLOYMENT_NAME'), reader.optional('BUILD_ID')];
  if (deploymentName !== undefined && !DEPLOYMENT_NAME.test(deploymentName)) {
    reader.report('DEPLOYMENT_NAME', 'must be 1 to 64 letters, digits, dashes or underscores');
  }
  if (buildId !== undefined && !BUILD_ID.test(buildId)) {
    reader.report('BUILD_ID', 'must be 1 to 128 letters, digits, dots, dashes or underscores');
  }
  return defined({ deploymentName, buildId });
}
