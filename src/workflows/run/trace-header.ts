/**
 * Passes the trace of a run's start on to its activities, and to the run that continues it. A run makes no spans of its
 * own: this file waits for nothing, so traces may be switched on and off under a run.
 */
import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** The header in which the SDK's interceptors of every language keep the context. */
const TRACE_HEADER = '_tracer-data';
/** Several times what W3C trace context needs. Each activity's event in the history has it. */
const MAX_BYTES = 1_024;

export const interceptors = (): WorkflowInterceptors => {
  let trace: Headers = {};
  const passOn = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const { [TRACE_HEADER]: payload } = input.headers;
          if (payload && (payload.data?.byteLength ?? 0) < MAX_BYTES) trace = { [TRACE_HEADER]: payload };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(passOn(input)),
        continueAsNew: (input, next) => next(passOn(input)),
      },
    ],
  };
};
