/** Builds the gateway's request from an inquiry as the workflow describes it, in the spelling that goes on the wire. */
import { defined } from '../base/defined.ts';
import { type Accents, accentProblems, spellApplicants } from '../fields/accents.ts';
import { madeUpProblems } from '../gateway/made-up-applicants.ts';
import { type GatewayProfile, hasFingerprint } from '../gateway/profile.ts';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type GatewayRequest,
} from '../gateway/requests.ts';
import type { Applicant, FailsafeApplicant } from '../model/applicant.ts';
import type { InquiryContent } from '../model/inquiry.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import type { RunIdentity } from './contract.ts';
import { type ActivityDependencies, preparedProfile } from './dependencies.ts';
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
    ...entitlementProblems(profile, args.inquiry),
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

/** One product asked for one end user under one purpose, and where the caller wrote the two. */
interface Entitlement {
  productCode: ProductCode;
  endUserCode?: string | undefined;
  permissiblePurposeCode?: string | undefined;
  /** Default: `/endUserCode`. */
  endUserPath?: string;
  /** Default: `/permissiblePurposeCode`. */
  purposePath?: string;
}

/**
 * Finds what the profile does not allow. What its configuration leaves out may not be asked for; without one,
 * everything may.
 */
export function entitlementProblems(
  profile: GatewayProfile,
  { productCode, endUserCode, permissiblePurposeCode, ...paths }: Entitlement,
): Problem[] {
  const { endUserPath = '/endUserCode', purposePath = '/permissiblePurposeCode' } = paths;
  const { endUserCodes, permissiblePurposeCodes } = profile.allowed[productCode] ?? {};
  const problems: Problem[] = [];
  if (endUserCode !== undefined && endUserCodes?.includes(endUserCode) === false) {
    problems.push({ path: endUserPath, rule: `must be an end user that the profile allows for ${productCode}` });
  }
  if (permissiblePurposeCode !== undefined && permissiblePurposeCodes?.includes(permissiblePurposeCode) === false) {
    const rule = `must be a purpose that the profile allows for ${productCode}: ${permissiblePurposeCodes.join(', ')}`;
    problems.push({ path: purposePath, rule });
  }
  return problems;
}

/** What keeps the profile from sending these applicants, with paths under `/applicants`. */
export function applicantProblems(profile: GatewayProfile, applicants: readonly FailsafeApplicant[]): Problem[] {
  const spelled = spellApplicants(applicants, profile.accents);
  return [...madeUpProblems(profile, applicants), ...accentProblems(spelled, profile.accents)];
}

/**
 * The inquiry in the spelling that goes on the wire. Its digest is made of this too, so that a row of the ledger stands
 * for the request that was sent.
 */
export function contentAsSent<T extends InquiryContent>({ accents }: { accents?: Accents }, content: T): T {
  const { applicants } = content;
  return applicants ? { ...content, applicants: spellApplicants(applicants, accents ?? 'refuse') } : content;
}
