/** `extend`: makes the wait at a gate, or of a share for consent, longer while it lasts. */
import type { Command } from 'commander';
import type { ExtendMessage, ExtendShareReportMessage } from '../../../messages/extend.ts';
import { ownerOf } from '../../../model/owner-id.ts';
import { requireConsentOwner, showAnswer, withJourneys } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given } from '../../output/json-input.ts';
import { refusedAsTyped } from '../../output/option-names.ts';

interface ExtendOptions extends ServerOptions {
  gate?: string;
  share?: string;
  until?: string;
  by?: string;
  reason?: string;
}

export function registerExtendCommand(program: Command): void {
  const command = program
    .command('extend')
    .description('make a wait longer: at a gate, or of a share for consent')
    .argument('<id>', 'a journeyId, or share:<shareId>')
    .option('--gate <stage>', 'of a journey: the stage behind the gate that it waits at')
    .option('--share <shareId>', 'of a journey: the share that waits for consent')
    .option('--until <instant>', 'when the wait is to end: RFC 3339, later than it would')
    .option('--by <who>', 'who decides it')
    .option('--reason <text>', 'and why');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    [
      'credit-journey extend J-1001 --gate PREAPP --until 2030-01-31T00:00:00Z \\',
      '      --by underwriting --reason "the appraisal is late"',
    ].join('\n'),
  );
  command.action(async (id: string, options: ExtendOptions) => {
    requireConsentOwner(id);
    const { gate, share, until, by, reason } = options;
    const owner = ownerOf(id);
    const isShare = owner.kind === 'share';
    if (isShare && share !== undefined) throw new UsageError('--share names a share of a journey: <id> names this one');
    const kind = isShare ? 'extendShareReport' : 'extend';
    const message = given({ gate, shareId: share, until, by, reason });
    await checkMessage(kind, { ...message, [isShare ? 'shareId' : 'journeyId']: owner.id }, { ...options });
    await withJourneys(options, async (journeys, output) => {
      const asked = isShare
        ? journeys.getShare(owner.id).extend(message as unknown as Omit<ExtendShareReportMessage, 'shareId'>)
        : journeys.get(id).extend(message as unknown as Omit<ExtendMessage, 'journeyId'>);
      const answer = await asked.catch((error: unknown) => {
        throw refusedAsTyped(error, kind, { ...options });
      });
      showAnswer(answer, output);
    });
  });
}
