/** The messages of `creditReport` and `failsafeCheck`; their wire names are those of a journey's (messages.ts). */
import { defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { resolveInquiryProblem, withdrawProblem } from '../../messages/checks.ts';
import type {
  PullReferences,
  PullStatus,
  PullUpdateAnswer,
  ResolvePullMessage,
  WithdrawPullMessage,
} from '../../messages/pull/shapes.ts';
import { handleUnknownSignals } from '../run/messages/message-answers.ts';
import { PULL_DESCRIPTIONS } from '../run/messages/message-descriptions.ts';
import { checkApplicants, handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import type { Pull } from './pull.ts';

export const resolveInquiry = defineUpdate<PullUpdateAnswer, [ResolvePullMessage]>('resolveInquiry');
export const withdraw = defineUpdate<PullUpdateAnswer, [WithdrawPullMessage]>('withdraw');
export const requestWithdrawal = defineSignal<[WithdrawPullMessage]>('requestWithdrawal');
export const status = defineQuery<PullStatus>('status');
export const references = defineQuery<PullReferences>('references');

export function handlePullMessages(pull: Pull): void {
  const otherPull = (message: { pullId: string }) =>
    message.pullId === pull.pullId ? null : '/pullId names another pull';
  handleWithdrawals(pull, {
    definitions: { withdraw, requestWithdrawal },
    descriptions: PULL_DESCRIPTIONS,
    problemOf: (message, via) => withdrawProblem(message, 'pullId', via) ?? otherPull(message),
    record: { ownerId: pull.ownerId },
  });
  handleDecisions(pull, {
    definition: resolveInquiry,
    description: PULL_DESCRIPTIONS.resolveInquiry,
    problemOf: (message) => resolveInquiryProblem(message, 'pullId') ?? otherPull(message),
    checkApplicants: (applicants) =>
      checkApplicants({ profile: pull.profile, applicants, productCode: pull.productCode }),
  });
  setHandler(status, () => pull.status(), { description: PULL_DESCRIPTIONS.status });
  setHandler(references, () => pull.references(), { description: PULL_DESCRIPTIONS.references });
  handleUnknownSignals(pull);
  pull.decided.begin(pull);
}
