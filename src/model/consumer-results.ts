/** The outcome of each applicant in an answer, for a run's status and result and for the ledger. Pure. */
import { omitUndefined } from '../base/defined.ts';
import type { AnsweredApplicant, Outcome } from './inquiry.ts';
import type { ApplicantOutcome } from './report-outcome.ts';

type OutcomeAnswer = Pick<Outcome, 'outcome' | 'reference' | 'applicants'>;

/**
 * Returns the result of each consumer. For FAILSAFE the gateway answers for each (interface 2.8). Otherwise one answer,
 * or an operator's decision, holds for all.
 *
 * @param asked ids of the applicants that the answered request named, in its order
 */
function listConsumers(answer: OutcomeAnswer, asked: readonly string[]): AnsweredApplicant[] {
  const { outcome, reference, applicants } = answer;
  return asked.map((applicantId) => {
    const own = applicants?.find((applicant) => applicant.applicantId === applicantId);
    if (own) return own;
    const consumer = reference?.applicants.find((applicant) => applicant.applicantId === applicantId);
    if (!reference || !consumer) return { applicantId, outcome: outcome === 'record' ? 'noRecord' : outcome };
    const { reportReferenceNumber } = reference;
    return { applicantId, outcome, reportReferenceNumber, consumerId: consumer.consumerId };
  });
}

/** Returns the outcome of each applicant, for any product, without members that name a consumer. */
export function listApplicantOutcomes(answer: OutcomeAnswer, asked: readonly string[]): ApplicantOutcome[] {
  return listConsumers(answer, asked).map(
    ({ reportReferenceNumber: _number, consumerId: _personal, ...outcome }) => outcome,
  );
}

/** Returns the content of an answer beside its outcome, for status, result and events. Nothing personal. */
export function toAnsweredInquiry(answer: Outcome, asked: readonly string[]) {
  const { returnCode, returnReasonCode, noRecordReference, remarks } = answer;
  return {
    ...omitUndefined({ returnCode, returnReasonCode, noRecordReference, remarks }),
    applicantOutcomes: listApplicantOutcomes(answer, asked),
  };
}

/**
 * Lists FAILSAFE's consumers, and the results that belong to an unknown one of several.
 *
 * @param asked as in `listConsumers`
 */
export function listFailsafeConsumers(answer: Outcome, asked: readonly string[]) {
  return { consumers: listConsumers(answer, asked), ...omitUndefined({ unattributed: answer.unattributed }) };
}

/**
 * The consumers that a report's answer names and has no record of: their `consumerId`s must be stored too (interface
 * 2.4). Without `applicantId` where the answer does not show whose one is.
 */
export function listConsumersWithoutRecord(answer: Outcome) {
  const { applicants = [], unattributed = [], noRecordReference } = answer;
  const named: { applicantId?: string; consumerId?: string }[] = [...applicants, ...unattributed];
  return named.flatMap(({ applicantId, consumerId }) =>
    consumerId === undefined ? [] : [{ ...omitUndefined({ applicantId, noRecordReference }), consumerId }],
  );
}
