import type { Command } from 'commander';
import type { CreditJourneys } from '../client.ts';
import type { LedgerIdentity } from '../ledger/port.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { EXIT } from './exit-codes.ts';
import { withJourneys } from './journey-action.ts';
import { createOutput, type Output, wrap } from './output.ts';
import type { SearchAttributeSetup } from './search-attribute-setup.ts';

interface SetupOptions extends ServerOptions {
  temporal: boolean;
  ledger: boolean;
}

export function registerSetupCommand(program: Command): void {
  const command = program
    .command('setup')
    .description('prepare a Temporal namespace (search attributes) and make the ledger; may be run again')
    .option('--no-temporal', 'leave Temporal alone')
    .option('--no-ledger', 'leave the ledger alone');
  withExamples(withServerOptions(command), 'credit-journey setup');
  command.action(async (options: SetupOptions) => {
    const output = createOutput(options);
    const searchAttributes = options.temporal ? await withJourneys(options, setUpTemporal) : undefined;
    // Last, so that nothing can come between the ledger's making and the printing of its id.
    const ledger = options.ledger ? await setUpLedger() : undefined;
    const document = { ...(ledger ? { ledger } : {}), ...(searchAttributes ? { searchAttributes } : {}) };
    output.answer(document, () => [
      ...(ledger ? ledgerLines(ledger, output) : []),
      ...(searchAttributes ? searchAttributeLines(searchAttributes, output) : []),
    ]);
    if (searchAttributes && searchAttributes.missing.length > 0) process.exitCode = EXIT.needsPerson;
  });
}

async function setUpLedger(): Promise<LedgerIdentity> {
  const { loadLedgerAccess } = await import('../config.ts');
  const access = loadLedgerAccess(process.env, { needsId: false });
  const [{ openLedger }, { openKeyRing }] = await Promise.all([
    import('../ledger/open-ledger.ts'),
    import('../protection/open-key-ring.ts'),
  ]);
  const { url, expectedId } = access.ledger;
  const ledger = await openLedger({
    url,
    environment: access.environment,
    keyRing: await openKeyRing(access),
    create: true,
    ...(expectedId === undefined ? {} : { expectedId }),
  });
  await ledger.close();
  return ledger.identity;
}

async function setUpTemporal({ client }: CreditJourneys): Promise<SearchAttributeSetup> {
  const { requireNamespace, registerSearchAttributes } = await import('./search-attribute-setup.ts');
  await requireNamespace(client);
  return registerSearchAttributes(client);
}

function ledgerLines({ ledgerId, environment }: LedgerIdentity, { colors, width }: Output): string[] {
  return [
    colors.green(`the ${environment} ledger is ready`),
    ...wrap('Put its id into the workers’ environment, so that they never write to another:', width, '  '),
    `  LEDGER_ID=${ledgerId}`,
  ];
}

function searchAttributeLines({ registered, missing, reason }: SearchAttributeSetup, output: Output): string[] {
  const { colors, width } = output;
  if (missing.length === 0) {
    return [colors.green('the search attributes are registered'), ...wrap(registered.join(', '), width, '  ')];
  }
  return [
    colors.yellow(`search attributes are missing: ${missing.map(({ name }) => name).join(', ')}`),
    ...wrap(`${reason ?? ''} Journeys run without them, and cannot be searched by them.`.trim(), width, '  '),
    '  Someone who may can register them:',
    ...missing.map(({ name, type }) => `    temporal operator search-attribute create --name ${name} --type ${type}`),
  ];
}
