import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { LedgerIdentity } from '../../../ledger/records.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output } from '../../output/output.ts';
import type { SearchAttributeSetup } from '../../output/search-attribute-setup.ts';

interface SetupOptions extends ServerOptions {
  temporal: boolean;
  ledger: boolean;
}

export function registerSetupCommand(program: Command): void {
  const command = program
    .command('setup')
    .description('register the search attributes in a Temporal namespace and create the ledger; may be run again')
    .option('--no-temporal', 'leave Temporal alone')
    .option('--no-ledger', 'leave the ledger alone');
  withExamples(withServerOptions(command), 'credit-journey setup');
  command.action(async (options: SetupOptions) => {
    const output = createOutput(options);
    const searchAttributes = options.temporal
      ? await withJourneys(options, (_journeys, _output, client) => setUpTemporal(client), {
          besideLedger: options.ledger,
          // `setup` registers names: none of its payloads needs keys or a codec server.
          dataConverter: {},
        })
      : undefined;
    // Last, so that no failure can come between making the ledger and printing its id.
    const ledger = options.ledger ? await setUpLedger(output) : undefined;
    output.answer(omitUndefined({ ledger, searchAttributes }));
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

async function setUpTemporal(client: Client): Promise<SearchAttributeSetup> {
  const { requireNamespace, registerSearchAttributes } = await import('../../output/search-attribute-setup.ts');
  await requireNamespace(client);
  return registerSearchAttributes(client);
}
