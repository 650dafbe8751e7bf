/** Inputs of journeys that load a site. SSNs were never issued; all of it is made up. */

import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { Applicant } from '../../src/model/applicant.ts';

let count = 0;

/** A short id that is new in this process. */
export function newJourneyId(): string {
  count++;
  return `L${process.pid.toString(36)}X${count.toString(36)}X`.toUpperCase();
}

/** PREQUAL alone by default: where the queue is measured, further stages would only wait in it again. */
export function prequal(endUserCode: string, overrides: Partial<LendingJourneyInput> = {}): LendingJourneyInput {
  return {
    journeyId: newJourneyId(),
    endUserCode,
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
    stages: ['PREQUAL'],
    applicants: [person('1A')],
    ...overrides,
  };
}

/** A journey that waits at the gate before its only stage, which costs no inquiry. */
export function waitingAtGate(): LendingJourneyInput {
  return prequal('EU123', { stages: ['PREAPP'], gates: { PREAPP: { pass: 'manual' } } });
}

/** An applicant whose file is a record. */
export function person(applicantId: string): Applicant {
  count++;
  return {
    applicantId,
    names: [{ first: 'Casey', last: `Sample-${applicantId}` }],
    ssn: `9${String(1_000 + (count % 8_999))}0001`,
    dob: '1985-04-12',
    phones: [{ phoneNumber: '2025550123', phoneType: 'MOBL' }],
    emailAddress: 'casey@example.com',
    ipAddress: '192.0.2.17',
    addresses: [{ addressIdentifier: 'C', line1: '12 Example Street', city: 'Springfield', state: 'IL', zip: '62704' }],
  };
}

/** A consumer denies a share that the journey does not have: it is recorded, and changes nothing. */
export function denial(journeyId: string, consentId: string): object {
  return {
    journeyId,
    shareId: 'NONE',
    applicantId: '1A',
    consentId,
    decision: 'denied',
    decidedAt: new Date(Date.now() - 1_000).toISOString(),
    secondaryUser: { endUserCode: 'EU999' },
  };
}

export function grant<Whose extends object>(whose: Whose) {
  const decidedAt = new Date(Date.now() - 1_000).toISOString();
  const evidence = { method: 'web', textVersion: 'v1', capturedAt: decidedAt, reference: 'doc-1' };
  return { decision: 'granted' as const, decidedAt, evidence, ...whose };
}

/** Calls `work` so many times, `atOnce` of them at any time; the results have the order of the calls. */
export async function manyAtOnce<T>(times: number, atOnce: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = new Array(times);
  let next = 0;
  const carry = async () => {
    for (let index = next++; index < times; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, carry));
  return results;
}
