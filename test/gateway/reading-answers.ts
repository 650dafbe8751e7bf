/** Reads answers as the gateway client does, for the tests of outcomes and holds. */
import assert from 'node:assert/strict';
import { type AnswerContext, readAnswer } from '../../src/gateway/answers.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { buildFailsafeRequest } from '../../src/gateway/requests.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { applicant, profileFor, reportRequest, secondApplicant, secondUseRequest, TRACE_NUMBER } from './fixtures.ts';

export const REQUESTED_AT = '2026-07-01T10:00:00.000Z';
export const ADA = applicant();
export const BEN = secondApplicant();

export function contextOf(applicants: Applicant[], changes: Partial<GatewayProfile> = {}): AnswerContext {
  const profile = profileFor('http://127.0.0.1', changes);
  return { profile, request: reportRequest(profile, { applicants }), expected: applicants, requestedAt: REQUESTED_AT };
}

export function failsafeContext(applicants: Applicant[], changes: Partial<GatewayProfile> = {}): AnswerContext {
  const profile = profileFor('http://127.0.0.1', changes);
  const request = buildFailsafeRequest({ customerTraceNumber: TRACE_NUMBER, applicants });
  return { profile, request, expected: applicants, requestedAt: REQUESTED_AT };
}

export function read(body: unknown, context: AnswerContext = contextOf([ADA])): Answer {
  const answer = readAnswer(typeof body === 'string' ? body : JSON.stringify(body), context);
  assert.ok(answer, 'must be JSON');
  return answer;
}

export function assertHold(answer: Answer, problem: RegExp): void {
  assert.equal(answer.kind, 'unexpectedResponse', JSON.stringify(answer));
  assert.match((answer as { problems: string[] }).problems.join('; '), problem);
}

export function consumersOf(answer: Answer): { applicantId: string; consumerId: string }[] {
  assert.equal(answer.kind, 'outcome', JSON.stringify(answer));
  return (answer.kind === 'outcome' && answer.reference?.applicants) || [];
}

export function record(entries: unknown[], changes: Record<string, unknown> = {}) {
  return { returnCode: 'Record', reportReferenceNumber: 'RRN-0001', applicants: entries, ...changes };
}

export function secondUseContext(changes: Partial<GatewayProfile> = {}): AnswerContext {
  const profile = profileFor('http://127.0.0.1', changes);
  return { profile, request: secondUseRequest(profile), expected: [], requestedAt: REQUESTED_AT };
}

export function failsafeEntry(changes: Record<string, unknown> = {}) {
  return {
    softwareProviderId: 'CRJY',
    softwareProviderVersion: '1',
    customerTraceNumber: TRACE_NUMBER,
    userId: 'user',
    reportReferenceNumber: 'FS-1',
    productCode: 'FAILSAFE',
    customerId: 'HOUSE0001',
    applicantId: '1A',
    consumerId: 'C1',
    returnCode: 'No Record',
    ...changes,
  };
}
