/** Profiles, applicants and requests for the gateway's tests. All persons are invented. */
import { DEFAULT_CHANGE_OPTIONS } from '../../src/fields/change-options.ts';
import type { GatewayLimits, GatewayProfile } from '../../src/gateway/profile.ts';
import { buildReportRequest, buildSecondUseRequest, type ReportRequest } from '../../src/gateway/requests.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { ReportProduct } from '../../src/model/products.ts';

export const TEST_LIMITS: GatewayLimits = {
  connections: 4,
  connectTimeoutMs: 2_000,
  headersTimeoutMs: 2_000,
  bodyTimeoutMs: 2_000,
  keepAliveTimeoutMs: 4_000,
  maxResponseBytes: 64 * 1024,
  maxDecodedBytes: 64 * 1024,
  maxApplicants: 4,
};

export function profileFor(
  baseUrl: string,
  changes: Partial<Omit<GatewayProfile, 'limits'>> & { limits?: Partial<GatewayLimits> } = {},
): GatewayProfile {
  const { limits, ...others } = changes;
  return {
    name: 'default',
    environment: 'sandbox',
    authUrl: baseUrl,
    baseUrl,
    apiVersion: 'grs_v001',
    audience: 'servicegateway',
    customerId: 'HOUSE0001',
    softwareProviderId: 'CRJY',
    timeZone: 'America/New_York',
    credentials: { name: 'default', read: async () => ({ clientId: 'client-1', clientSecret: 'secret-1' }) },
    notProcessedStatuses: [401, 429],
    returnCodes: {},
    ssnMismatch: 'hold',
    ssnsWithNine: 'refuse',
    accents: 'refuse',
    resendTraceNumber: 'same',
    originalInquiryDateSource: 'secondaryUse',
    consentTrust: 'namespace',
    decisionTrust: 'namespace',
    changes: DEFAULT_CHANGE_OPTIONS,
    allowed: {},
    ...others,
    limits: { ...TEST_LIMITS, ...limits },
  };
}

export function applicant(changes: Partial<Applicant> = {}): Applicant {
  return {
    applicantId: '1A',
    names: [{ first: 'Ada', middle: 'Q', last: "O'Brien" }],
    ssn: '912345678',
    dob: '1980-02-29',
    phones: [{ phoneNumber: '2025550123', phoneType: 'HOME' }],
    emailAddress: 'ada@example.com',
    ipAddress: '192.0.2.7',
    addresses: [
      {
        addressIdentifier: 'C',
        line1: '1 Main Street',
        line2: 'Unit 2',
        city: 'Springfield',
        state: 'NY',
        zip: '10001',
      },
    ],
    ...changes,
  };
}

export function secondApplicant(changes: Partial<Applicant> = {}): Applicant {
  return applicant({
    applicantId: '2A',
    names: [{ first: 'Ben', last: 'Smith-Jones', gen: 'J' }],
    ssn: '998765432',
    emailAddress: 'ben@example.com',
    ...changes,
  });
}

export const TRACE_NUMBER = 'PQABCDEFGHIJKLMNOPQRSTUVWX00';

export function reportRequest(
  profile: GatewayProfile,
  changes: { productCode?: ReportProduct; customerTraceNumber?: string; applicants?: Applicant[] } = {},
): ReportRequest {
  return buildReportRequest({
    profile,
    productCode: changes.productCode ?? 'PREQUAL',
    customerTraceNumber: changes.customerTraceNumber ?? TRACE_NUMBER,
    endUserCode: 'LENDER01',
    permissiblePurposeCode: 'CP',
    applicants: changes.applicants ?? [applicant()],
  });
}

export function secondUseRequest(profile: GatewayProfile) {
  return buildSecondUseRequest({
    profile,
    customerTraceNumber: TRACE_NUMBER,
    endUser: 'Second Lender',
    permissiblePurposeCode: 'CP',
    reference: {
      reportReferenceNumber: 'RRN-1',
      requestedAt: '2026-01-01T00:00:00Z',
      applicants: [{ applicantId: '1A', consumerId: 'CONSUMER1' }],
    },
    originalInquiryAt: new Date(Date.now() - 3_000),
  });
}

/** The body of a good answer to `reportRequest` for the given applicants. */
export function recordBody(applicants: Applicant[] = [applicant()], changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    returnCode: 'Record',
    reportReferenceNumber: 'RRN-0001',
    applicants: applicants.map(({ applicantId, ssn }, index) => ({
      applicantId,
      consumerId: `CONSUMER${index + 1}`,
      consumer: { names: [{ first: 'ADA', last: "O'BRIEN" }], ssn, accounts: [] },
    })),
    ...changes,
  });
}
