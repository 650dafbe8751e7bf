/** Spans of what a client asks of Temporal, and their context in the headers of what is started, signalled or updated. */
import { context, propagation } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';

/**
 * By whatever provider the program has registered. Queries are not traced: they change nothing, and are polled.
 * Headers are stored in the clear, so that a program's own baggage, whatever is in it, stays out of them.
 */
export function clientTracing(): WorkflowClientInterceptor {
  const sdk = new OpenTelemetryWorkflowClientInterceptor();
  return {
    start: (input, next) => withoutBaggage(() => sdk.start(input, next)),
    startWithDetails: (input, next) => withoutBaggage(() => sdk.startWithDetails(input, next)),
    signal: (input, next) => withoutBaggage(() => sdk.signal(input, next)),
    signalWithStart: (input, next) => withoutBaggage(() => sdk.signalWithStart(input, next)),
    startUpdate: (input, next) => withoutBaggage(() => sdk.startUpdate(input, next)),
    startUpdateWithStart: (input, next) => withoutBaggage(() => sdk.startUpdateWithStart(input, next)),
  };
}

function withoutBaggage<T>(call: () => T): T {
  return context.with(propagation.deleteBaggage(context.active()), call);
}
