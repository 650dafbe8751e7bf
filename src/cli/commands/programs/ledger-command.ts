/** `ledger`: what a person decides about the ledger itself. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { createOutput } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';
import { registerLedgerCompare } from './ledger-compare.ts';

interface AcceptOptions extends OutputOptions, AuthorizationOptions {}

export function registerLedgerCommand(program: Command): void {
  const ledger = program.command('ledger').description('the ledger itself: compare it with Temporal, accept a copy');
  registerLedgerCompare(ledger);
  const accept = ledger
    .command('accept-restore')
    .description('go on with an older copy of the ledger: claims begin again, from what it has');
  withExamples(
    withOutputOptions(withAuthorizationOptions(accept)),
    'credit-journey ledger accept-restore --by ops-7 --reason "ticket 4711: the disk was lost"',
  );
  accept.action(async (options: AcceptOptions) => {
    const { by, reason } = checkedAuthorization(options);
    await withLedger(async (ledger) => {
      const { ledgerId } = ledger.identity;
      const { newest, lost } = await ledger.acceptRestore(ledgerId, {
        acceptanceId: `accept-${randomUUID()}`,
        by,
        reason,
      });
      const output = createOutput(options);
      output.answer({ ledgerId, ...defined({ newest, lost }) }, () => [
        output.colors.green(`${ledgerId}: claims go on from what this copy has`),
        `  its newest attempt is ${newest ? `of ${newest.claimedAt}` : 'none'}`,
        lost
          ? `  at least one is missing, of ${lost.claimedAt}: ask the provider what was posted since then`
          : '  nobody had found anything missing; what was lost before this moment is accepted all the same',
      ]);
    });
  });
}
