/** The outcome of each consumer in FAILSAFE's answer, for a run's result and for the ledger. Pure. */
import type { Answer } from '../../model/inquiry.ts';
import type { ConsumerResult } from './shapes.ts';

type OutcomeAnswer = Pick<Extract<Answer, { kind: 'outcome' }>, 'outcome' | 'reference' | 'applicants'>;

/**
 * As the gateway answered for each (interface 2.8). Otherwise one answer, or a person's decision, stands for all.
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
