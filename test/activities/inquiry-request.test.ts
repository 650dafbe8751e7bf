import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRequest } from '../../src/activities/inquiry-request.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { SecondUseRequest } from '../../src/gateway/requests.ts';
import type { InquiryContent } from '../../src/model/inquiry.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { applicant, profileFor, TRACE_NUMBER } from '../gateway/fixtures.ts';

const INQUIRY: InquiryContent['inquiry'] = {
  customerTraceNumber: TRACE_NUMBER,
  environment: 'sandbox',
  profile: 'default',
  customerId: 'HOUSE0001',
  workflowType: 'lendingJourney',
  runKey: 'J1',
  productCode: 'CR',
  ordinal: 0,
};

const SHARE: InquiryContent = {
  inquiry: { ...INQUIRY, productCode: 'SECONDUSE', endUserCode: 'LENDER02', permissiblePurposeCode: 'CP' },
  reference: {
    reportReferenceNumber: 'RRN-1',
    requestedAt: '2026-01-01T00:00:00Z',
    applicants: [{ applicantId: '1A', consumerId: 'C1' }],
  },
};

function dateOf(claimedAt: string, changes: Partial<GatewayProfile> = {}): string {
  const profile = profileFor('http://127.0.0.1', { timeZone: 'UTC', ...changes });
  return (buildRequest(profile, SHARE, new Date(claimedAt)) as SecondUseRequest).originalInquiryDate;
}

test('a share’s originalInquiryDate is a few seconds before its attempt’s claim, also if the attempt is sent later', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-01T15:00:00Z') });
  assert.equal(dateOf('2026-03-01T12:00:10Z'), '2026-03-01 12:00:05');
  assert.equal(dateOf('2026-03-01T12:00:10.999Z', { timeZone: 'America/New_York' }), '2026-03-01 07:00:05');
});

test('a share’s originalInquiryDate is never in the future, also if the ledger’s clock is ahead', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-01T12:00:00Z') });
  assert.equal(dateOf('2026-03-01T12:10:00Z'), '2026-03-01 11:59:55');
});

test('a share’s originalInquiryDate is not in the future after the clock of its zone was set back', (t) => {
  // Two o'clock in New York became one o'clock three seconds ago.
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-01T06:00:03Z') });
  assert.equal(dateOf('2026-11-01T06:00:02Z', { timeZone: 'America/New_York' }), '2026-11-01 00:59:58');
});

test('a share’s originalInquiryDate is the date of the original request if the profile sets that', () => {
  assert.equal(dateOf('2026-03-01T12:00:10Z', { originalInquiryDateSource: 'originalRequest' }), '2026-01-01 00:00:00');
});

test('a report requested by a worker whose clock is a little ahead can be shared at once', (t) => {
  const changes = { originalInquiryDateSource: 'originalRequest' } as const;
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2025-12-31T23:59:58Z') });
  assert.equal(dateOf('2025-12-31T23:59:58Z', changes), '2025-12-31 23:59:53');
  t.mock.timers.setTime(Date.parse('2025-12-31T23:59:54Z'));
  assert.throws(() => dateOf('2025-12-31T23:59:54Z', changes), InvalidInputError);
});

test('a report of the hour before a clock is set back, or forward, is dated 5 s before now, for a gateway whose clock is behind', (t) => {
  const changes = { originalInquiryDateSource: 'originalRequest', timeZone: 'America/New_York' } as const;
  const dateAt = (requestedAt: string, now: string) => {
    t.mock.timers.setTime(Date.parse(now));
    const share = { ...SHARE, reference: { ...SHARE.reference, requestedAt } } as typeof SHARE;
    const profile = profileFor('http://127.0.0.1', changes);
    return (buildRequest(profile, share, new Date()) as SecondUseRequest).originalInquiryDate;
  };
  t.mock.timers.enable({ apis: ['Date'] });
  assert.equal(dateAt('2026-11-01T05:30:00Z', '2026-11-01T06:10:00Z'), '2026-11-01 01:09:55');
  assert.equal(dateAt('2026-03-08T07:00:00Z', '2026-03-08T07:00:01Z'), '2026-03-08 01:59:56');
});

test('a request with a purpose or an end user that the profile does not list for the product is refused', () => {
  const allowed = {
    CR: { endUserCodes: ['LENDER01'], permissiblePurposeCodes: ['CP'] },
    SECONDUSE: { endUserCodes: ['LENDER02'] },
  };
  const profile = profileFor('http://127.0.0.1', { allowed });
  const asked = (endUserCode: string, permissiblePurposeCode: string) => {
    const content = { inquiry: { ...INQUIRY, endUserCode, permissiblePurposeCode }, applicants: [applicant()] };
    return buildRequest(profile, content, new Date());
  };
  assert.equal(asked('LENDER01', 'CP').productCode, 'CR');
  assert.throws(() => asked('LENDER02', 'XX'), {
    problems: [
      { path: '/endUserCode', rule: 'must be an end user that the profile allows for CR' },
      { path: '/permissiblePurposeCode', rule: 'must be a purpose that the profile allows for CR: CP' },
    ],
  });
  const { endUserCode: _, ...inquiry } = SHARE.inquiry;
  assert.throws(() => buildRequest(profile, { ...SHARE, inquiry: { ...inquiry, endUser: 'Lender' } }, new Date()), {
    problems: [{ path: '/endUserCode', rule: 'is required: the profile lists what it allows for SECONDUSE' }],
  });
});
