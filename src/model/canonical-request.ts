/**
 * The canonical text of an inquiry's request, from which the ledger makes its digest. Equal texts mean the same
 * inquiry. The text comes from the run's content and not from the gateway's request, so no profile, limit or changed
 * builder can alter it. Pure. Personal: only its digest is kept.
 */

import type { FailsafeApplicant } from './applicant.ts';
import { toCanonicalJson } from './decision-content.ts';
import type { InquiryContent } from './inquiry.ts';

/**
 * The form never changes after its release: test/model/canonical-request.test.ts holds it to recorded digests.
 *
 * Leaves out the trace number, which names the inquiry, and `originalInquiryDate`, which the ledger fixes at the first
 * claim. Compares the caller's own spelling: a postal code in another form makes another request.
 */
export function toCanonicalRequest({ inquiry, applicants = [], reference }: InquiryContent): string {
  const { customerId, productCode, endUserCode, endUser, permissiblePurposeCode } = inquiry;
  switch (productCode) {
    case 'FAILSAFE':
      return toCanonicalJson({ form: 'v1', customerId, productCode, applicants: applicants.map(failsafePartV1) });
    case 'SECONDUSE':
      return toCanonicalJson({
        form: 'v1',
        customerId,
        productCode,
        endUserCode,
        endUser,
        permissiblePurposeCode,
        reportReferenceNumber: reference?.reportReferenceNumber,
        consumerIds: reference?.applicants.map(({ consumerId }) => consumerId),
      });
    default:
      return toCanonicalJson({ form: 'v1', customerId, productCode, endUserCode, permissiblePurposeCode, applicants });
  }
}

/** The fields that FAILSAFE sends (interface 4.3). Other fields of the caller do not make it another request. */
function failsafePartV1({ names, dob, ssn, phones, addresses }: FailsafeApplicant) {
  return {
    names: names.map(({ first, middle, last }) => ({ first, middle, last })),
    dob,
    ssn,
    phones,
    addresses: addresses.map(({ addressIdentifier, line1, city, state, zip }) => ({
      addressIdentifier,
      line1,
      city,
      state,
      zip,
    })),
  };
}
