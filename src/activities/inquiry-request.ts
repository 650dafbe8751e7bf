/** Builds the gateway's request from an inquiry as the workflow describes it, in the spelling that is sent. */
import { type Accents, findAccentProblems, spellApplicants } from '../fields/accents.ts';
import { findMadeUpProblems } from '../gateway/made-up-applicants.ts';
import { type GatewayProfile, hasFingerprint } from '../gateway/profile.ts';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type GatewayRequest,
  ORIGINAL_INQUIRY_MARGIN_MS,
} from '../gateway/requests.ts';
import { parseSendableApplicants } from '../gateway/sendable-applicants.ts';
import type { Applicant, FailsafeApplicant } from '../model/applicant.ts';
import { type InquiryContent, type InquiryTerms, pickTerms } from '../model/inquiry.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import type { ProductCode } from '../model/products.ts';
import type { RunIdentity } from './contract.ts';
import { type ActivityDependencies, findPreparedProfile } from './dependencies.ts';
import { createFinalFailure } from './failures.ts';

/**
 * Returns the run's profile with its current configuration.
 *
 * @throws `ProfileChanged` if the run began with another configuration, and `formerly` does not list that one
 */
export function findRunProfile(dependencies: ActivityDependencies, run: RunIdentity): GatewayProfile {
  const profile = findPreparedProfile(dependencies, run.profile);
  if (!hasFingerprint(profile, run.profileFingerprint)) throw createFinalFailure('ProfileChanged');
  return profile;
}

/**
 * Builds the request that the gateway receives.
 *
 * @param args as `toSentContent` spells it
 * @param claimedAt when the attempt that sends it was claimed
 * @throws InvalidInputError naming the caller's fields, also if the profile does not allow the request, or if an
 *   applicant is made up
 */
export function buildRequest(profile: GatewayProfile, args: InquiryContent, claimedAt: Date): GatewayRequest {
  const { productCode, customerTraceNumber } = args.inquiry;
  const terms = pickTerms(args.inquiry);
  const problems = [
    ...findEntitlementProblems(profile, args.inquiry),
    ...findMadeUpProblems(profile, args.applicants ?? []),
    ...findAccentProblems(args.applicants ?? [], profile.accents),
  ];
  if (problems.length > 0) throw new InvalidInputError(problems);
  if (productCode === 'SECONDUSE') {
    if (!args.reference) throw new InvalidInputError([{ path: '/reference', rule: 'is required' }]);
    const originalInquiryAt =
      profile.originalInquiryDateSource === 'originalRequest'
        ? toPast(args.reference.requestedAt)
        : // `claimedAt` is by the ledger's clock. Of two clocks, the earlier is less likely to be ahead of the gateway's.
          new Date(Math.min(claimedAt.getTime(), Date.now()) - ORIGINAL_INQUIRY_MARGIN_MS);
    return buildSecondUseRequest({
      profile,
      customerTraceNumber,
      reference: args.reference,
      originalInquiryAt,
      // `terms` has it, or the builder refuses the empty one.
      permissiblePurposeCode: '',
      ...terms,
    });
  }
  const applicants = args.applicants ?? [];
  if (productCode === 'FAILSAFE') return buildFailsafeRequest({ customerTraceNumber, applicants });
  return buildReportRequest({
    profile,
    productCode,
    customerTraceNumber,
    // `terms` has both, or the builder refuses the empty ones.
    endUserCode: '',
    permissiblePurposeCode: '',
    ...terms,
    // The builder refuses applicants that lack a field of a report's.
    applicants: applicants as Applicant[],
  });
}

/** An instant of another worker's clock, which may be a little ahead of this one's. */
function toPast(instant: string): Date {
  const [ms, nowMs] = [Date.parse(instant), Date.now()];
  return new Date(ms - nowMs <= ORIGINAL_INQUIRY_MARGIN_MS ? Math.min(ms, nowMs) : ms);
}

/** One product requested for one end user under one purpose, and the paths of the two. */
export interface Entitlement extends Pick<InquiryTerms, 'endUserCode' | 'permissiblePurposeCode'> {
  productCode: ProductCode;
  /** Default: `/endUserCode`. */
  endUserPath?: string;
  /** Default: `/permissiblePurposeCode`. */
  purposePath?: string;
}

/**
 * Finds the codes that the profile does not allow. A product's list in its configuration excludes all other codes, and
 * makes the code required. Without a list every code is allowed.
 */
export function findEntitlementProblems(
  profile: GatewayProfile,
  { productCode, endUserCode, permissiblePurposeCode, ...paths }: Entitlement,
): Problem[] {
  const { endUserPath = '/endUserCode', purposePath = '/permissiblePurposeCode' } = paths;
  const { endUserCodes, permissiblePurposeCodes } = profile.allowed[productCode] ?? {};
  const purposes = `${productCode}: ${permissiblePurposeCodes?.join(', ')}`;
  const rows = [
    [endUserPath, endUserCode, endUserCodes, `must be an end user that the profile allows for ${productCode}`],
    [
      purposePath,
      permissiblePurposeCode,
      permissiblePurposeCodes,
      `must be a purpose that the profile allows for ${purposes}`,
    ],
  ] as const;
  return rows.flatMap(([path, code, allowed, rule]) => {
    if (!allowed || (code !== undefined && allowed.includes(code))) return [];
    const required = `is required: the profile lists what it allows for ${productCode}`;
    return [{ path, rule: code === undefined ? required : rule }];
  });
}

/** Returns the problems of applicants from a message to a run. */
export function listApplicantProblems(
  profile: GatewayProfile,
  productCode: ProductCode,
  applicants: readonly FailsafeApplicant[],
): readonly Problem[] {
  try {
    parseSendableApplicants(productCode === 'FAILSAFE' ? 'failsafe' : 'report', applicants, profile);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return error.problems;
  }
}

/**
 * The inquiry in the spelling that is sent. Its digest uses this spelling too, so that a row of the ledger represents
 * the request that was sent.
 */
export function toSentContent<T extends InquiryContent>({ accents }: { accents?: Accents }, content: T): T {
  const { applicants } = content;
  return applicants ? { ...content, applicants: spellApplicants(applicants, accents ?? 'refuse') } : content;
}
