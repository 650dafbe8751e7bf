/** One trace from the client's call to the gateway's HTTP request, without personal data. */
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { after, before, test } from 'node:test';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import type { CreditJourneys, JourneyStatus } from '../../src/client.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, type Harness, journeyInput, newSsn, startHarness } from '../support/journey-harness.ts';
import { attributesOf, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let harness: Harness;
let journeys: CreditJourneys;
const sentHeaders: string[] = [];
subscribe('undici:client:sendHeaders', (message) => {
  sentHeaders.push((message as { headers: string }).headers);
});

before(async () => {
  receiver = await startOtlpReceiver();
  harness = await startHarness({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
  journeys = await connectTo(harness);
});
after(async () => {
  await journeys?.close();
  await harness?.close();
  await receiver?.close();
});

function childOf(parent: ReceivedSpan, name: string): ReceivedSpan {
  const found = receiver.spans.find((span) => span.parentSpanId === parent.spanId && span.name === name);
  assert.ok(found, `${parent.name} has no ${name}`);
  assert.equal(found.traceId, parent.traceId);
  return found;
}

test('a journey is one trace, from the client’s call to the gateway’s HTTP request', async (t) => {
  const person = applicant('1A', newSsn('4002'));
  const input = journeyInput({
    stages: ['PREQUAL'],
    applicants: [{ ...person, names: [{ first: 'Zaphod', last: 'Sentinel' }] }],
  });
  const { journeyId } = input;
  const journey = await journeys.start(input);
  const held = await untilHeldBy(() => journey.status());
  const decision = { decisionId: 'D1', attempt: 1, by: 'operator', providerSaid: 'notPosted' } as const;
  const { customerTraceNumber } = held;
  await journey.resolveInquiry({ ...decision, customerTraceNumber, action: 'resend', reason: 'reason-sentinel' });
  const result = await journey.result();
  assert.equal(result.stages[0]?.state, 'record');
  await harness.stopWorker();

  await t.test('each step is the child of the step before it', () => {
    const start = receiver.spans.find(({ name }) => name === 'StartWorkflow:lendingJourney');
    assert.ok(start);
    const attempts = receiver.spans.filter(
      ({ name, parentSpanId }) => name === 'RunActivity:submitInquiry' && parentSpanId === start.spanId,
    );
    assert.ok(attempts.every((attempt) => attributesOf(attempt).temporalWorkflowId === `journey-${journeyId}`));
    const exchanges = attempts.map((attempt) => childOf(attempt, 'POST gateway'));
    const port = Number(new URL(harness.sandboxUrl).port);
    const expected = {
      'credit_journey.product': 'PREQUAL',
      'credit_journey.profile': 'default',
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': port,
    };
    assert.deepEqual(exchanges.map(attributesOf), [
      { ...expected, 'credit_journey.attempt': 1, 'credit_journey.failure_type': 'OutcomeUnknown' },
      {
        ...expected,
        'credit_journey.attempt': 2,
        'credit_journey.answer': 'outcome',
        'http.response.status_code': 200,
      },
    ]);
    assert.equal(exchanges[0]?.status.code, 2);
  });

  await t.test('no span has a message, a stack or personal data', () => {
    assert.deepEqual(
      receiver.spans.filter(({ events, status }) => events.length > 0 || status.message),
      [],
    );
    const names = [person.ssn, 'Zaphod', 'Sentinel', 'example.com', 'reason-sentinel', 'operator', 'EU123'];
    for (const word of [...names, customerTraceNumber]) assert.ok(!receiver.text().includes(word), word);
  });

  await t.test('the gateway receives no trace header', () => {
    assert.ok(sentHeaders.some((headers) => headers.includes('/ServiceGateway/')));
    assert.doesNotMatch(sentHeaders.join('\n'), /traceparent|tracestate|baggage/i);
  });

  await t.test('a start with an invalid trace context runs as usual', async () => {
    await harness.startWorker();
    const { client } = harness;
    const garbage = { metadata: { encoding: Buffer.from('strange') }, data: Buffer.of(0xff) };
    const interceptor: WorkflowClientInterceptor = {
      startWithDetails: (asked, next) => next({ ...asked, headers: { '_tracer-data': garbage } }),
    };
    const {
      connection,
      options: { namespace },
    } = client;
    const strange = new Client({ connection, namespace, interceptors: { workflow: [interceptor] } });
    const other = journeyInput({ stages: ['PREQUAL'] });
    const { taskQueue } = harness.config;
    const workflowId = `journey-${other.journeyId}`;
    await (await strange.workflow.start('lendingJourney', { workflowId, taskQueue, args: [other] })).result();
  });
});

async function untilHeldBy(status: () => Promise<JourneyStatus>) {
  const endsAt = performance.now() + 30_000;
  for (;;) {
    const [hold] = (await status()).holds;
    if (hold) return hold;
    if (performance.now() > endsAt) throw new Error('waited in vain for a hold');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
