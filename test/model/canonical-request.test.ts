import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Applicant } from '../../src/model/applicant.ts';
import { toCanonicalRequest as text } from '../../src/model/canonical-request.ts';
import type { InquiryContent, InquiryDescription } from '../../src/model/inquiry.ts';
import { type ProductCode, REPORT_PRODUCTS } from '../../src/model/products.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { LedgerCipher } from '../../src/protection/sealed/sealing.ts';

/** An invented person. */
const APPLICANT: Applicant = {
  applicantId: '1A',
  names: [{ first: 'Ada', middle: 'B', last: 'Made-Up', gen: 'J' }],
  ssn: '900000001',
  dob: '1980-02-29',
  phones: [{ phoneNumber: '2065550101', phoneType: 'HOME' }],
  emailAddress: 'ada@example.com',
  ipAddress: '127.0.0.1',
  addresses: [
    { addressIdentifier: 'C', line1: '1 Main St', line2: 'Unit 2', city: 'Anytown', state: 'ny', zip: '10001-1234' },
  ],
};
const CO_APPLICANT: Applicant = { ...APPLICANT, applicantId: '2A', ssn: '900000002' };
const REFERENCE: ReportReference = {
  reportReferenceNumber: 'RRN-1',
  requestedAt: '2026-01-01T00:00:00Z',
  applicants: [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C2' },
  ],
};

function inquiry(productCode: ProductCode, change: Partial<InquiryDescription> = {}): InquiryDescription {
  return {
    customerTraceNumber: 'T',
    environment: 'sandbox',
    profile: 'default',
    customerId: 'HOUSE1',
    workflowType: 'lendingJourney',
    runKey: 'J-1',
    productCode,
    ordinal: 0,
    endUserCode: 'EU1',
    permissiblePurposeCode: 'AA',
    ...change,
  };
}

const REPORT: InquiryContent = { inquiry: inquiry('PREQUAL'), applicants: [APPLICANT, CO_APPLICANT] };
const FAILSAFE: InquiryContent = { inquiry: inquiry('FAILSAFE'), applicants: [APPLICANT] };
const { endUserCode: _, ...NAME_ONLY } = inquiry('SECONDUSE', { shareId: 'S1', endUser: 'Another Bank' });
const SHARES: Record<string, InquiryContent> = {
  'SECONDUSE with a code': { inquiry: inquiry('SECONDUSE', { shareId: 'S1' }), reference: REFERENCE },
  'SECONDUSE with a name': { inquiry: NAME_ONLY, reference: REFERENCE },
  'SECONDUSE with both': { inquiry: inquiry('SECONDUSE', { endUser: 'Another Bank' }), reference: REFERENCE },
};

const CONTENTS: Record<string, InquiryContent> = {
  ...Object.fromEntries(
    REPORT_PRODUCTS.map((productCode) => [productCode, { ...REPORT, inquiry: inquiry(productCode) }]),
  ),
  FAILSAFE,
  ...SHARES,
};

/** Recorded digests. A release that changed a digest would hold every inquiry in flight as `RequestDiffers`. */
const GOLDEN: Record<string, string> = {
  CR: '3067a8b9ffd2041b56ea481a9f26cd394c7c76e9c3c5940bb213cc9ff587bf86',
  PREQUAL: '262bc36f443e554374c6317bfb929ac80b190a4ae8bc042aaa44623c55a3d8b2',
  PREAPP: '580178a15b8b40f6590ff25c3106d5c3cee665582d85fd74902345fc70b85173',
  PRECLOSE: 'a9c8de073f80dabf78c3004cd4865ae2ec613daf572c259c438316998e85b77e',
  ACCTRVW: 'efc0963ec850cd5dcd5f0dd40f1148769cfb90d87f891256ddc284dc28601394',
  REFUPD: '861c4cea362300f761b8381472471392d6c4aef03bc6e2a26a92f4beaac8d7a6',
  FAILSAFE: '7bf4a827701e238c7093ee0dc1a9f11649b74796cc53121425219002f75c880f',
  'SECONDUSE with a code': '345b78a746cc092fe2ec19e4ac55ebb8c144d9d5e6e4f72c78d35271b4bc2d88',
  'SECONDUSE with a name': '9b254dec8bcb2dd1161a88394a4f69f1849108b9b24d2543612b7a1f92adf7f6',
  'SECONDUSE with both': '13be6e01177019d871f99e9009a9a3e79824e04c2e36a7da320edfc0284786bd',
};

const cipher = new LedgerCipher('ledger-1', Buffer.alloc(32, 1));

describe('the canonical form of a request', () => {
  for (const [name, content] of Object.entries(CONTENTS)) {
    test(`has the recorded v1 digest for ${name}`, () => {
      assert.equal(cipher.digest(text(content)), GOLDEN[name]);
    });
  }

  test('does not depend on the names of the inquiry or the order of members', () => {
    const named = { customerTraceNumber: 'U', runKey: 'J-2', workflowType: 'creditReport', ordinal: 3, amends: 'T' };
    assert.equal(text({ ...REPORT, inquiry: { ...REPORT.inquiry, ...named } }), text(REPORT));
    const reversed = Object.fromEntries(Object.entries(APPLICANT).reverse()) as unknown as Applicant;
    assert.equal(text({ ...REPORT, applicants: [reversed, CO_APPLICANT] }), text(REPORT));
    const later = { ...REFERENCE, requestedAt: '2027-01-01T00:00:00Z' };
    for (const share of Object.values(SHARES)) assert.equal(text({ ...share, reference: later }), text(share));
  });

  test('is the same after JSON serialization', () => {
    for (const content of Object.values(CONTENTS)) {
      assert.equal(text(JSON.parse(JSON.stringify(content)) as InquiryContent), text(content));
    }
  });

  test('differs for each field of the request on the wire', () => {
    const changed = (change: Partial<Applicant>): InquiryContent => ({
      ...REPORT,
      applicants: [{ ...APPLICANT, ...change }, CO_APPLICANT],
    });
    const others: InquiryContent[] = [
      ...Object.values(CONTENTS).filter((content) => text(content) !== text(REPORT)),
      { ...REPORT, applicants: [APPLICANT] },
      { ...REPORT, applicants: [CO_APPLICANT, APPLICANT] },
      { ...REPORT, inquiry: inquiry('PREQUAL', { endUserCode: 'EU2' }) },
      { ...REPORT, inquiry: inquiry('PREQUAL', { permissiblePurposeCode: 'BB' }) },
      { ...REPORT, inquiry: inquiry('PREQUAL', { customerId: 'HOUSE2' }) },
      changed({ ssn: '900000003' }),
      changed({ emailAddress: 'other@example.com' }),
      changed({ names: [{ first: 'Ada', last: 'Made-Up' }] }),
      changed({ phones: [{ phoneNumber: '2065550101' }] }),
      ...Object.values(SHARES).flatMap((share): InquiryContent[] => [
        { ...share, reference: { ...REFERENCE, reportReferenceNumber: 'RRN-2' } },
        { ...share, reference: { ...REFERENCE, applicants: REFERENCE.applicants.slice(0, 1) } },
        { ...share, inquiry: { ...share.inquiry, permissiblePurposeCode: 'BB' } },
      ]),
    ];
    const texts = [REPORT, ...others].map((content) => text(content));
    assert.equal(new Set(texts).size, texts.length);
  });

  test('omits for FAILSAFE the fields that its request does not have', () => {
    const { emailAddress: _email, ipAddress: _ip, ...less } = APPLICANT;
    assert.equal(text({ ...FAILSAFE, applicants: [{ ...less, applicantId: '9Z' }] }), text(FAILSAFE));
    assert.notEqual(text({ ...FAILSAFE, applicants: [{ ...APPLICANT, ssn: '900000003' }] }), text(FAILSAFE));
  });

  test('exists for invalid content too', () => {
    const content = {
      inquiry: inquiry('PREQUAL', { endUserCode: '' }),
      applicants: [{ ...APPLICANT, zip: '!', ssn: '' }],
    };
    assert.ok(text(content).length > 0);
    assert.ok(text({ inquiry: inquiry('SECONDUSE') }).length > 0);
  });
});
