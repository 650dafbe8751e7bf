/** What FAILSAFE's answer says of each consumer that was asked for: for a run's own word and for the ledger's. Pure. */
import type { Answer } from '../../model/inquiry.ts';
import type { ConsumerResult } from './shapes.ts';

type OutcomeAnswer = Pick<Extract<Answer, { kind: 'outcome' }>, 'outcome' | 'reference' | 'applicants'>;

/**
 * As the gateway told it of each (interface 2.8); else as one answer, or a person's word, stands for all.
 *
 * @param asked ids of the applicants that the answered request named, in its order
 */
export function consumersOf(
  { outcome, reference, applicants }: OutcomeAnswer,
  asked: readonly string[],
): ConsumerResult[] {
  return asked.map((applicantId) => {
    const own = applicants?.find((one) => one.applicantId === applicantId);
    if (own) return own;
    const consumer = reference?.applicants.find((one) => one.applicantId === applicantId);
    if (!reference || !consumer) return { applicantId, outcome: outcome === 'record' ? 'noRecord' : outcome };
    const { reportReferenceNumber } = reference;
    return { applicantId, outcome, reportReferenceNumber, consumerId: consumer.consumerId };
  });
}
