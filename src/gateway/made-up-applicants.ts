/** Recognizes made-up applicants by their SSN, so that they are never sent to a real gateway. Pure. */

import type { Applicant } from '../model/applicant.ts';
import type { Problem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import { isSampleApplicant } from './sample-applicants.ts';

/**
 * How a profile outside the sandbox treats an SSN that starts with 9. The administration issues none of these.
 *
 * - `refuse`: sends none of them.
 * - `itinOnly`: sends those that may be a taxpayer's number (ITIN, ATIN) in place of an SSN.
 * - `send`: sends all of them, for a provider's own test persons. Not in production.
 */
export const SSNS_WITH_NINE = ['refuse', 'itinOnly', 'send'] as const;
export type SsnsWithNine = (typeof SSNS_WITH_NINE)[number];

/** The fourth and fifth digit of an ITIN (50–65, 70–88, 90–92, 94–99) or an ATIN (93). */
const TAXPAYER_NUMBER = /^9\d{2}(?:5\d|6[0-5]|7\d|8[0-8]|9\d)\d{4}$/;

/**
 * The applicants that may not be sent, with paths under `/applicants`. The people of the samples are among them, except in
 * a rehearsal.
 */
export function findMadeUpProblems(
  {
    environment,
    ssnsWithNine,
    rehearsal = false,
  }: { environment: Environment; ssnsWithNine: SsnsWithNine; rehearsal?: boolean },
  applicants: readonly Pick<Applicant, 'ssn' | 'names'>[],
): Problem[] {
  if (environment === 'sandbox') return [];
  return applicants.flatMap((applicant, index) => {
    const path = `/applicants/${index}`;
    if (rehearsal) {
      const rule = 'must start with 9: this profile is a rehearsal, which sends only made-up applicants';
      return applicant.ssn.startsWith('9') ? [] : [{ path: `${path}/ssn`, rule }];
    }
    if (isSampleApplicant(applicant)) return [{ path, rule: 'is a made-up applicant: only the sandbox accepts it' }];
    if (!applicant.ssn.startsWith('9') || ssnsWithNine === 'send') return [];
    if (ssnsWithNine === 'itinOnly') {
      const rule = 'must be one that was issued, or an ITIN: this profile sends no other that starts with 9';
      return TAXPAYER_NUMBER.test(applicant.ssn) ? [] : [{ path: `${path}/ssn`, rule }];
    }
    return [{ path: `${path}/ssn`, rule: 'must not start with 9, as made-up ones do: this profile sends none' }];
  });
}
