/** Starts OpenTelemetry in one of our programs. Loaded only where traces are configured. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Attributes, type Context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { mayHoldSsn } from '../model/opaque-id.ts';
import type { Environment } from '../model/products.ts';

/** Carries OpenTelemetry's current context along with Node's own AsyncLocalStorage. This project never binds a context. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, fn, thisArg, ...args) => storage.run(context, () => fn.apply(thisArg as never, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

interface TracingOptions {
  /** An OTLP/HTTP collector, without `/v1/traces`. */
  endpoint: string;
  /** `service.name`. */
  serviceName: string;
  environment?: Environment;
}

/** A collector that does not answer must not keep a program from ending. */
const EXPORT_TIMEOUT_MS = 3_000;

/**
 * Registers a tracer provider, W3C trace context and a context manager for this process. A program that was started
 * with instrumentation of its own keeps its own, and gets our spans.
 */
export function startTracing({ endpoint, serviceName, environment }: TracingOptions) {
  const ours = new Resource({
    'service.name': serviceName,
    ...(environment === undefined ? {} : { 'deployment.environment.name': environment }),
  });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence over ours.
  const resource = Resource.default()
    .merge(ours)
    .merge(new Resource(detectResourcesSync({ detectors: [envDetectorSync] }).attributes));
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor(wrapExporter(exporter), { exportTimeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  if (trace.setGlobalTracerProvider(provider)) provider.register({ contextManager: createContextManager() });
  return {
    /** Sends the remaining spans, within the exporter's time-out. Never rejects: traces fail no program. */
    close: () => provider.shutdown().catch(() => {}),
  };
}

// The part of a span that leaves the process: its name, its times, whether it failed, and an allow-list of attributes.
// The SDK's interceptors put whole error messages, stacks, memos and reasons into spans.

/**
 * Our attributes, and the names that the SDK's interceptors use for them. Ids here are opaque.
 */
export const SPAN_ATTRIBUTES = {
  product: 'credit_journey.product',
  attempt: 'credit_journey.attempt',
  profile: 'credit_journey.profile',
  answer: 'credit_journey.answer',
  failureType: 'credit_journey.failure_type',
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  workflowId: 'temporalWorkflowId',
  runId: 'run_id',
} as const;

const ALLOWED: ReadonlySet<string> = new Set(Object.values(SPAN_ATTRIBUTES));

/** Matches names, words and ids. No text that a person wrote has this form. */
const SAFE_TEXT = /^[\w./:~-]{1,200}$/;
/** For example `RunActivity:submitInquiry`. */
const SAFE_NAME = /^[A-Za-z][\w .-]{0,63}(:[A-Za-z][\w.-]{0,63})?$/;

/** Wraps `exporter`, and passes it only the safe part of spans. */
export function wrapExporter(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(toSafeSpan), done),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function toSafeSpan(span: ReadableSpan): ReadableSpan {
  return {
    name: toSafeName(span.name),
    kind: span.kind,
    spanContext: () => span.spanContext(),
    parentSpanId: span.parentSpanId,
    startTime: span.startTime,
    endTime: span.endTime,
    // Omits the status's message, which is an error's.
    status: { code: span.status.code },
    attributes: selectSafeAttributes(span.attributes),
    links: [],
    // Omits events, which contain exceptions with message and stack.
    events: [],
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationLibrary: span.instrumentationLibrary,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toSafeName(name: string): string {
  const [kind = ''] = name.split(':', 1);
  return SAFE_NAME.test(name) && !mayHoldSsn(name) ? name : kind.replace(/\W/g, '').slice(0, 64);
}

function selectSafeAttributes(attributes: Attributes): Attributes {
  const safe: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (!ALLOWED.has(name)) continue;
    if (typeof value === 'number' || typeof value === 'boolean') safe[name] = value;
    if (typeof value === 'string' && SAFE_TEXT.test(value) && !mayHoldSsn(value)) safe[name] = value;
  }
  return safe;
}
