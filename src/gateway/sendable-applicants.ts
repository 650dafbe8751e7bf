/** Applicants that a profile sends: none that are made up, and each in a spelling that the gateway's fields hold. Pure. */
import { findAccentProblems, spellApplicants } from '../fields/accents.ts';
import { parseApplicants } from '../messages/inputs/parse-message.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { findMadeUpProblems } from './made-up-applicants.ts';
import type { GatewayProfile } from './profile.ts';

/** The parts of a profile that decide which applicants it sends. */
export type SendingProfile = Pick<GatewayProfile, 'environment' | 'ssnsWithNine' | 'rehearsal' | 'accents'> & {
  limits: Pick<GatewayProfile['limits'], 'maxApplicants'>;
};

/** Returns the problems that prevent the profile from sending these applicants, with paths under `/applicants`. */
export function findApplicantProblems(profile: SendingProfile, applicants: readonly FailsafeApplicant[]): Problem[] {
  const spelled = spellApplicants(applicants, profile.accents);
  return [...findMadeUpProblems(profile, applicants), ...findAccentProblems(spelled, profile.accents)];
}

/**
 * Checks applicants by the table of reports (interface 2.3) or that of FAILSAFE (4.3), and whether the profile sends them.
 *
 * @throws InvalidInputError with paths under `/applicants`
 */
export function parseSendableApplicants<Table extends 'report' | 'failsafe'>(
  table: Table,
  value: unknown,
  profile: SendingProfile,
) {
  const parsed = parseApplicants(table, value, profile.limits);
  const problems = findApplicantProblems(profile, parsed);
  if (problems.length > 0) throw new InvalidInputError(problems);
  // A letter may become two, and the text too long.
  if (profile.accents === 'transliterate') parseApplicants(table, spellApplicants(parsed, profile.accents));
  return parsed;
}
