/** Single pulls that the sandbox takes, one for each product. */

import type { PullInput, PullProduct } from '../../messages/pull/shapes.ts';
import { ALEX, ALEX_UNANSWERED } from '../../messages/sample-applicants.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';

interface SamplePullOptions {
  pullId: string;
  productCode: PullProduct;
  /** The sandbox resets the first connection when it has posted the inquiry. */
  loseAnswer: boolean;
}

export function samplePull({ pullId, productCode, loseAnswer }: SamplePullOptions): PullInput {
  const first = loseAnswer ? ALEX_UNANSWERED : ALEX;
  if (productCode === 'FAILSAFE') {
    // Of several applicants whose outcomes differ a person decides: the interface's entries do not say whose they are.
    return { pullId, productCode, applicants: [withoutContacts(first)] };
  }
  return { pullId, productCode, endUserCode: 'EU123', permissiblePurposeCode: '01', applicants: [first] };
}

/** FAILSAFE's request has neither (interface 4.3). */
function withoutContacts({ emailAddress: _, ipAddress: __, ...applicant }: typeof ALEX): FailsafeApplicant {
  return applicant;
}
