/** An applicant by the interface's tables 2.3 and 4.3 (types). */

/** An applicant as in the interface's table 2.3. Every field is personal. */
export interface Applicant {
  /** Your own, two characters at most, such as `1A`. Consents and outcomes name it. */
  applicantId: string;
  names: { first: string; middle?: string; last: string; gen?: string }[];
  /** Nine digits, without dashes. */
  ssn: string;
  dob: string;
  /** `phoneNumber` is ten digits, without formatting. */
  phones: { phoneNumber: string; phoneType?: 'HOME' | 'MOBL' | 'WORK' }[];
  emailAddress: string;
  /** IPv4 or IPv6 of the consumer's device, not of your server. */
  ipAddress: string;
  addresses: {
    addressIdentifier: 'C' | 'P';
    line1: string;
    line2?: string;
    city: string;
    state: string;
    /** Five digits, or nine; those beyond five become `zip4`. */
    zip: string;
    zip4?: string;
  }[];
}

/** An applicant of FAILSAFE (interface 4.3). The caller's id ties each outcome to an applicant. */
export type FailsafeApplicant = Omit<Applicant, 'emailAddress' | 'ipAddress'> &
  Partial<Pick<Applicant, 'emailAddress' | 'ipAddress'>>;
