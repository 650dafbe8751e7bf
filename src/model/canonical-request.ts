/**
 * What makes two requests the same inquiry: one text of everything that a request says, under which the ledger's digest
 * is made. It comes from what the run carries and not from the gateway's request, so that no profile, no limit and no
 * change of a builder can alter it. Pure. Personal: only its digest is kept.
 */

import type { FailsafeApplicant } from './applicant.ts';
import type { InquiryContent } from './inquiry.ts';

/**
 * Each form that a digest in a ledger may have been made in, by its version. A form never changes once it is here:
 * test/model/canonical-request.test.ts holds each to recorded digests. What is to be told apart by more, such as a
 * new field of the request, is a new form; the old ones stay, for the inquiries that were claimed under them.
 */
export const CANONICAL_FORMS: Readonly<Record<string, (content: InquiryContent) => string>> = { v1 };

/** The form in which the digest of a new inquiry is made. */
export const CANONICAL_VERSION = 'v1';

/**
 * The trace number names the inquiry, and the ledger fixes `originalInquiryDate` at the first claim: neither is in it.
 * The spelling is the caller's own; whoever spells a postal code in another way asks for something else.
 */
function v1({ inquiry, applicants = [], reference }: InquiryContent): string {
  const { customerId, productCode, endUserCode, endUser, permissiblePurposeCode } = inquiry;
  switch (productCode) {
    case 'FAILSAFE':
      return sortedJson({ form: 'v1', customerId, productCode, applicants: applicants.map(failsafePartV1) });
    case 'SECONDUSE':
      return sortedJson({
        ...{ form: 'v1', customerId, productCode, endUserCode, endUser, permissiblePurposeCode },
        reportReferenceNumber: reference?.reportReferenceNumber,
        consumerIds: reference?.applicants.map(({ consumerId }) => consumerId),
      });
    default:
      return sortedJson({ form: 'v1', customerId, productCode, endUserCode, permissiblePurposeCode, applicants });
  }
}

/** The fields that FAILSAFE sends (interface 4.3): what else a caller gives does not make it another request. */
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

/** Members in one order, and none that is `undefined`: Temporal drops those on the way to an activity. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member)}`);
  return `{${members.join(',')}}`;
}
