/** `ledger`: what a person decides about the ledger itself. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { ComparedRun } from '../../../operator/compare-with-temporal.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { parseSince } from '../../decisions/since.ts';
import {
  type OutputOptions,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, documentLines, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

// `ledger compare`: what Temporal has lost, or may have, after its database went back in time.

interface CompareOptions extends ServerOptions {
  since?: string;
  sendConsents?: true;
}

function registerLedgerCompare(ledger: Command): void {
  const compare = ledger
    .command('compare')
    .description(
      'after Temporal went back in time: list the runs that it lost (3 if any), and what open runs may have lost',
    )
    .option('--since <when>', 'an instant before the one that Temporal went back to, or how long ago (PT15M)')
    .option('--send-consents', 'send open runs their consents since then once more; needs workers');
  withExamples(withServerOptions(compare), 'credit-journey ledger compare --since PT15M');
  compare.action(async (options: CompareOptions) => {
    const since = parseSince(options.since);
    if (since === undefined) throw new UsageError('--since must say from when on to compare');
    await withJourneys(
      options,
      async (journeys, output, client) => {
        const { compareWithTemporal, sendConsents } = await import('../../../operator/compare-with-temporal.ts');
        const compared = await compareWithTemporal(client, await journeys.openedLedger(), since);
        const consents = options.sendConsents ? await sendConsents(journeys, compared.runs) : undefined;
        const document = { ...compared, ...omitUndefined({ consents }) };
        const kinds = new Set(compared.runs.map(({ kind }) => kind));
        output.answer(document, () => [
          ...documentLines(document, output.width),
          ...[...kinds].flatMap((kind) => wrap(`${kind}: ${NEXT_STEP[kind]}`, output.width)),
        ]);
        if (compared.runs.some(({ kind }) => kind === 'noRun')) process.exitCode = EXIT.needsPerson;
        if (consents && consents.failed.length > 0) process.exitCode = EXIT.failed;
      },
      { besideLedger: true },
    );
  });
}

/** The safe next step: nothing of it sends anything that the ledger knows to be sent. */
const NEXT_STEP: Record<ComparedRun['kind'], string> = {
  noRun: 'start it again under the same id with the same input: the ledger answers for what was sent',
  open: 'with workers it asks again by itself, and the ledger answers; where it waits at a gate, for a decision or for consent, send the same message again',
};

interface AcceptOptions extends OutputOptions, AuthorizationOptions {}

export function registerLedgerCommand(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('compare the ledger with Temporal, or accept an older copy of it');
  registerLedgerCompare(ledger);
  const accept = ledger
    .command('accept-restore')
    .description('accept an older copy of the ledger: workers claim attempts again, from what the copy has');
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
      createOutput(options).answer({ ledgerId, ...omitUndefined({ newest, lost }) });
    });
  });
}
