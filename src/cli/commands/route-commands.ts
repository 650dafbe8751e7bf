/** The commands that routes give, by name, with the words that only the command line has. */
import type { Paused } from '../../api/routes/pauses.ts';
import { type AnyStatus, needsPerson } from '../../words/runs.ts';
import { RUN_ID } from '../output/common-options.ts';
import { EXIT } from '../output/exit-codes.ts';
import { documentLines, type Output, wrap } from '../output/output.ts';
import { statusLines } from '../output/status-lines.ts';
import type { RouteCommand } from './route-command.ts';

const pauses = async () => (await import('../../api/routes/pauses.ts')).pauseRoutes;
const flags = async () => (await import('../../api/routes/holds.ts')).holdRoutes;
const legalHolds = async () => (await import('../../api/routes/legal-holds.ts')).legalHoldRoutes;
const statuses = async () => {
  const [journeys, pulls, shares, reviews] = await Promise.all([
    import('../../api/routes/journeys.ts'),
    import('../../api/routes/pulls.ts'),
    import('../../api/routes/shares.ts'),
    import('../../api/routes/portfolio-reviews.ts'),
  ]);
  return [journeys.journeyRoutes, pulls.pullRoutes, shares.shareRoutes, reviews.portfolioReviewRoutes].flat();
};
const reports = async () => (await import('../../api/routes/reports.ts')).reportRoutes;

/** A slip of the pen would pause nothing. The ledger may be of another environment, which knows the name. */
async function pausedLines(answer: Paused, { width, colors }: Output): Promise<string[]> {
  const { profile } = answer.pause;
  const { inspectConfig } = await import('../../config/config.ts');
  const isUnknown = profile !== undefined && !inspectConfig(process.env).config.profiles.has(profile);
  const warning = `no gateway profile that is configured here is called ${profile}: check the name`;
  return [...documentLines(answer, width), ...(isUnknown ? wrap(warning, width).map(colors.yellow) : [])];
}

export const ROUTE_COMMANDS: readonly (RouteCommand & { name: string; description: string })[] = [
  {
    name: 'status',
    description: 'show the status of a journey, a pull, a share or a review; exits with 3 if it needs a person',
    routes: statuses,
    operationIds: ['getJourney', 'getPull', 'getShare', 'getPortfolioReview'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey status J-1001'],
    needs: 'temporal',
    namesPauses: true,
    lines: statusLines,
    exitCode: (status: AnyStatus) => (needsPerson(status) ? EXIT.needsPerson : EXIT.done),
  },
  {
    name: 'report',
    description: 'print a stored report from the ledger: masked, or with --reveal (personal data)',
    routes: reports,
    operationIds: ['getReport'],
    arguments: [['<id>', RUN_ID], ['<productCode>']],
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey report J-1001 PREQUAL',
      'credit-journey report J-1001 PREQUAL --reveal --purpose "adverse action letter" --end-user EU123',
    ],
    needs: 'ledger',
    by: 'reader',
    // JSON for people too: a reader of a report wants all of it.
    lines: (answer) => JSON.stringify(answer, null, 2).split('\n'),
  },
  {
    name: 'refusal',
    description: 'print what the gateway wrote beside a refusal: masked, or with --reveal (personal data)',
    routes: reports,
    operationIds: ['getRefusal'],
    arguments: [['<customerTraceNumber>'], ['<attempt>']],
    examples: ['credit-journey refusal <customerTraceNumber> 1 --reveal'],
    needs: 'ledger',
    by: 'reader',
    lines: (answer) => JSON.stringify(answer, null, 2).split('\n'),
  },
  {
    name: 'references',
    description:
      'print the references to store for later shares: consumer ids masked, or with --reveal (personal data)',
    routes: reports,
    operationIds: ['getReferences'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey references J-1001 --reveal'],
    needs: 'ledger',
    by: 'reader',
  },
  {
    name: 'changes',
    description: 'print what changed before closing, from the ledger: masked, or with --reveal (personal data)',
    routes: reports,
    operationIds: ['getJourneyChanges'],
    arguments: [['<journeyId>']],
    examples: ['credit-journey start --sample --auto --journey-id J-1001', 'credit-journey changes J-1001 --reveal'],
    needs: 'ledger',
    by: 'reader',
  },
  {
    name: 'list',
    description: 'list journeys, pulls, shares and reviews: the newest open ones first, then those that ended last',
    routes: async () => (await import('../../api/routes/runs.ts')).allRunsRoutes,
    operationIds: ['listRuns'],
    examples: ['credit-journey list --open'],
    needs: 'temporal',
    namesPauses: true,
  },
  {
    name: 'pauses',
    description: 'list every pause, in force and past, the oldest first',
    routes: pauses,
    operationIds: ['listPauses'],
    examples: ['credit-journey pauses'],
    needs: 'ledger',
  },
  {
    // It must stop everything where all else is broken, too.
    name: 'pause',
    description: 'send nothing more, on any worker, until resume',
    routes: pauses,
    operationIds: ['beginPause'],
    examples: ['credit-journey pause --by ops-7 --reason "ticket 4711: wrong purpose codes"'],
    needs: 'ledger',
    by: 'author',
    lines: pausedLines,
  },
  {
    name: 'resume',
    description: 'end a pause, and wake the runs that wait for its end',
    routes: pauses,
    operationIds: ['endPause'],
    examples: ['credit-journey resume --by ops-7 --reason "ticket 4711: corrected"'],
    needs: 'both',
    by: 'author',
    exitCode: ({ runs }: { runs: { unreached: number } }) => (runs.unreached > 0 ? EXIT.failed : EXIT.done),
  },
  {
    name: 'seen inquiry',
    description: 'take a flag about an inquiry off the list of holds',
    routes: flags,
    operationIds: ['markSeen'],
    arguments: [['<customerTraceNumber>', 'the inquiry’s trace number']],
    examples: ['credit-journey seen inquiry <customerTraceNumber> --by <name> --reason "<why>"'],
    needs: 'both',
    by: 'author',
  },
  {
    name: 'seen run',
    description: 'take a flag about a whole run off the list of holds',
    routes: flags,
    operationIds: ['markRunSeen'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey seen run portfolio:R-1001 --flag ssnMismatch --by <name> --reason "<why>"'],
    needs: 'both',
    by: 'author',
  },
  {
    name: 'seen consents',
    description: 'take the unmatched consents of a run off the list of holds',
    routes: async () => (await import('../../api/routes/unmatched-consents.ts')).unmatchedConsentRoutes,
    operationIds: ['markConsentsSeen'],
    examples: ['credit-journey seen consents --run-key J-1001 --by <name> --reason "<why>"'],
    needs: 'both',
    by: 'author',
  },
  {
    name: 'legal-hold set',
    description: 'keep the data of a run from disposal until each of its legal holds is released',
    routes: legalHolds,
    operationIds: ['setLegalHold'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey legal-hold set J-1 --matter 2026-17 --by <name> --reason "<why>"'],
    needs: 'ledger',
    by: 'author',
  },
  {
    name: 'legal-hold release',
    description: 'release the legal hold of one matter',
    routes: legalHolds,
    operationIds: ['releaseLegalHold'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey legal-hold release J-1 --matter 2026-17 --by <name> --reason "<why>"'],
    needs: 'ledger',
    by: 'author',
  },
  {
    name: 'legal-hold list',
    description: 'list every legal hold in force, the oldest first',
    routes: legalHolds,
    operationIds: ['listLegalHolds'],
    examples: ['credit-journey legal-hold list', 'credit-journey legal-hold list --run-key J-1'],
    needs: 'ledger',
  },
];
