/** Spans leave the process without personal data, also when code put such data into them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attributes, ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { wrapExporter } from '../../src/telemetry/tracing.ts';

const SENTINEL = 'Zaphod Sentinel';

function exported(name: string, attributes: Attributes) {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(wrapExporter(memory))] });
  const span = provider.getTracer('test').startSpan(name, { attributes }, ROOT_CONTEXT);
  span.recordException(new Error(SENTINEL));
  span.addEvent(SENTINEL, { text: SENTINEL });
  span.setStatus({ code: SpanStatusCode.ERROR, message: SENTINEL });
  span.end();
  const [found] = memory.getFinishedSpans();
  assert.ok(found);
  assert.doesNotMatch(JSON.stringify([found.name, found.attributes, found.events, found.status]), /Sentinel|6789/);
  return found;
}

test('a span is exported without an error’s message and stack, but with the error status', () => {
  const { events, status } = exported('RunActivity:submitInquiry', {});
  assert.deepEqual([events, status], [[], { code: SpanStatusCode.ERROR }]);
});

test('only listed attributes are exported, and only if they are words, ids or numbers', () => {
  const { attributes } = exported('RunWorkflow:lendingJourney', {
    temporalWorkflowId: 'journey-J-1',
    'credit_journey.attempt': 2,
    taskQueue: SENTINEL,
    workflowId: 'journey-912-34-6789',
    temporalTerminateReason: SENTINEL,
    memo: SENTINEL,
    'url.full': 'https://gateway.example.com/Sentinel',
  });
  assert.deepEqual(attributes, { temporalWorkflowId: 'journey-J-1', 'credit_journey.attempt': 2 });
});

test('a span name is cut before a name that a caller chose', () => {
  assert.equal(exported('HandleSignal:consent', {}).name, 'HandleSignal:consent');
  assert.equal(exported(`HandleSignal:${SENTINEL}`, {}).name, 'HandleSignal');
  assert.equal(exported('HandleSignal:x912-34-6789', {}).name, 'HandleSignal');
});
