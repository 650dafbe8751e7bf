/** Counts attempts and inquiries from the input and result of the worker's activities, which do not know this file. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { SubmitFailureDetails, SubmitInquiryResult } from '../activities/contract.ts';
import type { DecisionRecord, DecisionVerdict } from '../ledger/records.ts';
import { isFailureType } from '../model/failure-types.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import type { Metrics } from './metrics.ts';

export function createActivityMetrics(metrics: Metrics): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const [args] = input.args;
        switch (info.activityType) {
          case 'submitInquiry':
            return countAttempt(metrics, args as CountedArgs, next(input) as Promise<SubmitInquiryResult>);
          case 'recordDecision':
            return countDecision(metrics, (args ?? {}) as DecisionArgs, next(input) as Promise<DecisionVerdict>);
          case 'deliverWebhook':
            return countWebhook(metrics, next(input));
          default:
            return next(input);
        }
      },
    },
  });
}

const RESULTS = {
  outcome: 'answered',
  returnCodeUnknown: 'ReturnCodeUnknown',
  unexpectedResponse: 'UnexpectedResponse',
} as const;

type CountedArgs = { inquiry?: { productCode?: ProductCode } } | undefined;

async function countAttempt(metrics: Metrics, args: CountedArgs, result: Promise<SubmitInquiryResult>) {
  const product = args?.inquiry?.productCode;
  try {
    const submitted = await result;
    // The call that made that attempt has already counted `latest`.
    if (submitted.kind === 'answered') {
      const { answer } = submitted;
      metrics.put('attempts', 1, { product, result: RESULTS[answer.kind] });
      if (answer.kind === 'outcome') metrics.put('inquiries', 1, { product, outcome: answer.outcome });
    }
    return submitted;
  } catch (error) {
    const { type, details } = error as { type?: unknown; details?: SubmitFailureDetails[] };
    if (isFailureType(type) && details?.[0]?.claimed) metrics.put('attempts', 1, { product, result: type });
    throw error;
  }
}

async function countWebhook(metrics: Metrics, result: Promise<unknown>) {
  try {
    const delivered = await result;
    metrics.put('webhooks', 1, { result: 'delivered' });
    return delivered;
  } catch (error) {
    metrics.put('webhooks', 1, { result: (error as { type?: unknown }).type });
    throw error;
  }
}

interface DecisionArgs {
  inquiry?: InquiryDescription;
  decision?: DecisionRecord;
}

async function countDecision(metrics: Metrics, { inquiry, decision }: DecisionArgs, result: Promise<DecisionVerdict>) {
  const verdict = await result;
  if (verdict.kind !== 'recorded') return verdict;
  if (decision?.action === 'abandon')
    metrics.put('inquiries', 1, { product: inquiry?.productCode, outcome: 'abandoned' });
  if (decision?.action === 'accept' && decision.answer?.kind === 'outcome') {
    metrics.put('inquiries', 1, { product: inquiry?.productCode, outcome: decision.answer.outcome });
  }
  return verdict;
}
