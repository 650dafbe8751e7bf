/** What of an answer may be read without a key. */
import { applicantOutcomes } from '../../messages/pull/consumer-results.ts';
import type { Answer } from '../../model/inquiry.ts';

export function summaryOf(answer: Answer | undefined) {
  return {
    kind: answer?.kind,
    outcome: answer?.kind === 'outcome' ? answer.outcome : undefined,
    // A code that is in no table, or of an answer that is not trusted, is unchecked text: it stays in the sealed
    // answer.
    returnCode: answer?.kind === 'outcome' ? answer.returnCode : undefined,
  };
}

/** Of an answer that was understood alone, as its return code. */
export function detailsOf(answer: Answer | undefined) {
  if (answer?.kind !== 'outcome') return {};
  const { returnReasonCode, reference, applicants } = answer;
  const withRecord = reference?.applicants.map(({ applicantId }) => ({ applicantId, outcome: 'record' as const }));
  const told = applicants
    ? applicantOutcomes(
        answer,
        applicants.map(({ applicantId }) => applicantId),
      )
    : withRecord;
  return {
    reasonCode: returnReasonCode,
    applicantOutcomes: told && told.length > 0 ? JSON.stringify(told) : undefined,
  };
}
