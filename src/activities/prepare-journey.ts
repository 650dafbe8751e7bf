import type { GatewayProfile } from '../gateway/profile.ts';
import { type LendingJourneyInput, lendingJourney } from '../messages/inputs/lending-journey.ts';
import { parseApplicants, parseFailsafeApplicants, parseMessage } from '../messages/inputs/parse-message.ts';
import { requestShare, type ShareInput } from '../messages/request-share.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { STAGES } from '../model/products.ts';
import { endUserOf } from '../model/stage-end-user.ts';
import type { JourneyActivities, PreparedJourney } from './contract.ts';
import { type ActivityDependencies, preparedProfile, profileNamed } from './dependencies.ts';
import { translating } from './failures.ts';
import { applicantProblems, entitlementProblems } from './inquiry-request.ts';
import {
  checkRequestCanBeBuilt,
  factsAtStart,
  fixRun,
  ifAnswered,
  ownerProblems,
  preflight,
  profileNameOf,
} from './prepared-run.ts';

export function createPrepareJourney(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'prepareJourney' | 'checkApplicants' | 'checkShare'> {
  return {
    /**
     * Checks the whole input and fixes the configuration that the run keeps to, before anything can be posted.
     *
     * @throws `InvalidInput` (final) with every problem.
     */
    prepareJourney: ({ input, firstRunId }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const journey = parseMessage(lendingJourney, input, { maxApplicants: profile.limits.maxApplicants });
        const ownProblems = [
          ...journeyEntitlementProblems(profile, journey),
          ...applicantProblems(profile, journey.applicants),
        ];
        // The token service may be slow. Consents that come meanwhile are heard: the ledger is asked after it.
        const token = ownProblems.length > 0 ? undefined : await preflight(dependencies, profile);
        const facts = await factsAtStart(dependencies, journey.journeyId);
        const problems = [...ownerProblems({ ownerId: journey.journeyId, path: '/journeyId' }, facts), ...ownProblems];
        if (problems.length > 0) throw new InvalidInputError(problems);
        checkRequestsCanBeBuilt(profile, journey);
        return {
          ...(await fixRun(dependencies, profile, facts, token)),
          ...(facts?.hasConsents === false ? { heard: [] } : await heardAtStart(dependencies, journey, firstRunId)),
        };
      }),

    /** @throws `InvalidInput` (final) with paths under `/applicants`. */
    checkApplicants: ({ profile, applicants, productCode }) =>
      translating(async () => {
        const known = preparedProfile(dependencies, profile);
        const parse = productCode === 'FAILSAFE' ? parseFailsafeApplicants : parseApplicants;
        const problems = applicantProblems(known, parse(applicants, known.limits));
        if (problems.length > 0) throw new InvalidInputError(problems);
      }),

    /** @throws `InvalidInput` (final) with paths under `/share`, or the journey's own purpose code. */
    checkShare: ({ profile, message, journeyPurposeCode }) =>
      translating(async () => {
        const { share } = parseMessage(requestShare, message);
        const problems = shareEntitlementProblems(preparedProfile(dependencies, profile), share, {
          path: '/share',
          journeyPurposeCode,
        });
        if (problems.length > 0) throw new InvalidInputError(problems);
      }),
  };
}

/** More than these, with their proofs, would be too long a result: the run asks for them by themselves. */
const MOST_HEARD_AT_START = 100;

/** A ledger that does not answer keeps no journey from its stages: the run asks again. */
async function heardAtStart(
  { ledger }: ActivityDependencies,
  { journeyId, shares = [], applicants }: LendingJourneyInput,
  firstRunId: string,
): Promise<Pick<PreparedJourney, 'heard'>> {
  const run = {
    ...{ ownerId: journeyId, firstRunId },
    shareIds: shares.map(({ shareId }) => shareId),
    applicantIds: applicants.map(({ applicantId }) => applicantId),
  };
  const heard = await ifAnswered(ledger.kept.hear(ledger.identity.ledgerId, run));
  return heard === null || heard.length > MOST_HEARD_AT_START ? {} : { heard };
}

function journeyEntitlementProblems(profile: GatewayProfile, journey: LendingJourneyInput): Problem[] {
  const ofStages = (journey.stages ?? STAGES).flatMap((stage) =>
    entitlementProblems(profile, {
      productCode: stage,
      endUserCode: endUserOf(journey, stage),
      permissiblePurposeCode: journey.permissiblePurposeCodes[stage],
      endUserPath: journey.endUserCodes?.[stage] === undefined ? '/endUserCode' : `/endUserCodes/${stage}`,
      purposePath: `/permissiblePurposeCodes/${stage}`,
    }),
  );
  const ofShares = (journey.shares ?? []).flatMap((share, index) =>
    shareEntitlementProblems(profile, share, {
      path: `/shares/${index}`,
      journeyPurposeCode: journey.permissiblePurposeCodes.SECONDUSE,
    }),
  );
  return [...ofStages, ...ofShares];
}

function shareEntitlementProblems(
  profile: GatewayProfile,
  { endUserCode, permissiblePurposeCode }: ShareInput,
  { path, journeyPurposeCode }: { path: string; journeyPurposeCode: string | undefined },
): Problem[] {
  return entitlementProblems(profile, {
    productCode: 'SECONDUSE',
    endUserCode,
    permissiblePurposeCode: permissiblePurposeCode ?? journeyPurposeCode,
    endUserPath: `${path}/endUserCode`,
    purposePath: permissiblePurposeCode ? `${path}/permissiblePurposeCode` : '/permissiblePurposeCodes/SECONDUSE',
  });
}

function checkRequestsCanBeBuilt(profile: GatewayProfile, journey: LendingJourneyInput): void {
  const { applicants, permissiblePurposeCodes } = journey;
  for (const productCode of journey.stages ?? STAGES) {
    const permissiblePurposeCode = permissiblePurposeCodes[productCode] ?? '';
    const asked = { productCode, endUserCode: endUserOf(journey, productCode), permissiblePurposeCode };
    checkRequestCanBeBuilt(profile, asked, { applicants });
  }
}
