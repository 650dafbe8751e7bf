/** Traces a worker: spans of activities and exchanges, and the way out for the workflows' spans. Loaded on demand. */
import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import type { ExchangeObserver } from '../gateway/observer.ts';
import { isFailureType } from '../model/failure-types.ts';
import type { Environment } from '../model/products.ts';
import { SPAN_ATTRIBUTES, startTracing } from './tracing.ts';

export function startWorkerTracing(endpoint: string, environment: Environment) {
  const { resource, processor, close } = startTracing({ endpoint, environment, serviceName: 'credit-journey-worker' });
  return {
    activityInterceptors: [
      (context) => ({
        inbound: new OpenTelemetryActivityInboundInterceptor(context),
        outbound: new OpenTelemetryActivityOutboundInterceptor(context),
      }),
      describeInquiry,
    ] satisfies ActivityInterceptorsFactory[],
    sinks: { exporter: makeWorkflowExporter(processor, resource) } as unknown as InjectedSinks<Sinks>,
    observeExchange,
    close,
  };
}

/** Adds product and attempt to the active span, which is that of the SDK's interceptor. */
const describeInquiry: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      const { inquiry, attempt } = (input.args[0] ?? {}) as { inquiry?: { productCode?: string }; attempt?: number };
      const span = trace.getActiveSpan();
      span?.setAttributes(present({ product: inquiry?.productCode, attempt }));
      try {
        return await next(input);
      } catch (error) {
        const { type } = error as { type?: unknown };
        if (isFailureType(type)) span?.setAttributes(present({ failureType: type }));
        throw error;
      }
    },
  },
});

/** A span for one HTTP request to the gateway or its token service. The context is not sent along. */
const observeExchange: ExchangeObserver = ({ profile, productCode, attempt, url }) => {
  const span = trace.getTracer('credit-journey').startSpan(productCode ? 'POST gateway' : 'POST token service', {
    kind: SpanKind.CLIENT,
    attributes: present({
      product: productCode,
      attempt,
      profile: profile.name,
      httpMethod: 'POST',
      serverAddress: url.hostname,
      serverPort: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    }),
  });
  return ({ httpStatus, answer, failure }) => {
    span.setAttributes(present({ httpStatus, answer, failureType: failure }));
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
};

function present(values: Partial<Record<keyof typeof SPAN_ATTRIBUTES, string | number | undefined>>): Attributes {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : [[SPAN_ATTRIBUTES[key as keyof typeof SPAN_ATTRIBUTES], value]],
    ),
  );
}
