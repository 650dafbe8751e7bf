/** `credit-journey deploy`: which version of the workers gets the work. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowService } from '@temporalio/client';
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { DeploymentVersion, DeploymentView } from '../../../temporal/worker-deployment.ts';
import { type ServerOptions, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output, table } from '../../output/output.ts';
import { environmentWith } from './worker-command.ts';

interface DeployOptions extends ServerOptions {
  deployment?: string;
  buildId?: string;
}

interface PromoteOptions extends DeployOptions {
  wait?: string;
  ignoreMissingQueues?: boolean;
}

/** New workers have polled each of their queues by then. */
const DEFAULT_WAIT_S = 30;

const RETRY_EVERY_MS = 500;

export function registerDeployCommand(program: Command): void {
  const deploy = program.command('deploy').description('say which version of the workers gets the work, or see it');
  const promoteCommand = withDeployment(deploy.command('promote'))
    .description(
      'make a version current: all new runs, and running journeys, go to it; refused where a controller does that',
    )
    .option('--build-id <id>', 'the version (default: BUILD_ID)')
    .option('--wait <seconds>', `how long its workers may take to appear (default: ${DEFAULT_WAIT_S})`)
    .option('--ignore-missing-queues', 'although a queue of the current version would have no worker');
  withExample(withServerOptions(promoteCommand), 'credit-journey deploy promote --deployment loans --build-id 1.5.0');
  promoteCommand.action(promoteVersion);
  const statusCommand = withDeployment(deploy.command('status')).description(
    'list the versions: which one is current, which may be taken down; 3 if none is current',
  );
  withExample(withServerOptions(statusCommand), 'credit-journey deploy status --deployment loans');
  statusCommand.action(showVersions);
}

/** Those of `dev` are unversioned. */
function withExample(command: Command, example: string): Command {
  return command.addHelpText('after', `\nExample, for workers with DEPLOYMENT_NAME=loans:\n  $ ${example}`);
}

function withDeployment(command: Command): Command {
  return command.option('--deployment <name>', 'the deployment (default: DEPLOYMENT_NAME)');
}

async function promoteVersion(options: PromoteOptions): Promise<void> {
  const waitMs = waitOf(options);
  await withServer(options, async (service, namespace, { deploymentName, buildId }) => {
    if (buildId === undefined) throw new UsageError('--build-id or BUILD_ID must name the version');
    const { promote, PromotionRefusedError } = await import('../../../temporal/worker-deployment.ts');
    const version: DeploymentVersion = { deploymentName, buildId };
    const ignoreMissingTaskQueues = options.ignoreMissingQueues ?? false;
    const endsAt = performance.now() + waitMs;
    for (;;) {
      try {
        const { previousBuildId } = await promote(service, namespace, version, { ignoreMissingTaskQueues });
        return showPromotion(version, previousBuildId, createOutput(options));
      } catch (error) {
        if (!(error instanceof PromotionRefusedError) || performance.now() >= endsAt) throw error;
      }
      await delay(RETRY_EVERY_MS);
    }
  });
}

function showPromotion(version: DeploymentVersion, previousBuildId: string | undefined, output: Output): void {
  const { deploymentName, buildId } = version;
  const before = previousBuildId === undefined ? {} : { previousBuildId };
  output.answer({ ...version, ...before }, () => [
    output.colors.green(`${buildId} is the current version of ${deploymentName}`),
    ...(previousBuildId === undefined || previousBuildId === buildId
      ? []
      : [`  before: ${previousBuildId}. Its workers may go once \`deploy status\` says drained.`]),
  ]);
}

async function showVersions(options: DeployOptions): Promise<void> {
  await withServer(options, async (service, namespace, { deploymentName }) => {
    const { describeDeployment } = await import('../../../temporal/worker-deployment.ts');
    const view = await describeDeployment(service, namespace, deploymentName);
    const output = createOutput(options);
    output.answer({ deploymentName, ...(view ?? { versions: [] }) }, () => statusLines(deploymentName, view, output));
    if (view?.currentBuildId === undefined) process.exitCode = EXIT.needsPerson;
  });
}

function statusLines(deploymentName: string, view: DeploymentView | null, output: Output): string[] {
  if (!view) return [output.colors.yellow(`no worker has ever polled as ${deploymentName}`)];
  const current = view.currentBuildId === undefined ? ['no version is current: none of them gets new runs'] : [];
  return [
    ...table(
      view.versions.map(({ buildId, state }) => [buildId, state]),
      output.width,
    ),
    ...current.map((line) => output.colors.yellow(line)),
    ...(view.manager === undefined ? [] : [`promoted by ${view.manager} alone`]),
  ];
}

/** Needs neither keys nor a ledger. */
async function withServer(
  options: DeployOptions,
  act: (
    service: WorkflowService,
    namespace: string,
    names: { deploymentName: string; buildId?: string },
  ) => Promise<void>,
): Promise<void> {
  const { loadDeploymentAccess } = await import('../../../config/config.ts');
  const { temporal, deploymentName, buildId } = loadDeploymentAccess({
    ...environmentWith(options),
    ...defined({
      DEPLOYMENT_NAME: options.deployment,
      BUILD_ID: options.buildId,
      // What is said here stands above a controller's variables, too.
      TEMPORAL_DEPLOYMENT_NAME: options.deployment === undefined ? undefined : '',
      TEMPORAL_WORKER_BUILD_ID: options.buildId,
    }),
  });
  if (deploymentName === undefined) throw new UsageError('--deployment or DEPLOYMENT_NAME must name the deployment');
  const [{ connectTo }, { translatedServerError }] = await Promise.all([
    import('../../../client/connection/connect-options.ts'),
    import('../../../client/connection/error-translation.ts'),
  ]);
  const connection = await connectTo(temporal, {});
  try {
    const names = { deploymentName, ...defined({ buildId }) };
    await act(connection.workflowService, temporal.namespace, names);
  } catch (error) {
    throw translatedServerError(error);
  } finally {
    await connection.close();
  }
}

function waitOf({ wait }: PromoteOptions): number {
  if (wait === undefined) return DEFAULT_WAIT_S * 1000;
  if (/^\d{1,4}$/.test(wait)) return Number(wait) * 1000;
  throw new UsageError('--wait must be a whole number of seconds');
}
