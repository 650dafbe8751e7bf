import type { Command } from 'commander';
import type { OtherWork } from '../../../operator/open-work.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { listWork } from '../../decisions/work-list.ts';
import { readHolds, readQuery, type WorkOptions, withWorkFilters } from '../../decisions/work-query.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { type ListedWork, pauseNotice } from '../../output/hold-lines.ts';
import { type Output, rowTable, wrap } from '../../output/output.ts';

type HoldsOptions = ServerOptions & WorkOptions;

export function registerHoldsCommand(program: Command): void {
  const command = program
    .command('holds')
    .description('list what needs a person, with the command that resolves it: exits with 3 if there is anything');
  withExamples(
    withServerOptions(withWorkFilters(command)),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: HoldsOptions) => {
    process.exitCode = await listHolds(options);
  });
}

/** A narrower list has rows of the ledger alone: of the rest neither end user, product nor profile is known. */
const NO_OTHERS: OtherWork = { failing: [], unlisted: [], deliveries: [], unanswered: [], unmatchedConsents: [] };

async function listHolds(options: HoldsOptions): Promise<number> {
  const query = readQuery(options);
  const { type, endUser, product, profile } = options;
  const isOfAll = [type, endUser, product, profile].every((option) => option === undefined);
  return withJourneys(
    options,
    async (journeys, output, client) => {
      const { readOtherWork } = await import('../../../operator/open-work.ts');
      const ledger = await journeys.openedLedger();
      const [rows, others, notice] = await Promise.all([
        readHolds(ledger, query),
        isOfAll ? readOtherWork({ client, taskQueue: journeys.taskQueue, ledger }, query) : NO_OTHERS,
        pauseNotice(output),
      ]);
      const list = listWork(rows, others);
      const { unlisted, ...rest } = others;
      const unanswered = others.unanswered.map((runKey) => ({ runKey }));
      const answer = {
        list,
        holds: rows.filter(({ customerTraceNumber }) => customerTraceNumber !== undefined),
        attention: [...rows.filter(({ customerTraceNumber }) => customerTraceNumber === undefined), ...unlisted].map(
          ({ runKey, reason }) => ({ runKey, reason }),
        ),
        ...rest,
        unanswered,
      };
      output.answer(answer, () => [...lines(list, others, output), ...notice]);
      // A delivery that did not answer may have given events up, so the exit code must not say that nothing needs a person.
      return list.length > 0 ? EXIT.needsPerson : unanswered.length > 0 ? EXIT.failed : EXIT.done;
    },
    { besideLedger: true },
  );
}

function lines(list: readonly ListedWork[], { unanswered, failing }: OtherWork, { width, colors }: Output): string[] {
  return [
    ...(list.length + unanswered.length === 0 ? ['nothing needs a person'] : []),
    ...(list.length === 0 ? [] : rowTable(list, width)),
    ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for the events of these runs:')]),
    ...unanswered.flatMap((runKey) => wrap(runKey, width, '  ')),
    ...(failing === null ? wrap('This Temporal does not tell whose workflow tasks fail.', width) : []),
  ];
}
