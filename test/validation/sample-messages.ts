import { MESSAGES } from '../../src/messages/all-messages.ts';
import { INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import type { Checked } from '../../src/messages/message.ts';

/** Valid messages that tests change. All data are invented: SSNs start with 9, phones are 555-01xx. */

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

export const REFERENCE = {
  reportReferenceNumber: 'R-1',
  requestedAt: '2026-01-02T03:04:05.123Z',
  applicants: [{ applicantId: '1A', consumerId: 'C-1' }],
};
const WHO = { by: 'Operator One', reason: 'the closing was put off' };
export const SHARE = {
  ...{ shareId: 'S1', endUserCode: 'EU456', endUser: 'Second Lender', permissiblePurposeCode: '05' },
  ...{ reportOf: 'PRECLOSE', awaitConsentFor: 'P10D', consentValidFor: 'P1DT12H' },
};
export const FULL_APPLICANT = {
  ...anApplicant(),
  names: [{ first: 'Alex', middle: 'B', last: 'Sample', gen: 'J' }],
  phones: [{ phoneNumber: '2025550123', phoneType: 'HOME' }],
  addresses: [{ ...anApplicant().addresses[0], line2: 'Unit 2', zip4: '0001' }],
};

const PULL = { pullId: 'P-1', profile: 'east-2', endUserCode: 'EU123', permissiblePurposeCode: '01' };

const SHARE_REPORT = {
  ...{ shareId: 'S-1', profile: 'east-2', endUserCode: 'EU999', endUser: 'Example Bank' },
  ...{ permissiblePurposeCode: '02', awaitConsentFor: 'P30D', consentValidFor: 'P90D' },
};

/** A decision for a run that is not a journey. */
function aDecisionOf(address: Record<string, string>, change: Record<string, unknown> = {}): Record<string, unknown> {
  const { journeyId: _, ...decision } = aDecision(change);
  return { ...decision, ...address };
}

/** Samples of each input and message. Together they have every optional member. */
export const SAMPLES: Record<string, object[]> = {
  'lending-journey-input': [
    aJourney({
      ...{ profile: 'east-2', onNoRecord: 'continue', sharesOpenFor: 'PT12H', applicants: [FULL_APPLICANT] },
      ...{ repeatsOpenFor: 'P60D', maxReportAge: 'P120D', endUserCodes: { PREQUAL: 'EU1', PRECLOSE: 'EU2' } },
      stages: ['PREQUAL', 'PRECLOSE'],
      attentionAbove: { newAccounts: 0, balanceMoves: 2 },
      gates: { PRECLOSE: { pass: 'manual', expiresAfter: 'P14D' } },
      shares: [SHARE],
    }),
  ],
  'credit-report-input': [{ ...PULL, productCode: 'REFUPD', applicants: [FULL_APPLICANT] }],
  'failsafe-check-input': [{ ...PULL, productCode: 'FAILSAFE', applicants: [FULL_APPLICANT] }],
  'withdraw-pull': [{ pullId: 'P-1', by: 'ops', reason: 'by mistake' }],
  'portfolio-review-input': [
    {
      ...{ reviewId: 'R-1', profile: 'east-2', endUserCode: 'EU123', permissiblePurposeCode: '01' },
      ...{ file: 'folder/file.jsonl', format: 'jsonl', window: 50, maxBadRows: 0 },
    },
  ],
  'portfolio-message': [{ reviewId: 'R-1', by: 'ops', reason: 'by mistake' }],
  'share-report-input': [
    { ...SHARE_REPORT, report: { journeyId: 'J-1', productCode: 'PREAPP', customerTraceNumber: 'PA00' } },
    { ...SHARE_REPORT, report: { pullId: 'P-1', productCode: 'CR' } },
    { ...SHARE_REPORT, report: { reference: REFERENCE, endUserCode: 'EU123' } },
  ],
  'resolve-share-report': [
    aDecisionOf({ shareId: 'S-1' }),
    aDecisionOf({ shareId: 'S-1' }, { action: 'accept', outcome: 'record', reference: REFERENCE }),
  ],
  extend: [
    { journeyId: 'J-1', gate: 'PREAPP', until: '2026-01-02T03:04:05Z', ...WHO },
    { journeyId: 'J-1', shareId: 'S1', until: '2026-01-02T03:04:05+02:00', ...WHO },
  ],
  'extend-share-report': [{ shareId: 'S1', until: '2026-01-02T03:04:05Z', ...WHO }],
  'withdraw-share-report': [{ shareId: 'S-1', by: 'ops', reason: 'by mistake' }],
  consent: [
    aConsent({ proof: 'aa.bb.cc' }),
    aConsent({ decision: 'denied' }),
    aConsent({ journeyId: 'share:S-1', shareId: 'S-1' }),
  ],
  advance: [
    { journeyId: 'J-1', to: 'PREAPP', applicants: [FULL_APPLICANT] },
    { journeyId: 'J-1', to: 'PREAPP', acceptAge: true, ...WHO },
    { journeyId: 'J-1', repeat: 'PRECLOSE', occurrence: 2, ...WHO, applicants: [FULL_APPLICANT] },
  ],
  'request-share': [{ journeyId: 'J-1', share: SHARE }],
  'withdraw-share': [{ journeyId: 'J-1', shareId: 'S9', by: 'ops', reason: 'another investor was meant' }],
  'resolve-inquiry': [
    aDecision(),
    aDecision({ action: 'accept', outcome: 'record', reference: REFERENCE }),
    aDecision({ action: 'accept', outcome: 'noRecord' }),
    aDecision({ action: 'amend', applicants: [FULL_APPLICANT] }),
    aDecision({ action: 'amend' }),
  ],
  'resolve-pull': [
    aDecisionOf({ pullId: 'P-1' }),
    aDecisionOf({ pullId: 'P-1' }, { action: 'accept', outcome: 'noRecord' }),
  ],
  'resolve-portfolio': [
    aDecisionOf({ reviewId: 'R-1' }),
    aDecisionOf({ reviewId: 'R-1' }, { action: 'amend', applicants: [FULL_APPLICANT] }),
  ],
  withdraw: [{ journeyId: 'J-1', by: 'Platform', reason: 'the loan was called off' }],
};

/** The definitions, by the name of the published schema. */
export const DEFINITIONS = new Map<string, Checked>(
  [...Object.values<Checked>(MESSAGES), ...Object.values<Checked>(INPUTS)].flatMap((definition) =>
    definition.published ? [[definition.published.file, definition]] : [],
  ),
);
