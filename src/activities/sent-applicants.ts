/** The applicants in the spelling that goes on the wire, and what keeps a profile from sending them. */
import { type Accents, accentProblems, spellApplicants } from '../fields/accents.ts';
import { madeUpProblems } from '../gateway/made-up-applicants.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import type { InquiryContent } from '../model/inquiry.ts';
import type { Problem } from '../model/problems.ts';

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
