/** Spans of a client's calls to Temporal. Their context travels in the headers of starts, signals and updates. */
import { context, propagation } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';

/**
 * Makes an interceptor that uses the provider that the program has registered. Queries are not traced: they change
 * nothing, and are polled. Headers are stored in the clear, so they never contain the program's own baggage.
 */
export function createClientTracing(): WorkflowClientInterceptor {
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
