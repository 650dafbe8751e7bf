/** `legal-hold`: keeps a journey from being disposed of. */
import type { Command } from 'commander';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { requireOwnerId } from '../../decisions/journey-action.ts';
import { type OutputOptions, RUN_ID, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { createOutput, table, withAge } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface HoldOptions extends OutputOptions, AuthorizationOptions {}

export function registerLegalHoldCommand(program: Command): void {
  const hold = program.command('legal-hold').description('keep a journey from being disposed of');
  const ofJourney = (name: string, description: string) =>
    withOutputOptions(withAuthorizationOptions(hold.command(name).description(description).argument('<id>', RUN_ID)));
  const example = (name: string) => `credit-journey legal-hold ${name} J-1 --by <name> --reason "<why>"`;
  const set = ofJourney('set', 'nothing of the journey is disposed of until it is released').action(setHold);
  withExamples(set, example('set'));
  const release = ofJourney('release', 'the journey may be disposed of again').action(releaseHold);
  withExamples(release, example('release'));
  const list = hold.command('list').description('every legal hold, the oldest first');
  withExamples(list, 'credit-journey legal-hold list');
  withOutputOptions(list).action((options: OutputOptions) =>
    withLedger(async (ledger) => {
      const output = createOutput(options);
      const holds = await ledger.retention.legalHolds();
      const rows = holds.map(({ journeyId, setAt, by, reason }) => [journeyId, withAge(setAt), by, reason]);
      output.answer({ holds }, () =>
        rows.length === 0 ? ['no legal holds'] : table([['JOURNEY', 'SINCE', 'BY', 'REASON'], ...rows], output.width),
      );
    }),
  );
}

async function setHold(journeyId: string, options: HoldOptions): Promise<void> {
  requireOwnerId(journeyId);
  const authorization = checkedAuthorization(options);
  await withLedger(async (ledger) => {
    const output = createOutput(options);
    const { JourneyNotFoundError } = await import('../../../client/connection/errors.ts');
    const hold = await ledger.retention.setLegalHold(journeyId, authorization);
    if (!hold) throw new JourneyNotFoundError(journeyId);
    output.answer(hold, () => [
      hold.isNew
        ? output.colors.green(`${journeyId} is under a legal hold`)
        : `${journeyId} has been under one since ${hold.setAt}, set by ${hold.by}`,
    ]);
  });
}

async function releaseHold(journeyId: string, options: HoldOptions): Promise<void> {
  requireOwnerId(journeyId);
  const authorization = checkedAuthorization(options);
  await withLedger(async (ledger) => {
    const output = createOutput(options);
    const released = await ledger.retention.releaseLegalHold(journeyId, authorization);
    output.answer({ journeyId, released }, () => [
      released ? output.colors.green(`${journeyId} is under no legal hold any more`) : `${journeyId} was under none`,
    ]);
  });
}
