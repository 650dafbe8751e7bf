/**
 * The part of a span that leaves the process: its name, its times, whether it failed, and an allow-list of attributes.
 * The SDK's interceptors put whole error messages, stacks, memos and reasons into spans.
 */
import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { mayHoldSsn } from '../model/opaque-id.ts';

/**
 * Our attributes, and the names that the SDK's interceptors use for them. Ids here are opaque (docs/configuration.md,
 * "Ids").
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
} as const;

const ALLOWED: ReadonlySet<string> = new Set([
  ...Object.values(SPAN_ATTRIBUTES),
  'temporalWorkflowId',
  'temporalActivityId',
  'run_id',
  'workflowId',
  'runId',
  'workflowType',
  'taskQueue',
  'namespace',
]);

/** Names, words and ids: no text that a person wrote has this form. */
const SAFE_TEXT = /^[\w./:~-]{1,200}$/;
/** For example `RunActivity:submitInquiry`. */
const SAFE_NAME = /^[A-Za-z][\w .-]{0,63}(:[A-Za-z][\w.-]{0,63})?$/;

/** An exporter that passes only the safe part to `exporter`. */
export function safeExporter(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(safeSpan), done),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function safeSpan(span: ReadableSpan): ReadableSpan {
  return {
    name: safeName(span.name),
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    startTime: span.startTime,
    endTime: span.endTime,
    // Without the status's message, which is an error's.
    status: { code: span.status.code },
    attributes: safeAttributes(span.attributes),
    links: [],
    // Without events, which contain exceptions with message and stack.
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

function safeName(name: string): string {
  const [kind = ''] = name.split(':', 1);
  return SAFE_NAME.test(name) && !mayHoldSsn(name) ? name : kind.replace(/\W/g, '').slice(0, 64);
}

function safeAttributes(attributes: Attributes): Attributes {
  const safe: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (!ALLOWED.has(name)) continue;
    if (typeof value === 'number' || typeof value === 'boolean') safe[name] = value;
    if (typeof value === 'string' && SAFE_TEXT.test(value) && !mayHoldSsn(value)) safe[name] = value;
  }
  return safe;
}
