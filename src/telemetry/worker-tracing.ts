/** Traces a worker: spans of activities and of exchanges with the gateway. Loaded on demand. */
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { extractContextFromHeaders } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import { OpenTelemetryActivityOutboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { ExchangeObserver } from '../gateway/observer.ts';
import { isFailureType } from '../model/failure-types.ts';
import type { Environment } from '../model/products.ts';
import { SPAN_ATTRIBUTES, startTracing } from './tracing.ts';

export function startWorkerTracing(endpoint: string, environment: Environment) {
  const { close } = startTracing({ endpoint, environment, serviceName: 'credit-journey-worker' });
  return { traceActivity, observeExchange, close };
}

/** A span for each activity, below the client's span that started the run (workflows/run/trace-header.ts). */
const traceActivity: ActivityInterceptorsFactory = (activity) => ({
  inbound: {
    async execute(input, next) {
      const { inquiry, attempt } = (input.args[0] ?? {}) as { inquiry?: { productCode?: string }; attempt?: number };
      const { activityType, workflowExecution } = activity.info;
      const parent = readParent(input.headers);
      const attributes = toSpanAttributes({ product: inquiry?.productCode, attempt, ...workflowExecution });
      const span = tracer().startSpan(`RunActivity:${activityType}`, { attributes }, parent);
      try {
        return await context.with(trace.setSpan(parent, span), () => next(input));
      } catch (error) {
        const { type } = error as { type?: unknown };
        if (isFailureType(type)) span.setAttributes(toSpanAttributes({ failureType: type }));
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
  },
  outbound: new OpenTelemetryActivityOutboundInterceptor(activity),
});

/** Returns no parent for a header that cannot be read: any sender may put any bytes into it. */
function readParent(headers: Parameters<typeof extractContextFromHeaders>[0]): Context {
  try {
    return extractContextFromHeaders(headers) ?? ROOT_CONTEXT;
  } catch {
    return ROOT_CONTEXT;
  }
}

/** A span for one HTTP request to the gateway or its token service. The trace context is not sent along. */
const observeExchange: ExchangeObserver = ({ profile, productCode, attempt, url }) => {
  // Only inquiries have a product.
  const span = tracer().startSpan(productCode ? 'POST gateway' : 'POST token service', {
    kind: SpanKind.CLIENT,
    attributes: toSpanAttributes({
      product: productCode,
      attempt,
      profile: profile.name,
      httpMethod: 'POST',
      serverAddress: url.hostname,
      serverPort: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    }),
  });
  return ({ httpStatus, answer, failure }) => {
    span.setAttributes(toSpanAttributes({ httpStatus, answer, failureType: failure }));
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
};

function tracer() {
  return trace.getTracer('credit-journey');
}

/** Gives each value the name of its span attribute. A span leaves out those that are undefined. */
function toSpanAttributes(values: Partial<Record<keyof typeof SPAN_ATTRIBUTES, string | number>>): Attributes {
  const name = (key: string) => SPAN_ATTRIBUTES[key as keyof typeof SPAN_ATTRIBUTES];
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [name(key), value]));
}
