/** Says why a grant does not count, and what its sender does then. The same words on every path. Pure. */
import type { GrantFault } from './consent-record.ts';

const SEND_A_NEW_ONE = 'while the share waits, send a new grant under a new consentId';

export const GRANT_FAULTS: Record<GrantFault, string> = {
  refused: `a denial or a revocation has ended this grant: ${SEND_A_NEW_ONE}`,
  tooOld: `the grant is too old for this share: ${SEND_A_NEW_ONE}`,
  spent: `another share was posted under this grant: ${SEND_A_NEW_ONE}`,
  missing: `the grant is not for this share and its secondary user: ${SEND_A_NEW_ONE}`,
  otherPerson: `/applicantId named another person when the grant came: ${SEND_A_NEW_ONE}`,
};

/** The problem of a grant that is sent again after it has ceased to count. */
export function describeFault(fault: GrantFault): { path: '/consentId'; rule: string } {
  return { path: '/consentId', rule: `names a grant that does not count: ${GRANT_FAULTS[fault]}` };
}
