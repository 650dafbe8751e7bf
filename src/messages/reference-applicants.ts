/** Checks that a reference from a person names the applicants of the inquiry that it is given for. Pure. */

/** The rule that the applicants of a reference break, or `null`. */
export function referenceApplicantsProblem(
  named: readonly { applicantId: string }[],
  asked: readonly string[],
): string | null {
  const ids = named.map(({ applicantId }) => applicantId);
  const isAboutThem = new Set(ids).size === ids.length && ids.every((id) => asked.includes(id));
  return isAboutThem ? null : 'the reference must name each of the inquiry’s applicants at most once, and no other';
}
