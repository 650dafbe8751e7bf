/** `legal-hold`: keeps a run, or a whole review, from being disposed of. */
import type { Command } from 'commander';
import type { LegalHold, SetHold } from '../../../ledger/retention/retention.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  checkedMatter,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { requireRunKey } from '../../decisions/journey-action.ts';
import { type OutputOptions, RUN_ID, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { coveringLines, destroyedLines, holdTable } from '../../output/disposal-words.ts';
import { createOutput } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface HoldOptions extends OutputOptions, AuthorizationOptions {
  matter?: string;
}

export function registerLegalHoldCommand(program: Command): void {
  const hold = program.command('legal-hold').description('keep a run, or a whole review, from being disposed of');
  const ofMatter = (name: string, description: string) => {
    const command = hold.command(name).description(description).argument('<id>', RUN_ID);
    command.option('--matter <matter>', 'the legal matter; each matter has its own hold');
    withExamples(command, `credit-journey legal-hold ${name} J-1 --matter 2026-17 --by <name> --reason "<why>"`);
    return withOutputOptions(withAuthorizationOptions(command));
  };
  ofMatter('set', 'nothing of the id is disposed of until each of its holds is released').action(setHold);
  ofMatter('release', 'release the hold of one matter').action(releaseHold);
  const list = hold
    .command('list')
    .description('list every legal hold in force, the oldest first')
    .argument('[id]', RUN_ID);
  withExamples(list, 'credit-journey legal-hold list', 'credit-journey legal-hold list J-1');
  withOutputOptions(list).action(listHolds);
}

async function setHold(journeyId: string, options: HoldOptions): Promise<void> {
  requireRunKey(journeyId);
  const authorization = { ...checkedAuthorization(options), matter: checkedMatter(options) };
  await withLedger(async (ledger) => {
    const output = createOutput(options);
    const { JourneyNotFoundError } = await import('../../../client/connection/errors.ts');
    const hold = await ledger.retention.setLegalHold(journeyId, authorization);
    if (!hold) throw new JourneyNotFoundError(journeyId);
    output.answer(hold, () => [
      hold.isNew ? output.colors.green(setWords(hold)) : duplicateWords(hold),
      ...coveringLines('Other holds that cover it:', hold.others, output),
      ...destroyedLines(hold.destroyed, output),
    ]);
  });
}

function setWords({ journeyId, matter }: LegalHold): string {
  return `${journeyId} is under a legal hold for matter ${matter}`;
}

function duplicateWords(hold: SetHold): string {
  return `${setWords(hold)} already, since ${hold.setAt}, set by ${hold.by}: nothing was changed`;
}

async function releaseHold(journeyId: string, options: HoldOptions): Promise<void> {
  requireRunKey(journeyId);
  const authorization = { ...checkedAuthorization(options), matter: checkedMatter(options) };
  const { matter } = authorization;
  await withLedger(async (ledger) => {
    const output = createOutput(options);
    const { released, others } = await ledger.retention.releaseLegalHold(journeyId, authorization);
    output.answer({ journeyId, matter, released, others }, () => [
      released
        ? output.colors.green(`${journeyId} is under no legal hold for matter ${matter} any more`)
        : `${journeyId} was under no legal hold for matter ${matter}: nothing was changed`,
      ...coveringLines('It may not be disposed of, for these holds cover it:', others, output),
    ]);
  });
}

async function listHolds(journeyId: string | undefined, options: OutputOptions): Promise<void> {
  if (journeyId !== undefined) requireRunKey(journeyId);
  await withLedger(async (ledger) => {
    const output = createOutput(options);
    const holds = await ledger.retention.legalHolds(journeyId);
    output.answer({ holds }, () => (holds.length === 0 ? ['no legal holds'] : holdTable(holds, output)));
  });
}
