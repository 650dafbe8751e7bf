/** `ledger`: what a person decides about the ledger itself. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { ComparedRun, ComparedWithTemporal, SentConsents } from '../../../operator/compare-with-temporal.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { parseSince } from '../../decisions/work-query.ts';
import {
  type OutputOptions,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output, withAge, wrap } from '../../output/output.ts';
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
      'list the runs that Temporal has lost (3 if any), and what open ones may have, after it went back in time',
    )
    .option('--since <when>', 'an instant before the one that Temporal went back to, or how long ago (PT15M)')
    .option('--send-consents', 'send open runs their consents since then once more; needs workers');
  withExamples(withServerOptions(compare), 'credit-journey ledger compare --since PT15M');
  compare.action(async (options: CompareOptions) => {
    const since = parseSince(options.since);
    if (since === undefined) throw new UsageError('--since must say from when on to compare');
    await withJourneys(
      options,
      async (journeys, output) => {
        const compared = await journeys.compareWithTemporal(since);
        const told = options.sendConsents ? await journeys.sendConsents(compared.runs) : undefined;
        output.answer({ ...compared, ...(told ? { consents: told } : {}) }, () => compareLines(compared, told, output));
        if (compared.runs.some(({ kind }) => kind === 'noRun')) process.exitCode = EXIT.needsPerson;
        if (told && told.failed.length > 0) process.exitCode = EXIT.failed;
      },
      { besideLedger: true },
    );
  });
}

function compareLines(
  { since, compared, runs }: ComparedWithTemporal,
  told: SentConsents | undefined,
  output: Output,
): string[] {
  const { width, colors } = output;
  return [
    ...runs.flatMap((run) => runLines(run, output)),
    ...(told ? [`  consents that were sent to runs again: ${told.sent}`] : []),
    ...(told?.failed ?? []).flatMap(({ runKey, consentId, error }) =>
      wrap(`consent ${consentId} of ${runKey} was not taken: ${error}`, width, '  ').map(colors.yellow),
    ),
    ...wrap(
      `since ${withAge(since)}: ${compared} runs compared, ${runs.filter(({ kind }) => kind === 'noRun').length} without a run, ` +
        `${runs.filter(({ kind }) => kind === 'open').length} open`,
      width,
    ),
  ];
}

function runLines({ kind, runKey, ...known }: ComparedRun, { width, colors }: Output): string[] {
  const { attempts, consents, decisions, withdrawnShares } = known;
  const lines = [
    ...attempts.map(
      ({ productCode, customerTraceNumber, attempt, outcome, claimedAt }) =>
        `${productCode} ${customerTraceNumber} attempt ${attempt}: ${outcome}, claimed ${withAge(claimedAt)}`,
    ),
    ...consents.map(
      ({ shareId, applicantId, consentId, decision }) =>
        `consent ${consentId} of ${applicantId}, share ${shareId}: ${decision}`,
    ),
    ...decisions.map(({ decisionId, action, by, customerTraceNumber = '' }) =>
      `decision ${decisionId} by ${by}: ${action} ${customerTraceNumber}`.trimEnd(),
    ),
    ...withdrawnShares.map(({ shareId, by }) => `share ${shareId} withdrawn by ${by}`),
  ];
  return [
    colors.yellow(`${runKey}: ${kind === 'noRun' ? 'no run' : 'its run is open'}`),
    ...lines.flatMap((line) => wrap(line, width, '  ')),
    ...wrap(`→ ${NEXT_STEP[kind]}`, width, '  '),
  ];
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
    .description('accept an older copy of the ledger: claims begin again, from what it has');
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
      output.answer({ ledgerId, ...omitUndefined({ newest, lost }) }, () => [
        output.colors.green(`${ledgerId}: claims go on from what this copy has`),
        `  its newest attempt is ${newest ? `of ${newest.claimedAt}` : 'none'}`,
        lost
          ? `  at least one is missing, of ${lost.claimedAt}: ask the provider what was posted since then`
          : '  no missing attempt was known; this accepts everything that was lost before this moment',
      ]);
    });
  });
}
