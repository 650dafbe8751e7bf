import type { AnsweredAttempt, InquiryFailure } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { Answer } from '../../model/inquiry.ts';
import { problemIn } from '../../model/problems.ts';

/** An answer from which no outcome can be taken: a person must judge it. */
export function failureOfAnswer(
  { attempt }: Pick<AnsweredAttempt, 'attempt'>,
  answer: Exclude<Answer, { kind: 'outcome' }>,
): InquiryFailure {
  const { kind, returnCode } = answer;
  return {
    ...{ attempt, claimed: true },
    ...defined({ returnCode }),
    ...(kind === 'returnCodeUnknown'
      ? { failureType: 'ReturnCodeUnknown', ...defined({ returnReasonCode: answer.returnReasonCode }) }
      : { failureType: 'UnexpectedResponse', problems: answer.problems.map(problemIn) }),
  };
}
