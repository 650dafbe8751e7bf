/** An applicant by the interface's tables 2.3 and 4.3 (types). */

/** An applicant as in the interface's table 2.3. Every field is personal. */
export interface Applicant {
  applicantId: string;
  names: { first: string; middle?: string; last: string; gen?: string }[];
  ssn: string;
  dob: string;
  phones: { phoneNumber: string; phoneType?: 'HOME' | 'MOBL' | 'WORK' }[];
  emailAddress: string;
  ipAddress: string;
  addresses: {
    addressIdentifier: 'C' | 'P';
    line1: string;
    line2?: string;
    city: string;
    state: string;
    zip: string;
    zip4?: string;
  }[];
}

/**
 * What FAILSAFE needs of an applicant (interface 4.3), and the caller's id, which ties each outcome to an applicant.
 */
export type FailsafeApplicant = Omit<Applicant, 'emailAddress' | 'ipAddress'> &
  Partial<Pick<Applicant, 'emailAddress' | 'ipAddress'>>;
