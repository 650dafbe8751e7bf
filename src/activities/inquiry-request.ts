/** Builds the gateway's request from an inquiry as the workflow describes it. */
import { defined } from '../base/defined.ts';
import { accentProblems } from '../fields/accents.ts';
import { madeUpProblems } from '../gateway/made-up-applicants.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { hasFingerprint } from '../gateway/profile.ts';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type GatewayRequest,
} from '../gateway/requests.ts';
import type { Applicant } from '../model/applicant.ts';
import type { InquiryContent } from '../model/inquiry.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { RunIdentity } from './contract.ts';
import { type ActivityDependencies, preparedProfile } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { finalFailure } from './failures.ts';

/** `originalInquiryDate` may not be in the future (interface 4.2, rule 2): room for clocks that differ. */
const ORIGINAL_INQUIRY_MARGIN_MS = 5_000;

/**
 * The run's profile as it is configured now.
 *
 * @throws `ProfileChanged` where it is not the one that the run began with, and the run's way is none of its former ones
 */
export function profileOfRun(dependencies: ActivityDependencies, run: RunIdentity): GatewayProfile {
  const profile = preparedProfile(dependencies, run.profile);
  if (!hasFingerprint(profile, run.profileFingerprint)) throw finalFailure('ProfileChanged');
  return profile;
}

/**
 * The request as the gateway gets it.
 *
 * @param args as `contentAsSent` spells it
 * @param claimedAt when the attempt that sends it was claimed
 * @throws InvalidInputError naming the caller's fields, also where the profile does not allow what is asked for, or where
 *   an applicant is made up
 */
export function buildRequest(profile: GatewayProfile, args: InquiryContent, claimedAt: Date): GatewayRequest {
  const { productCode, customerTraceNumber, endUserCode, endUser, permissiblePurposeCode } = args.inquiry;
  const problems = [
    ...entitlementProblems(profile, {
      productCode,
      endUserCode,
      permissiblePurposeCode,
      endUserPath: '/endUserCode',
      purposePath: '/permissiblePurposeCode',
    }),
    ...madeUpProblems(profile, args.applicants ?? []),
    ...accentProblems(args.applicants ?? [], profile.accents),
  ];
  if (problems.length > 0) throw new InvalidInputError(problems);
  if (productCode === 'SECONDUSE') {
    if (!args.reference) throw new InvalidInputError([{ path: '/reference', rule: 'is required' }]);
    const originalInquiryAt =
      profile.originalInquiryDateSource === 'originalRequest'
        ? new Date(args.reference.requestedAt)
        : // The ledger's clock may be ahead of ours, and the gateway's of neither.
          new Date(Math.min(claimedAt.getTime(), Date.now()) - ORIGINAL_INQUIRY_MARGIN_MS);
    return buildSecondUseRequest({
      profile,
      customerTraceNumber,
      permissiblePurposeCode: permissiblePurposeCode ?? '',
      reference: args.reference,
      originalInquiryAt,
      ...defined({ endUserCode, endUser }),
    });
  }
  const applicants = args.applicants ?? [];
  if (productCode === 'FAILSAFE') return buildFailsafeRequest({ customerTraceNumber, applicants });
  return buildReportRequest({
    profile,
    productCode,
    customerTraceNumber,
    endUserCode: endUserCode ?? '',
    permissiblePurposeCode: permissiblePurposeCode ?? '',
    // The table of the interface refuses those that lack anything.
    applicants: applicants as Applicant[],
  });
}
