/** Checks that an operator's reference names only applicants of its inquiry. Pure. */

/** Returns the rule that the applicants of a reference break, or `null`. */
export function checkReferenceApplicants(
  ofReference: readonly { applicantId: string }[],
  ofInquiry: readonly string[],
): string | null {
  const ids = ofReference.map(({ applicantId }) => applicantId);
  const isValid = new Set(ids).size === ids.length && ids.every((id) => ofInquiry.includes(id));
  return isValid ? null : 'the reference must name each of the inquiry’s applicants at most once, and no other';
}
