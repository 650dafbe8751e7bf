/** A joint application that the sandbox takes: SSNs that start with 9 and have a record. */
import type { Applicant, LendingJourneyInput } from '../model/shapes.ts';

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
  // The sandbox's report of this one has changed before closing.
  ssn: '900220020',
  dob: '1986-09-30',
  phones: [{ phoneNumber: '2025550124', phoneType: 'HOME' }],
  emailAddress: 'blake.sample@example.com',
  ipAddress: '2001:db8::10',
};

/** The sandbox resets the connection when it has posted the inquiry. */
export const ALEX_UNANSWERED: Applicant = { ...ALEX, ssn: '900114002' };

export interface SampleOptions {
  journeyId: string;
  /** Passes the gates by itself instead of waiting for `advance`. */
  auto: boolean;
  /** The sandbox resets the first connection of each inquiry when it has posted it. */
  loseAnswer?: boolean;
}

/** Two applicants, three stages, one share that waits for both applicants' consent. */
export function sampleJourney({ journeyId, auto, loseAnswer = false }: SampleOptions): LendingJourneyInput {
  const pass = auto ? 'auto' : 'manual';
  return {
    journeyId,
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '01' },
    applicants: [loseAnswer ? ALEX_UNANSWERED : ALEX, BLAKE],
    gates: { PREAPP: { pass }, PRECLOSE: { pass } },
    shares: [{ shareId: 'S-1', endUserCode: 'EU456' }],
  };
}
