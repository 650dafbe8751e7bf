/**
 * Whether names and addresses with letters beyond ASCII are sent. The interface calls them AN, and does not say which
 * characters AN has (2.3). A profile decides; docs/decisions/gateway.md says why `refuse` is the default.
 */
import type { FailsafeApplicant } from '../model/applicant.ts';
import type { Problem } from '../model/problems.ts';

/** `pass` sends `José` unchanged. */
export const ACCENTS = ['refuse', 'pass'] as const;
export type Accents = (typeof ACCENTS)[number];

const RULE =
  "must be printable ASCII, by the profile's setting accents: the interface says AN and not which characters that is";

/** Finds the names and addresses that may not be sent, unless a profile passes accents on. */
export function findAccentProblems(applicants: readonly FailsafeApplicant[], accents: Accents): Problem[] {
  if (accents === 'pass') return [];
  return applicants.flatMap((applicant, index) =>
    (['names', 'addresses'] as const).flatMap((list) =>
      applicant[list].flatMap((fields, at) =>
        Object.entries(fields).flatMap(([name, value]) =>
          typeof value === 'string' && /[^ -~]/.test(value)
            ? [{ path: `/applicants/${index}/${list}/${at}/${name}`, rule: RULE }]
            : [],
        ),
      ),
    ),
  );
}
