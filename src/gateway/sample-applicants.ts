/** The made-up people of samples and demonstrations. Only the sandbox may be asked about them. */
import type { Applicant } from '../model/applicant.ts';

export const ALEX: Applicant = {
  applicantId: '1A',
  names: [{ first: 'Alex', middle: 'Q', last: 'Sample' }],
  ssn: '900110001',
  dob: '1984-04-12',
  phones: [{ phoneNumber: '2025550123', phoneType: 'MOBL' }],
  emailAddress: 'alex.sample@example.com',
  ipAddress: '192.0.2.10',
  addresses: [{ addressIdentifier: 'C', line1: '100 Example Street', city: 'Springfield', state: 'IL', zip: '62701' }],
};

export const BLAKE: Applicant = {
  ...ALEX,
  applicantId: '2A',
  names: [{ first: 'Blake', last: 'Sample' }],
  // For this SSN the sandbox shows changes before closing.
  ssn: '900220020',
  dob: '1986-09-30',
  phones: [{ phoneNumber: '2025550124', phoneType: 'HOME' }],
  emailAddress: 'blake.sample@example.com',
  ipAddress: '2001:db8::10',
};

/** The sandbox resets the connection when it has posted the inquiry. */
export const ALEX_UNANSWERED: Applicant = { ...ALEX, ssn: '900114002' };

const SAMPLE_SSNS: ReadonlySet<string> = new Set([ALEX, BLAKE, ALEX_UNANSWERED].map(({ ssn }) => ssn));

export function isSampleApplicant({ ssn, names }: Pick<Applicant, 'ssn' | 'names'>): boolean {
  return SAMPLE_SSNS.has(ssn) && names.some(({ last }) => last.toLowerCase() === 'sample');
}
