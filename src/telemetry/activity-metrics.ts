/** Counts attempts and inquiries from the input and result of the worker's activities, which do not know this file. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { SubmitFailureDetails, SubmitInquiryResult } from '../activities/contract.ts';
import type { DecisionRecord, DecisionVerdict } from '../ledger/records.ts';
import { isFailureType } from '../model/failure-types.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import type { Metrics } from './metrics.ts';

export function createActivityMetrics(metrics: Metrics): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const counts = COUNTED[info.activityType];
        const args: CountedArgs = input.args[0] ?? {};
        try {
          const result = await next(input);
          counts?.countResult(metrics, args, result as never);
          return result;
        } catch (error) {
          counts?.countError?.(metrics, args, error as never);
          throw error;
        }
      },
    },
  });
}

interface CountedArgs {
  inquiry?: Pick<InquiryDescription, 'productCode'>;
  decision?: DecisionRecord;
}

interface Counts {
  countResult(metrics: Metrics, args: CountedArgs, result: never): void;
  countError?(metrics: Metrics, args: CountedArgs, error: never): void;
}

const RESULTS = {
  outcome: 'answered',
  returnCodeUnknown: 'ReturnCodeUnknown',
  unexpectedResponse: 'UnexpectedResponse',
} as const;

/** The activities that are counted, by type. */
const COUNTED: Partial<Record<string, Counts>> = {
  submitInquiry: {
    countResult(metrics, { inquiry }, submitted: SubmitInquiryResult) {
      // The call that made that attempt has already counted `latest`.
      if (submitted.kind !== 'answered') return;
      const { answer } = submitted;
      const product = inquiry?.productCode;
      metrics.put('attempts', 1, { product, result: RESULTS[answer.kind] });
      if (answer.kind === 'outcome') metrics.put('inquiries', 1, { product, outcome: answer.outcome });
    },
    countError(metrics, { inquiry }, { type, details }: { type?: unknown; details?: SubmitFailureDetails[] }) {
      if (!isFailureType(type) || !details?.[0]?.claimed) return;
      metrics.put('attempts', 1, { product: inquiry?.productCode, result: type });
    },
  },
  recordDecision: {
    countResult(metrics, { inquiry, decision }, { kind }: DecisionVerdict) {
      const { action, answer } = decision ?? {};
      const accepted = action === 'accept' && answer?.kind === 'outcome' ? answer.outcome : undefined;
      const outcome = action === 'abandon' ? 'abandoned' : accepted;
      if (kind !== 'recorded' || outcome === undefined) return;
      metrics.put('inquiries', 1, { product: inquiry?.productCode, outcome });
    },
  },
  deliverWebhook: {
    countResult: (metrics) => metrics.put('webhooks', 1, { result: 'delivered' }),
    countError: (metrics, _, { type }: { type?: unknown }) => metrics.put('webhooks', 1, { result: type }),
  },
};
