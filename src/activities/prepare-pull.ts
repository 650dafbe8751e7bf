import { activityInfo } from '@temporalio/activity';
import { defined } from '../base/defined.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { Ledger } from '../ledger/port.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { creditReport, failsafeCheck, type PullInput } from '../messages/inputs/pull.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import type { JourneyActivities } from './contract.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { translating } from './failures.ts';
import { entitlementProblems } from './inquiry-request.ts';
import { checkRequestCanBeBuilt, factsAtStart, fixRun, ownerProblems, profileNameOf } from './prepared-run.ts';

export function createPreparePull(dependencies: ActivityDependencies): Pick<JourneyActivities, 'preparePull'> {
  return {
    /**
     * Checks a pull's whole input and fixes the configuration that the run keeps to, before anything can be posted.
     *
     * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
     */
    preparePull: ({ input }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const pull = parsed(input, profile);
        const ownerId = ownerIdOf('pull', pull.pullId);
        const facts = await factsAtStart(dependencies, ownerId);
        const problems = [
          ...ownerProblems({ ownerId, path: '/pullId' }, facts),
          ...pullEntitlementProblems(profile, pull),
        ];
        if (problems.length === 0) problems.push(...(await productProblems(dependencies.ledger, ownerId, pull)));
        if (problems.length > 0) throw new InvalidInputError(problems);
        const { productCode, endUserCode, permissiblePurposeCode, applicants } = pull;
        const asked = {
          productCode,
          ...defined({ endUserCode, permissiblePurposeCode }),
        };
        checkRequestCanBeBuilt(profile, asked, { applicants });
        return fixRun(dependencies, profile, facts);
      }),
  };
}

/** Each workflow type takes its own products, so that a start from any language is checked by the right table. */
function parsed(input: unknown, { limits }: GatewayProfile): PullInput {
  const isFailsafe = activityInfo().workflowType === 'failsafeCheck';
  return parseMessage(isFailsafe ? failsafeCheck : creditReport, input, limits);
}

function pullEntitlementProblems(profile: GatewayProfile, pull: PullInput): Problem[] {
  const { productCode, endUserCode, permissiblePurposeCode } = pull;
  const allowed = profile.allowed[productCode];
  const required = [
    ...(allowed?.endUserCodes && endUserCode === undefined ? ['/endUserCode'] : []),
    ...(allowed?.permissiblePurposeCodes && permissiblePurposeCode === undefined ? ['/permissiblePurposeCode'] : []),
  ];
  return [
    ...required.map((path) => ({ path, rule: `is required: the profile lists what it allows for ${productCode}` })),
    ...entitlementProblems(profile, {
      productCode,
      endUserCode,
      permissiblePurposeCode,
      endUserPath: '/endUserCode',
      purposePath: '/permissiblePurposeCode',
    }),
  ];
}

/**
 * One pull is one product. Another product under the id of a failed pull would have a trace number of its own. It would
 * be sent although no person has decided what became of the first.
 */
async function productProblems(ledger: Ledger, ownerId: string, { productCode }: PullInput): Promise<Problem[]> {
  const inquiries = await ledger.inquiriesOf(ownerId);
  if (inquiries.every((inquiry) => inquiry.productCode === productCode)) return [];
  return [{ path: '/productCode', rule: 'must be that of the pull which has this id already: choose another id' }];
}
