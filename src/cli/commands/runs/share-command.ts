/**
 * `share`: shares a report with a secondary user, through its journey while that runs, and by a run of its own at any
 * other time.
 */
import type { Command } from 'commander';
import type { Replacing } from '../../../client.ts';
import type { ShareReportInput } from '../../../messages/inputs/share-report.ts';
import type { ShareInput } from '../../../messages/request-share.ts';
import { ownerOf } from '../../../model/owner-id.ts';
import { requireOwnerId, showAnswer, showStarted, withJourney, withJourneys } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given, readObject } from '../../output/json-input.ts';
import { OPTION_NAMES, refusedAsTyped } from '../../output/option-names.ts';

interface ShareOptions extends ServerOptions {
  file?: string;
  ended?: boolean;
  shareId?: string;
  endUserCode?: string;
  endUser?: string;
  purpose?: string;
  reportOf?: string;
  trace?: string;
  profile?: string;
  awaitConsentFor?: string;
  consentValidFor?: string;
  replaces?: string;
  by?: string;
  reason?: string;
  watch?: boolean;
}

export function registerShareCommand(program: Command): void {
  const command = program
    .command('share')
    .description('share a report with a secondary user, once its applicants consent')
    .argument('[id]', 'a journeyId, or pull:<pullId>; without one --file has the report')
    .option('--ended', 'the journey has ended: its report is shared by itself, from the ledger')
    .option('--share-id <id>', 'the share’s own id')
    .option('--end-user-code <code>', 'the secondary user, by code')
    .option('--end-user <name>', 'the secondary user, by name')
    .option('--purpose <code>', 'permissible purpose code (default: the running journey’s for SECONDUSE)')
    .option('--report-of <productCode>', 'whose report (default: of the running journey’s last stage with a record)')
    .option('--trace <customerTraceNumber>', 'by itself: which of several reports of that product')
    .option('--profile <name>', 'by itself: the gateway profile')
    .option('--await-consent-for <duration>', 'how long to wait for consent, such as P30D')
    .option('--consent-valid-for <duration>', 'how old a grant may be when it is used')
    .option('--replaces <shareId>', 'of a running journey: corrects this share, which is withdrawn')
    .option('--by <who>', 'with --replaces: who decides it')
    .option('--reason <text>', 'with --replaces: why')
    .option('--file <path>', 'JSON of the share in place of options; - is standard input')
    .option('--watch', 'by itself: show its progress until it ends or needs a person');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey share J-1001 --share-id S-2 --end-user-code EU789',
    'credit-journey pull --sample --pull-id P-1002 --watch',
    [
      'credit-journey share pull:P-1002 --report-of CR --share-id S-1002 \\',
      '      --end-user-code EU789 --purpose 02',
    ].join('\n'),
  );
  command.action(async (id: string | undefined, options: ShareOptions) => {
    if (id !== undefined) requireOwnerId(id);
    const isOfJourney = id !== undefined && ownerOf(id).kind === 'journey' && !options.ended;
    if (isOfJourney) await shareOfJourney(id, options);
    else process.exitCode = await shareByItself(id, options);
  });
}

async function shareOfJourney(journeyId: string, options: ShareOptions): Promise<void> {
  if (options.trace !== undefined || options.profile !== undefined || options.watch) {
    throw new UsageError('--trace, --profile and --watch go with --ended, or with a pull’s report');
  }
  const share = {
    ...(await sharedOptions(options)),
    ...given({ reportOf: options.reportOf }),
  } as unknown as ShareInput;
  const { replaces, by, reason } = options;
  const signed = given({ replaces, by, reason });
  await checkMessage('requestShare', { journeyId, share, ...signed }, { ...options });
  const replacing = replaces === undefined ? {} : { replacing: signed as unknown as Replacing };
  await withJourney(journeyId, options, async (journey, output) => {
    try {
      showAnswer(await journey.requestShare(share, replacing), output);
    } catch (error) {
      const isUnknown = error instanceof Error && error.name === 'JourneyNotFoundError';
      if (isUnknown) output.note('if it has ended, and its history is gone: --ended shares its report from the ledger');
      throw refusedAsTyped(error, OPTION_NAMES.requestShare, { ...options });
    }
  });
}

async function sharedOptions(options: ShareOptions): Promise<Record<string, unknown>> {
  return {
    ...(await readObject(options.file)),
    ...given({
      shareId: options.shareId,
      endUserCode: options.endUserCode,
      endUser: options.endUser,
      permissiblePurposeCode: options.purpose,
      awaitConsentFor: options.awaitConsentFor,
      consentValidFor: options.consentValidFor,
    }),
  };
}

/** Returns the exit code. */
async function shareByItself(id: string | undefined, options: ShareOptions): Promise<number> {
  if (options.replaces !== undefined || options.by !== undefined || options.reason !== undefined) {
    throw new UsageError('--replaces goes with a running journey: withdraw a share by itself, and start another');
  }
  const input = {
    ...(await sharedOptions(options)),
    ...given({ profile: options.profile }),
    ...(id === undefined ? {} : { report: reportOf(id, options) }),
  } as unknown as ShareReportInput;
  if (id === undefined && options.file === undefined) {
    throw new UsageError('name a journey or a pull, or give the whole share with --file');
  }
  await checkMessage('shareReport', input, { ...options });
  return withJourneys(options, async (journeys, output, client) => {
    const share = await journeys.shareReport(input);
    const { shareId, ownerId, workflowId } = share;
    const started = { shareId, id: ownerId, workflowId, taskQueue: journeys.taskQueue };
    return showStarted(share, started, output, { client, watch: options.watch });
  });
}

function reportOf(ownerId: string, { reportOf: productCode, trace: customerTraceNumber }: ShareOptions): object {
  const { kind, id } = ownerOf(ownerId);
  if (kind === 'share') throw new UsageError('a share is of a journey’s or a pull’s report');
  return { [`${kind}Id`]: id, ...given({ productCode, customerTraceNumber }) };
}
