/** The outcome of each applicant in an answer, for a run's status and result and for the ledger. Pure. */
import { defined } from '../../base/defined.ts';
import type { Outcome } from '../../model/inquiry.ts';
import type { ApplicantOutcome, ProviderText } from '../../model/report-outcome.ts';
import type { AnsweredInquiry } from '../journey/shapes.ts';
import type { ConsumerResult } from './shapes.ts';

type OutcomeAnswer = Pick<Outcome, 'outcome' | 'reference' | 'applicants'>;

/**
 * Of FAILSAFE, as the gateway answered for each (interface 2.8). Otherwise one answer, or a person's decision, stands
 * for all.
 *
 * @param asked ids of the applicants that the answered request named, in its order
 */
export function consumersOf(answer: OutcomeAnswer, asked: readonly string[]): ConsumerResult[] {
  const { outcome, reference, applicants } = answer;
  return asked.map((applicantId) => {
    const own = applicants?.find((one) => one.applicantId === applicantId);
    if (own) {
      const { said: _text, ...shown } = own;
      return shown;
    }
    const consumer = reference?.applicants.find((one) => one.applicantId === applicantId);
    if (!reference || !consumer) return { applicantId, outcome: outcome === 'record' ? 'noRecord' : outcome };
    const { reportReferenceNumber } = reference;
    return { applicantId, outcome, reportReferenceNumber, consumerId: consumer.consumerId };
  });
}

/** The same for any product, without what names a consumer. */
export function applicantOutcomes(answer: OutcomeAnswer, asked: readonly string[]): ApplicantOutcome[] {
  return consumersOf(answer, asked).map(
    ({ reportReferenceNumber: _number, consumerId: _personal, ...outcome }) => outcome,
  );
}

/** What an answer says beside its outcome, as status, result and events tell it. Nothing personal. */
export function answeredInquiry(answer: Outcome, asked: readonly string[]): AnsweredInquiry {
  const { returnCode, returnReasonCode, noRecordReference } = answer;
  return {
    ...defined({ returnCode, returnReasonCode, noRecordReference }),
    applicantOutcomes: applicantOutcomes(answer, asked),
  };
}

/** The provider's words, of the whole answer first. */
export function wordsOf({ said, applicants = [] }: Outcome): ({ applicantId?: string } & ProviderText)[] {
  return [
    ...(said ? [said] : []),
    ...applicants.flatMap(({ applicantId, said: own }) => (own ? [{ applicantId, ...own }] : [])),
  ];
}
