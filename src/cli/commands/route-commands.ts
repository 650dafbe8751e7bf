/** The commands that routes give, by name, with the words that only the command line has. */
import { changeLines } from '../output/change-lines.ts';
import { RUN_ID } from '../output/common-options.ts';
import type { RouteCommand } from './route-command.ts';

const reports = async () => (await import('../../api/routes/reports.ts')).reportRoutes;

export const ROUTE_COMMANDS: readonly (RouteCommand & { name: string; description: string })[] = [
  {
    name: 'report',
    description: 'print a stored report from the ledger: masked, or with --reveal (personal data)',
    routes: reports,
    operationIds: ['getJourneyReport', 'getPullReport', 'getReviewAccountReport'],
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
    operationIds: ['getJourneyReferences', 'getPullReferences', 'getReviewAccountReferences', 'getShareReferences'],
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
    lines: changeLines,
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
];
