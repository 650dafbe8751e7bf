/**
 * The body of a product's answer, with what the interface shows (2.4 and 2.5, 2.7, 2.8) and nothing else. What a client
 * should take as well is a variant (faults/variants.ts), which a plan or `--with` asks for.
 */

import type { Body } from '../faults/fault.ts';
import { magicFileOf } from '../faults/magic-codes.ts';
import type { IssuedConsumer, PostedInquiry } from '../records/posting.ts';
import { consumerIdOf } from '../records/records.ts';
import { type ConsumerRequest, type GatewayRequest, isSecondaryUse } from '../rules/check-request.ts';
import { consumerReport } from './consumer-report.ts';

export const RECORD = 'Record';
export const NO_RECORD = 'No Record';

/** The return code of each applicant, in the request's order; for SECONDUSE one entry for the whole answer. */
export type ReturnCodes = readonly string[];

/** The top-level code: a record if any applicant has one. */
function overallReturnCode(codes: ReturnCodes): string {
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
    // 2.4 shows nothing that would name an applicant without a record.
    if (codes[index] !== RECORD) return {};
    const consumer = consumerReport(applicant, {
      crossReferences: request.productCode === 'REFUPD',
      ...(magicFileOf(applicant.ssn.slice(-4), request.productCode) ?? {}),
      ...(parts.accounts !== undefined && { accounts: parts.accounts }),
    });
    return { consumerId: consumerIdOf(applicant.ssn), consumer };
  });
  return { returnCode, reportReferenceNumber, applicants };
}

/** FAILSAFE's request names neither (4.3), and its answer has both (2.8). */
const HOUSE = { customerId: 'SBXHOUSE01', softwareProviderId: 'SBX1' };

/**
 * The interface shows the ten fields and none of their values but `No Record` (2.8). So the values are those that help a
 * client least: nothing of the request comes back, and the provider counts the applicants from the last.
 */
function failsafeAnswer(request: ConsumerRequest, { inquiry, codes, userId }: AnswerParts): Body {
  const count = request.applicants.length;
  const consumers = request.applicants.map(({ ssn }, index) => ({
    softwareProviderId: HOUSE.softwareProviderId,
    softwareProviderVersion: '1.0',
    customerTraceNumber: '',
    userId,
    reportReferenceNumber: `${inquiry.reportReferenceNumber}${index + 1}`,
    productCode: '',
    customerId: HOUSE.customerId,
    applicantId: `${count - index}A`,
    consumerId: consumerIdOf(ssn),
    returnCode: codes[index] ?? NO_RECORD,
  }));
  return { consumers };
}
