/** Adds the inquiry to each log line of an activity, beside the SDK's own fields. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isRecord } from '../base/is-record.ts';

/** Log lines that the SDK writes about an activity, such as its failure, have these fields too. */
export const inquiryLogContext: ActivityInterceptorsFactory = () => {
  let names = {};
  return {
    inbound: {
      execute(input, next) {
        names = readNames(input.args[0]);
        return next(input);
      },
    },
    outbound: { getLogAttributes: (attributes, next) => next({ ...attributes, ...names }) },
  };
};

/** An activity's one argument contains an inquiry, or concerns an attempt of one. The logger prints only scalars. */
function readNames(args: unknown) {
  // Differs from the SDK's `attempt`, which counts Temporal's retries of the activity.
  const { inquiry, attempt: inquiryAttempt, ...others }: Record<string, unknown> = isRecord(args) ? args : {};
  const { productCode, customerTraceNumber = others.customerTraceNumber } = isRecord(inquiry) ? inquiry : {};
  return { customerTraceNumber, productCode, inquiryAttempt };
}
