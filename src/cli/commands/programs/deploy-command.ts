/** `credit-journey deploy`: which version of the workers gets the work. */
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

/** New workers have polled each of their queues by then, and a slow server has answered. */
const DEFAULT_WAIT_S = 30;

/** To connect, unless `--wait` is longer. */
const DEFAULT_TIMEOUT_MS = 5_000;

const STATUS_MS = 20_000;

export function registerDeployCommand(program: Command): void {
  const deploy = program.command('deploy').description('say which version of the workers gets the work, or see it');
  const promoteCommand = withDeployment(deploy.command('promote'))
    .description(
      'make a version current: all new runs, and running journeys, go to it; refused where a controller does that',
    )
    .option('--build-id <id>', 'the version (default: BUILD_ID)')
    .option(
      '--wait <seconds>',
      `how long its workers may take to appear, and Temporal to answer (default: ${DEFAULT_WAIT_S})`,
    )
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
  const access = await accessOf(options);
  const { deploymentName, buildId, temporal } = access;
  if (buildId === undefined) throw new UsageError('--build-id or BUILD_ID must name the version');
  const { NotPromotedError, promoteWithin } = await import('./promotion.ts');
  const startedAt = performance.now();
  // A server under load takes long for its first answer, too.
  const connecting = connected(access, Math.max(DEFAULT_TIMEOUT_MS, waitMs / 2)).catch((error: Error) => {
    throw new NotPromotedError(error.message);
  });
  await using server = await connecting;
  const version: DeploymentVersion = { deploymentName, buildId };
  const { previousBuildId } = await promoteWithin(server.connection, temporal.namespace, version, {
    withinMs: waitMs - (performance.now() - startedAt),
    ignoreMissingTaskQueues: options.ignoreMissingQueues ?? false,
  });
  showPromotion(version, previousBuildId, createOutput(options));
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
  const access = await accessOf(options);
  const { deploymentName, temporal } = access;
  const [{ describeDeployment }, { translatedServerError }] = await Promise.all([
    import('../../../temporal/worker-deployment.ts'),
    import('../../../client/connection/error-translation.ts'),
  ]);
  await using server = await connected(access);
  const { workflowService } = server.connection;
  const asking = server.connection.withDeadline(Date.now() + STATUS_MS, () =>
    describeDeployment(workflowService, temporal.namespace, deploymentName),
  );
  const view = await asking.catch((error: unknown) => {
    throw translatedServerError(error);
  });
  const output = createOutput(options);
  output.answer({ deploymentName, ...(view ?? { versions: [] }) }, () => statusLines(deploymentName, view, output));
  if (view?.currentBuildId === undefined) process.exitCode = EXIT.needsPerson;
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
async function accessOf(options: DeployOptions) {
  const { loadDeploymentAccess } = await import('../../../config/config.ts');
  const { deploymentName, ...access } = loadDeploymentAccess({
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
  return { deploymentName, ...access };
}

/** @throws what `connectTo` does */
async function connected({ temporal }: Awaited<ReturnType<typeof accessOf>>, connectTimeoutMs?: number) {
  const { connectTo } = await import('../../../client/connection/connect-options.ts');
  const connection = await connectTo(temporal, defined({ connectTimeoutMs }));
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

function waitOf({ wait }: PromoteOptions): number {
  if (wait === undefined) return DEFAULT_WAIT_S * 1000;
  if (/^\d{1,4}$/.test(wait)) return Number(wait) * 1000;
  throw new UsageError('--wait must be a whole number of seconds');
}
