/** Single pulls that the sandbox takes, one for each product. */

import type { PullInput, PullProduct } from '../../messages/pull/shapes.ts';
import { ALEX, ALEX_UNANSWERED, BLAKE_WITHOUT_RECORD } from '../../messages/sample-applicants.ts';
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
    // The sandbox has no record of the second applicant: each one has an outcome.
    const applicants = [first, BLAKE_WITHOUT_RECORD].map(withoutContacts);
    return { pullId, productCode, applicants };
  }
  return { pullId, productCode, endUserCode: 'EU123', permissiblePurposeCode: '01', applicants: [first] };
}

/** FAILSAFE's request has neither (interface 4.3). */
function withoutContacts({ emailAddress: _, ipAddress: __, ...applicant }: typeof ALEX): FailsafeApplicant {
  return applicant;
}
