import { parsePortfolioReviewInput } from '../messages/parse-messages.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { translating } from './failures.ts';
import type { PortfolioActivities } from './portfolio-contract.ts';
import { factsAtStart, fixRun, ownerProblems, profileNameOf, refuseInTheClear } from './prepared-run.ts';

export function createPreparePortfolio(
  dependencies: ActivityDependencies,
): Pick<PortfolioActivities, 'preparePortfolio'> {
  return {
    /**
     * Checks a review's input, and fixes the configuration that the run keeps to. `examinePortfolio` checks the file,
     * and waits while it cannot be reached.
     *
     * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
     */
    preparePortfolio: ({ input }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const review = parsePortfolioReviewInput(input);
        await refuseInTheClear(dependencies, profile);
        const { reviewId, endUserCode, permissiblePurposeCode } = review;
        const ownerId = ownerIdOf('portfolio', reviewId);
        const facts = await factsAtStart(dependencies, ownerId);
        const problems = [
          ...ownerProblems({ ownerId, path: '/reviewId' }, facts),
          ...entitlementProblems(profile, {
            productCode: 'ACCTRVW',
            endUserCode,
            permissiblePurposeCode,
            endUserPath: '/endUserCode',
            purposePath: '/permissiblePurposeCode',
          }),
        ];
        if (problems.length > 0) throw new InvalidInputError(problems);
        return fixRun(dependencies, profile, facts);
      }),
  };
}
