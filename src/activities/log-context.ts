/** What each log line of an activity carries beside the SDK's own fields: which inquiry it is about. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

interface InquiryNames {
  customerTraceNumber?: string;
  productCode?: string;
  /** Not the SDK's `attempt`, which counts what Temporal repeats of the activity. */
  inquiryAttempt?: number;
}

/** For the worker: its own lines about an activity carry them too, such as that it failed. */
export const inquiryLogContext: ActivityInterceptorsFactory = () => {
  let names: InquiryNames = {};
  return {
    inbound: {
      execute(input, next) {
        names = namesIn(input.args[0]);
        return next(input);
      },
    },
    outbound: { getLogAttributes: (attributes, next) => next({ ...attributes, ...names }) },
  };
};

/** An activity's one argument has an inquiry, or is about an attempt of one. */
function namesIn(args: unknown): InquiryNames {
  const { inquiry, attempt, customerTraceNumber } = objectOf(args);
  const { productCode, customerTraceNumber: ofInquiry } = objectOf(inquiry);
  const traceNumber = ofInquiry ?? customerTraceNumber;
  return {
    ...(typeof traceNumber === 'string' ? { customerTraceNumber: traceNumber } : {}),
    ...(typeof productCode === 'string' ? { productCode } : {}),
    ...(typeof attempt === 'number' ? { inquiryAttempt: attempt } : {}),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
