/** `ledger compare`: what the ledger has and Temporal has not, after Temporal's database went back in time. */
import type { Command } from 'commander';
import type { SentConsents } from '../../../operator/sent-consents.ts';
import type { BehindRun, ComparedWithTemporal } from '../../../operator/temporal-behind.ts';
import { sinceOf } from '../../decisions/holds-query.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { type Output, withAge, wrap } from '../../output/output.ts';

interface CompareOptions extends ServerOptions {
  since?: string;
  sendConsents?: true;
}

export function registerLedgerCompare(ledger: Command): void {
  const compare = ledger
    .command('compare')
    .description(
      'what the ledger has taken and Temporal does not have, after Temporal went back in time: 3 if anything',
    )
    .option('--since <when>', 'an instant before the one that Temporal went back to, or how long ago (PT15M)')
    .option('--send-consents', 'tell open runs the consents that they have lost; needs workers');
  withExamples(withServerOptions(compare), 'credit-journey ledger compare --since PT15M');
  compare.action(async (options: CompareOptions) => {
    const since = sinceOf(options.since);
    if (since === undefined) throw new UsageError('--since must say from when on to compare');
    await withJourneys(
      options,
      async (journeys, output) => {
        let compared = await journeys.compareWithTemporal(since);
        const told = options.sendConsents ? await journeys.sendConsents(compared.behind) : undefined;
        if (told) compared = await journeys.compareWithTemporal(since);
        output.answer({ ...compared, ...(told ? { consents: told } : {}) }, () => compareLines(compared, told, output));
        if (compared.behind.length > 0) process.exitCode = EXIT.needsPerson;
        if (told && told.failed.length > 0) process.exitCode = EXIT.failed;
      },
      { besideLedger: true },
    );
  });
}

function compareLines(
  { since, compared, behind }: ComparedWithTemporal,
  told: SentConsents | undefined,
  output: Output,
): string[] {
  const { width, colors } = output;
  return [
    ...behind.flatMap((one) => runLines(one, output)),
    ...(told ? [`  consents that runs were told again: ${told.sent}`] : []),
    ...(told?.failed ?? []).flatMap(({ ownerId, consentId, error }) =>
      wrap(`consent ${consentId} of ${ownerId} was not taken: ${error}`, width, '  ').map(colors.yellow),
    ),
    ...wrap(
      `since ${withAge(since)}: ${compared} runs compared, ${behind.filter(({ kind }) => kind === 'noRun').length} without a run, ` +
        `${behind.filter(({ kind }) => kind === 'behind').length} behind the ledger`,
      width,
    ),
  ];
}

function runLines({ kind, ownerId, ...known }: BehindRun, { width, colors }: Output): string[] {
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
    colors.yellow(`${ownerId}: ${kind === 'noRun' ? 'no run' : 'its run is behind'}`),
    ...lines.flatMap((line) => wrap(line, width, '  ')),
    ...wrap(`→ ${NEXT_STEP[kind]}`, width, '  '),
  ];
}

/** The safe next step: nothing of it sends anything that the ledger knows to be sent. */
const NEXT_STEP: Record<BehindRun['kind'], string> = {
  noRun: 'start it again under the same id with the same input: the ledger answers for what was sent',
  behind:
    'with workers it asks again by itself, and the ledger answers; where it waits at a gate, for a decision or for consent, send the same message again',
};
