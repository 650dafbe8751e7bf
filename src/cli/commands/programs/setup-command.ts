import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { LedgerIdentity } from '../../../ledger/records.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, documentLines, type Output } from '../../output/output.ts';
import type { SearchAttributeSetup } from '../../output/search-attribute-setup.ts';
import { viewLines } from '../../output/temporal-ui-views.ts';
import { environmentWith } from './worker-command.ts';

/** The first version of a deployment gets the work at once; a later one waits until an operator makes it current. */
interface FirstVersion {
  deploymentName: string;
  buildId: string;
  /** The command that makes it current. */
  promotion: string;
  currentBuildId?: string;
  /** Why the server did not make it current. */
  reason?: string;
}

interface SetupOptions extends ServerOptions {
  temporal: boolean;
  ledger: boolean;
}

export function registerSetupCommand(program: Command): void {
  const command = program
    .command('setup')
    .description(
      'prepare a Temporal namespace (search attributes, the first deployment version) and make the ledger; may be run again',
    )
    .option('--no-temporal', 'leave Temporal alone')
    .option('--no-ledger', 'leave the ledger alone');
  withExamples(withServerOptions(command), 'credit-journey setup');
  command.action(async (options: SetupOptions) => {
    const output = createOutput(options);
    const { searchAttributes, deployment } = options.temporal
      ? await withJourneys(options, (_journeys, _output, client) => setUpTemporal(client, options), {
          besideLedger: options.ledger,
          // `setup` registers names and versions: none of its payloads needs keys or a codec server.
          dataConverter: {},
        })
      : {};
    // Last, so that no failure can come between making the ledger and printing its id.
    const ledger = options.ledger ? await setUpLedger(output) : undefined;
    const document = omitUndefined({ ledger, searchAttributes, deployment });
    output.answer(document, () => [
      ...documentLines(document, output.width),
      ...(searchAttributes ? viewLines(output) : []),
    ]);
    if (searchAttributes && searchAttributes.missing.length > 0) process.exitCode = EXIT.needsPerson;
  });
}

async function setUpLedger(output: Output): Promise<LedgerIdentity> {
  const { loadLedgerAccess } = await import('../../../config/ledger.ts');
  const access = loadLedgerAccess(process.env, { needsId: false });
  const [{ openLedger }, { openKeyRing }] = await Promise.all([
    import('../../../ledger/open-ledger.ts'),
    import('../../../protection/keys/key-ring.ts'),
  ]);
  const { url, expectedId } = access.ledger;
  const ledger = await openLedger({
    url,
    environment: access.environment,
    keyRing: await openKeyRing(access),
    create: true,
    migrate: true,
    onProgress: (step) => output.progress(step),
    ...omitUndefined({ expectedId }),
  });
  await ledger.close();
  return ledger.identity;
}

async function setUpTemporal(
  client: Client,
  options: ServerOptions,
): Promise<{ searchAttributes: SearchAttributeSetup; deployment: FirstVersion | undefined }> {
  const { requireNamespace, registerSearchAttributes } = await import('../../output/search-attribute-setup.ts');
  await requireNamespace(client);
  const searchAttributes = await registerSearchAttributes(client);
  return { searchAttributes, deployment: await setUpDeployment(client, options) };
}

/** Does nothing if the environment names no version. It never replaces a version that is current already. */
async function setUpDeployment(
  { workflowService, options: { namespace } }: Client,
  options: ServerOptions,
): Promise<FirstVersion | undefined> {
  const [{ loadDeploymentNames }, { describeDeployment, promote, promotionCommand, PromotionRefusedError }] =
    await Promise.all([import('../../../config/config.ts'), import('../../../temporal/worker-deployment.ts')]);
  const { deploymentName, buildId } = loadDeploymentNames(environmentWith(options));
  if (deploymentName === undefined || buildId === undefined) return undefined;
  const version = { deploymentName, buildId, promotion: promotionCommand({ deploymentName, buildId }) };
  const before = await describeDeployment(workflowService, namespace, deploymentName);
  if (before?.currentBuildId !== undefined) return { ...version, currentBuildId: before.currentBuildId };
  // It waits for the workers of the first version, and then promotes it.
  if (before?.manager !== undefined) return { ...version, reason: `${before.manager} alone promotes its versions.` };
  try {
    await promote(workflowService, namespace, version, { allowNoPollers: true });
    return { ...version, currentBuildId: buildId };
  } catch (error) {
    if (!(error instanceof PromotionRefusedError)) throw error;
    return { ...version, reason: error.message };
  }
}
