/** The body of a product's answer: interface 2.4 and 2.5, 2.7, 2.8. */

import type { Body } from '../faults/fault.ts';
import { magicFileOf } from '../faults/magic-applicants.ts';
import type { IssuedConsumer, PostedInquiry } from '../records/posting.ts';
import { consumerIdOf } from '../records/records.ts';
import { type ConsumerRequest, type GatewayRequest, isSecondaryUse } from '../rules/check-request.ts';
import { consumerReport } from './consumer-report.ts';

export const RECORD = 'Record';
export const NO_RECORD = 'No Record';

/** The return code of each applicant, in the request's order; for SECONDUSE one entry for the whole answer. */
export type ReturnCodes = readonly string[];

/** The top-level code: a record if any applicant has one. */
export function overallReturnCode(codes: ReturnCodes): string {
  return codes.includes(RECORD) ? RECORD : (codes[0] ?? NO_RECORD);
}

/**
 * The consumers whose report the answer contains, and whom a SECONDUSE may therefore name. FAILSAFE returns no report.
 */
export function reportedConsumers(request: GatewayRequest, codes: ReturnCodes): IssuedConsumer[] {
  if (isSecondaryUse(request) || request.productCode === 'FAILSAFE') return [];
  return request.applicants
    .filter((_, index) => codes[index] === RECORD)
    .map(({ ssn }) => ({ consumerId: consumerIdOf(ssn), ssnLastFour: ssn.slice(-4) }));
}

export interface AnswerParts {
  request: GatewayRequest;
  inquiry: PostedInquiry;
  codes: ReturnCodes;
  /** FAILSAFE's `userId`: credentials belong to a user ID (interface 5, step 4). */
  userId: string;
  /** Tradelines per report; default 3 to 6. */
  accounts?: number;
}

/** The answer as it goes over the wire, before any fault. */
export function productAnswer(parts: AnswerParts): Body {
  const { request, inquiry, codes } = parts;
  const reportReferenceNumber = inquiry.reportReferenceNumber;
  if (isSecondaryUse(request)) return { returnCode: overallReturnCode(codes), reportReferenceNumber };
  if (request.productCode === 'FAILSAFE') return failsafeAnswer(request, parts);
  const returnCode = overallReturnCode(codes);
  const applicants = request.applicants.map((applicant, index) => {
    const entry = { applicantId: applicant.applicantId };
    if (codes[index] !== RECORD) return entry;
    const consumer = consumerReport(applicant, {
      crossReferences: request.productCode === 'REFUPD',
      ...(magicFileOf(applicant.ssn.slice(-4), request.productCode) ?? {}),
      ...(parts.accounts !== undefined && { accounts: parts.accounts }),
    });
    return { ...entry, consumerId: consumerIdOf(applicant.ssn), consumer };
  });
  return { returnCode, ...reasons(returnCode), reportReferenceNumber, applicants };
}

/** Fields beyond the interface that accompany the rarer codes (design, section 11). */
function reasons(returnCode: string): Body {
  switch (returnCode) {
    case 'Suppress':
      return { returnReasonCode: 'S001', returnReasonDesc: 'File suppressed' };
    case 'Exempt':
      return { returnReasonCode: 'E001', returnReasonDesc: 'File exempt' };
    case 'Error':
      return { errorMessage: 'The sandbox was told to answer with an error' };
    default:
      return {};
  }
}

function failsafeAnswer(request: ConsumerRequest, { inquiry, codes, userId }: AnswerParts): Body {
  const consumers = request.applicants.map((applicant, index) => ({
    softwareProviderId: request.softwareProviderId ?? '',
    softwareProviderVersion: '1.0',
    customerTraceNumber: request.customerTraceNumber,
    userId,
    reportReferenceNumber: inquiry.reportReferenceNumber,
    productCode: request.productCode,
    customerId: request.customerId ?? '',
    // The sample request has no applicantId (4.3), but its response has one: then "1A" to "9A" (design, section 11).
    applicantId: applicant.applicantId ?? `${index + 1}A`,
    consumerId: consumerIdOf(applicant.ssn),
    returnCode: codes[index] ?? NO_RECORD,
  }));
  return { consumers };
}
