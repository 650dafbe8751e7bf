import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import { openPortfolio, requireDirectory } from '../portfolio/file-path.ts';
import { parsePortfolioReviewInput } from '../validation/messages.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { translatingPortfolio } from './portfolio-activities.ts';
import type { PortfolioActivities } from './portfolio-contract.ts';
import { fixRun, ownerProblems, profileNameOf, refuseInTheClear } from './prepared-run.ts';

export function createPreparePortfolio(
  dependencies: ActivityDependencies,
): Pick<PortfolioActivities, 'preparePortfolio'> {
  return {
    /**
     * Checks a review's input, and that its file can be opened, and fixes what the run will be held to.
     *
     * @throws `InvalidInput` (final) with every problem; `PortfolioUnavailable`, `LedgerUnavailable` (repeated)
     */
    preparePortfolio: ({ input }) =>
      translatingPortfolio(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const review = parsePortfolioReviewInput(input);
        await refuseInTheClear(dependencies, profile);
        const { reviewId, endUserCode, permissiblePurposeCode, file } = review;
        const problems = [
          ...(await ownerProblems(dependencies, { ownerId: ownerIdOf('portfolio', reviewId), path: '/reviewId' })),
          ...entitlementProblems(profile, {
            productCode: 'ACCTRVW',
            endUserCode,
            permissiblePurposeCode,
            endUserPath: '/endUserCode',
            purposePath: '/permissiblePurposeCode',
          }),
        ];
        if (problems.length > 0) throw new InvalidInputError(problems);
        await (await openPortfolio(requireDirectory(dependencies.config.portfolioDirectory), file)).close();
        return fixRun(dependencies, profile);
      }),
  };
}
