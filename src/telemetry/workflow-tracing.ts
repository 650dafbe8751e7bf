/**
 * Traces workflows. Only the workflow bundle of a tracing worker contains this file.
 *
 * A run must continue, and replay, under either bundle, because operators switch traces on and off under it. So nothing
 * here makes a command or puts a step between one promise and the next: the workflow awaits the very promise that it
 * would await without traces. The SDK's own interceptors wait in between, and a run that had an update under them no
 * longer replays without. So this file uses only their tracer, and their way out of the sandbox.
 */
import {
  type Context,
  context,
  defaultTextMapGetter,
  propagation,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { WORKFLOW_TRACING_MARK } from './bundle-mark.ts';

/** The worker looks for this mark in the bundle's text. */
export const mark = WORKFLOW_TRACING_MARK;

/** The header in which the SDK's interceptors of every language keep the context. */
const TRACE_HEADER = '_tracer-data';
const TRACE_PARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/;
const MAX_TRACE_STATE = 512;

export const interceptors = (): WorkflowInterceptors => {
  // Registers the sandbox's tracer provider, whose spans go out through the worker's sink.
  const sdk = new OpenTelemetryOutboundInterceptor();
  return {
    inbound: [
      {
        execute: (input, next) =>
          withSpan(`RunWorkflow:${workflowInfo().workflowType}`, contextIn(input.headers), () => next(input)),
        handleSignal: (input, next) =>
          withSpan(`HandleSignal:${input.signalName}`, contextIn(input.headers), () => next(input)),
        handleUpdate: (input, next) =>
          withSpan(`HandleUpdate:${input.name}`, contextIn(input.headers), () => next(input)),
        // Neither validators nor queries: clients poll a status, and its trace would help no reader.
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          withSpan(`StartActivity:${input.activityType}`, context.active(), () =>
            next({ ...input, headers: { ...input.headers, ...toHeaders(context.active()) } }),
          ),
        getLogAttributes: (attributes, next) => sdk.getLogAttributes(attributes, next),
      },
    ],
    internals: [new OpenTelemetryInternalsInterceptor()],
  };
};

/**
 * Runs `work` under a span of its own and returns the promise of `work` itself. The span's end is only a listener on
 * it.
 */
function withSpan<T>(name: string, parent: Context, work: () => Promise<T>): Promise<T> {
  const span = trace.getTracer('credit-journey-workflow').startSpan(name, {}, parent);
  const end = (code: SpanStatusCode) => endSpan(span, code);
  try {
    const promise = context.with(trace.setSpan(parent, span), work);
    promise.then(
      () => end(SpanStatusCode.OK),
      () => end(SpanStatusCode.ERROR),
    );
    return promise;
  } catch (error) {
    end(SpanStatusCode.ERROR);
    throw error;
  }
}

function endSpan(span: Span, code: SpanStatusCode): void {
  span.setStatus({ code });
  span.end();
}

function toHeaders(active: Context): Headers {
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  return { [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}

/**
 * Returns the context that came with a message, or none. Any sender may put any bytes there, and an error in the
 * workflow's task would stop the run for good.
 */
function contextIn({ [TRACE_HEADER]: payload }: Headers): Context {
  const active = context.active();
  if (!payload) return active;
  try {
    const { traceparent, tracestate } = defaultPayloadConverter.fromPayload<Record<string, unknown>>(payload) ?? {};
    if (typeof traceparent !== 'string' || !TRACE_PARENT.test(traceparent)) return active;
    const hasState = typeof tracestate === 'string' && tracestate.length <= MAX_TRACE_STATE;
    return propagation.extract(active, { traceparent, ...(hasState ? { tracestate } : {}) }, defaultTextMapGetter);
  } catch {
    return active;
  }
}
