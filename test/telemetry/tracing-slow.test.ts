/** One trace from the client's call to the gateway's HTTP request, with nothing in it that is anybody's. */
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import type { CreditJourneys } from '../../src/client.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, type Harness, journeyInput, newSsn, startHarness } from '../support/journey-harness.ts';
import { workflowBundle } from '../support/temporal.ts';
import { bundleWorkflows, TRACING_MODULES } from '../support/workflow-bundle.ts';
import { attributesOf, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

/** Of the recorded ones those in which the most happens: each costs a fifth of a second. */
const HISTORIES = ['completed', 'resent', 'proofRefused', 'revokedAfterPosting'];
const WORKFLOW_TASK_FAILED = 'EVENT_TYPE_WORKFLOW_TASK_FAILED';

let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let directory: string;
let tracingBundle: string;
let harness: Harness;
let journeys: CreditJourneys;
const sentHeaders: string[] = [];
subscribe('undici:client:sendHeaders', (message) => {
  sentHeaders.push((message as { headers: string }).headers);
});

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-tracing-'));
  receiver = await startOtlpReceiver();
  tracingBundle = await bundleWorkflows(TRACING_MODULES);
  const plain = process.env.TEST_WORKFLOW_BUNDLE;
  process.env.TEST_WORKFLOW_BUNDLE = join(directory, 'bundle.js');
  await writeFile(process.env.TEST_WORKFLOW_BUNDLE, tracingBundle);
  harness = await startHarness({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
  if (plain === undefined) delete process.env.TEST_WORKFLOW_BUNDLE;
  else process.env.TEST_WORKFLOW_BUNDLE = plain;
  journeys = await connectTo(harness, { traces: true });
});
after(async () => {
  await journeys?.close();
  await harness?.close();
  await receiver?.close();
  await rm(directory, { recursive: true, force: true });
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

  await t.test('a message whose trace context is garbage stops nothing', async () => {
    const { client, config } = harness;
    const json = (text: string) => ({ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) });
    const strange = { metadata: { encoding: Buffer.from('strange') }, data: Buffer.of(0xff) };
    for (const garbage of [json('{"traceparent":'), json('{"traceparent":"00-zaphod"}'), json('7'), strange]) {
      await client.workflowService.signalWorkflowExecution({
        namespace: config.temporal.namespace,
        workflowExecution: { workflowId: `journey-${journeyId}` },
        signalName: 'consent',
        header: { fields: { '_tracer-data': garbage } },
      });
    }
  });

  const decision = { decisionId: 'D1', attempt: 1, by: 'operator', providerSaid: 'notPosted' } as const;
  const { customerTraceNumber } = held;
  await journey.resolve({ ...decision, customerTraceNumber, action: 'resend', reason: 'reason-sentinel' });
  const result = await journey.result();
  assert.equal(result.stages[0]?.state, 'record');
  const history = await harness.client.workflow.getHandle(`journey-${journeyId}`).fetchHistory();
  await harness.stopWorker();

  await t.test('each step is the child of the one before', () => {
    const start = receiver.spans.find(({ name }) => name === 'StartWorkflow:lendingJourney');
    assert.ok(start);
    const run = childOf(start, 'RunWorkflow:lendingJourney');
    const attempts = receiver.spans.filter(
      ({ name, parentSpanId }) => name === 'StartActivity:submitInquiry' && parentSpanId === run.spanId,
    );
    const exchanges = attempts.map((attempt) =>
      childOf(childOf(attempt, attempt.name.replace('Start', 'Run')), 'POST gateway'),
    );
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
    const update = receiver.spans.find(({ name }) => name === 'StartWorkflowUpdate:resolveInquiry');
    childOf(update as ReceivedSpan, 'HandleUpdate:resolveInquiry');
  });

  await t.test('no span holds a message, a stack, or anything of a person', () => {
    assert.deepEqual(
      receiver.spans.filter(({ events, status }) => events.length > 0 || status.message),
      [],
    );
    const names = [person.ssn, 'Zaphod', 'Sentinel', 'example.com', 'reason-sentinel', 'operator', 'EU123'];
    for (const word of [...names, customerTraceNumber]) assert.ok(!receiver.text().includes(word), word);
  });

  await t.test('the gateway gets no trace header', () => {
    assert.ok(sentHeaders.some((headers) => headers.includes('/ServiceGateway/')));
    assert.doesNotMatch(sentHeaders.join('\n'), /traceparent|tracestate|baggage/i);
  });

  await t.test('its history replays in a worker that does not trace', async () => {
    assert.ok(!history.events?.some(({ eventType }) => String(eventType) === WORKFLOW_TASK_FAILED));
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, `journey-${journeyId}`);
  });
});

test('histories recorded without traces replay in a worker that traces', async () => {
  const nowhere = { exporter: { export: { fn() {} } } };
  for (const name of HISTORIES) {
    const file = join(import.meta.dirname, '..', 'histories', `lendingJourney-${name}.json`);
    const history: unknown = JSON.parse(await readFile(file, 'utf8'));
    await Worker.runReplayHistory({ workflowBundle: { code: tracingBundle }, sinks: nowhere }, history, name);
  }
});

async function untilHeldBy(
  status: () => Promise<Awaited<ReturnType<Awaited<ReturnType<typeof journeys.start>>['status']>>>,
) {
  const endsAt = performance.now() + 30_000;
  for (;;) {
    const [hold] = (await status()).holds;
    if (hold) return hold;
    if (performance.now() > endsAt) throw new Error('waited in vain for a hold');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
