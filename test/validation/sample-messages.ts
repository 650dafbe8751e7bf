/** Valid messages, of which a test changes one part. All data are invented: SSNs start with 9, phones are 555-01xx. */

export function anApplicant(applicantId = '1A') {
  return {
    applicantId,
    names: [{ first: 'Alex', last: 'Sample' }],
    ssn: `9001${applicantId.charCodeAt(0)}001`,
    dob: '1984-04-12',
    phones: [{ phoneNumber: '2025550123' }],
    emailAddress: 'alex.sample@example.com',
    ipAddress: '192.0.2.10',
    addresses: [
      { addressIdentifier: 'C', line1: '100 Example Street', city: 'Springfield', state: 'IL', zip: '62701' },
    ],
  };
}

export function aJourney(change: Record<string, unknown> = {}) {
  return {
    journeyId: 'J-1001',
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01' },
    applicants: [anApplicant()],
    ...change,
  };
}

export function aConsent(change: Record<string, unknown> = {}) {
  return {
    journeyId: 'J-1001',
    shareId: 'S1',
    applicantId: '1A',
    consentId: 'C-1',
    decision: 'granted',
    decidedAt: '2026-01-02T03:04:05Z',
    secondaryUser: { endUserCode: 'EU456' },
    evidence: { method: 'web', textVersion: 'v1', capturedAt: '2026-01-02T03:04:00+01:00', reference: 'doc:1/2#3' },
    ...change,
  };
}

export function aDecision(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    journeyId: 'J-1001',
    decisionId: 'D-1',
    customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00',
    attempt: 1,
    action: 'resend',
    by: 'Operator One',
    reason: 'the provider found nothing',
    providerSaid: change.outcome === 'record' ? 'posted' : 'notPosted',
    ...change,
  };
}
