import type { Command } from 'commander';
import type { ShareInput } from '../model/shapes.ts';
import { checkMessage } from './check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { showAnswer, withJourney } from './journey-action.ts';
import { given, readObject } from './json-input.ts';

interface ShareOptions extends ServerOptions {
  file?: string;
  shareId?: string;
  endUserCode?: string;
  endUser?: string;
  purpose?: string;
  reportOf?: string;
  awaitConsentFor?: string;
  consentValidFor?: string;
}

export function registerShareCommand(program: Command): void {
  const command = program
    .command('share')
    .description('request that the report be shared with a secondary user, once every applicant consents')
    .argument('<journeyId>')
    .option('--share-id <id>', 'the share’s own id')
    .option('--end-user-code <code>', 'the secondary user, by code')
    .option('--end-user <name>', 'the secondary user, by name')
    .option('--purpose <code>', 'permissible purpose code (default: the journey’s for SECONDUSE)')
    .option('--report-of <stage>', 'whose report (default: the last stage with a record)')
    .option('--await-consent-for <duration>', 'how long to wait for consent, such as P30D')
    .option('--consent-valid-for <duration>', 'how old a grant may be when it is used')
    .option('--file <path>', 'JSON of the share in place of options; - is standard input');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey share J-1001 --share-id S-2 --end-user-code EU789',
  );
  command.action(async (journeyId: string, options: ShareOptions) => {
    const share = {
      ...(await readObject(options.file)),
      ...given({
        shareId: options.shareId,
        endUserCode: options.endUserCode,
        endUser: options.endUser,
        permissiblePurposeCode: options.purpose,
        reportOf: options.reportOf,
        awaitConsentFor: options.awaitConsentFor,
        consentValidFor: options.consentValidFor,
      }),
    } as unknown as ShareInput;
    await checkMessage('requestShare', { journeyId, share });
    await withJourney(journeyId, options, async (journey, output) => {
      showAnswer(await journey.requestShare(share), output);
    });
  });
}
