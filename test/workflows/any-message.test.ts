/** No message fails a workflow task, whatever its name and its payloads are: a run answers, refuses or ignores it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isGrpcServiceError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { PortfolioStatus } from '../../src/messages/portfolio/shapes.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { eventsOf } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { workflowBundle } from '../support/temporal.ts';
import { untilQuery } from '../support/until-query.ts';
import {
  type Delivery,
  deliveryOf,
  resendAll,
  startWebhookStage,
  type WebhookStage,
} from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage({ giveUpAfter: 'P1D' });
});
after(() => stage?.close());

const RESERVED = ['__temporal_', '__temporal_x', '__temporal_workflow_metadata', '__temporal_workflow_stream_publish'];
const UNKNOWN = [
  '__stack_trace',
  '__enhanced_stack_trace',
  '__proto__',
  'constructor',
  'a\u0000b\u001b[31m\n',
  '💥',
  'n'.repeat(999),
];
const OF_RUNS = ['consent', 'requestWithdrawal', 'requestShare', 'deliverEvents'];

function payload(text: string, encoding?: string): Payload {
  return { metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) }, data: Buffer.from(text) };
}

const json = (text: string) => payload(text, 'json/plain');
const lists = (count: number) => '['.repeat(count) + ']'.repeat(count);
const EVENT = { id: 'e', type: 't'.repeat(3_000), timestamp: 'never', data: {}, endpoints: [] };

/** Payloads by the fault that they have. */
const PAYLOADS: Readonly<Record<string, Payload[] | null>> = {
  ...{ none: null, empty: [], withoutKey: [payload('')], foreign: [payload('x', 'other/encoding')] },
  ...{ sealedByNobody: [payload('x', 'binary/encrypted-cj1')], external: [externalReference()] },
  ...{
    unparsable: [json('{"a": ')],
    notText: [payload('\xff', 'binary/plain')],
    nothing: [payload('', 'binary/null')],
  },
  ...{ deep: [json(lists(200_000))], several: [json('1'), payload(''), json('{}')], number: [json('1e999')] },
  ...{ long: [json(`{"${'k'.repeat(200_000)}": 1}`)], halfPairs: [json('{"\\ud800": "\\udfff"}')] },
  ...{
    prototypes: [json('{"__proto__": {"a": 1}, "constructor": 1}')],
    most: Array.from({ length: 150_000 }, () => ({})),
  },
  events: [json(JSON.stringify({ events: [EVENT] }))],
};

/** Makes a payload that refers to external storage. */
function externalReference(): Payload {
  const reference: object = { ...json('{}'), externalPayloads: [{ sizeBytes: 5 }] };
  return reference as Payload;
}

type Sent = [name: string, payloads: Payload[] | null];

/** Lists unknown names without and with an unreadable payload, and known names with all payloads. */
function allMessages(known: readonly string[]): Sent[] {
  const { none = null, withoutKey = null } = PAYLOADS;
  const unknown = [...RESERVED, ...UNKNOWN].flatMap((name) => [none, withoutKey].map((sent): Sent => [name, sent]));
  return [...unknown, ...known.flatMap((name) => Object.values(PAYLOADS).map((sent): Sent => [name, sent]))];
}

/** Counts the lists made so far, so that the quarters alternate. */
let turn = 0;
/** In slow runs each run gets every message. Otherwise it gets a quarter, another one than the run before. */
function messages(known: readonly string[]): Sent[] {
  const all = allMessages(known);
  if (runsSlowParts) return all;
  turn++;
  return all.filter((_, index) => index % 4 === turn % 4);
}

type Run = Pick<JourneyHandle, 'workflowId' | 'fetchHistory' | 'result'>;

/** Sends signals, updates and queries that no run can handle. Resolves to the number of signals. */
async function sendEverything({ client }: Harness, { workflowId }: Run, updates: readonly string[]): Promise<number> {
  const { namespace } = client.options;
  const execution = { workflowId };
  const signals = messages(OF_RUNS);
  for (const [signalName, payloads] of signals) {
    const signal = { namespace, workflowExecution: execution, signalName, requestId: randomUUID() };
    await client.workflowService.signalWorkflowExecution(payloads ? { ...signal, input: { payloads } } : signal);
  }
  for (const [name, payloads] of messages(updates)) {
    const request = {
      meta: { updateId: randomUUID() },
      input: { header: {}, name, args: payloads ? { payloads } : null },
    };
    const answer = client.workflowService.updateWorkflowExecution({
      ...{ namespace, workflowExecution: execution, request, waitPolicy: { lifecycleStage: 3 } },
    });
    const { outcome } = await answer;
    assert.ok(outcome, `the update ${name} is answered`);
  }
  for (const [queryType, payloads] of messages([])) {
    const query = { queryType, queryArgs: payloads ? { payloads } : null };
    const answer = client.workflowService.queryWorkflow({ namespace, execution, query });
    await answer.catch((error) => assert.ok(isGrpcServiceError(error) && error.code === 3, String(error)));
  }
  return signals.length;
}

test('the Temporal server refuses messages without a name or with a name that is too long', async () => {
  const { client } = stage.harness;
  const { namespace } = client.options;
  for (const signalName of ['', 'n'.repeat(5_000)]) {
    const signal = { namespace, workflowExecution: { workflowId: 'any' }, signalName };
    await assert.rejects(client.workflowService.signalWorkflowExecution(signal), /SignalName/);
  }
});

/** The payload is over the limit. The SDK could not even refuse it, since its refusal repeats the update. */
test('the Temporal server refuses an update that no worker could answer', async () => {
  const { client } = stage.harness;
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const { journeyId } = input;
  const handle = await stage.harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const advance = (extra: string) => ({ journeyId, to: 'PREAPP', applicants: [{ ...applicant('1A'), extra }] });
  const large = { args: [advance('x'.repeat(2_500_000))] as [object] };
  await assert.rejects(
    client.withDeadline(Date.now() + 2_000, () => handle.executeUpdate<unknown, [object]>('advance', large)),
  );
  assert.match(await refusalOf(update(handle, 'advance', advance('x'.repeat(1_900_000)))), /at most \d+ characters/);
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await handle.result();
  await assertSound(stage.harness, handle);
});

/** Asserts that no workflow task failed, and that a replay processes the messages as the run did. */
async function assertSound({ config, client }: Harness, run: Run): Promise<void> {
  const events = await eventsOf(run as JourneyHandle);
  const failed = events.filter(
    (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes,
  );
  assert.deepEqual(failed, []);
  const keys = await openKeyRing(config);
  const { namespace } = client.options;
  const dataConverter = createDataConverter({ keys, namespace, mode: 'worker', encrypts: config.payloadsAreEncrypted });
  const { code } = await workflowBundle();
  await Worker.runReplayHistory({ workflowBundle: { code }, dataConverter }, { events });
}

async function assertRefused(run: Run, signals: number): Promise<void> {
  const { refusedMessages } = await untilQuery<{
    refusedMessagesTotal: number;
    refusedMessages: { message: string }[];
  }>(run as JourneyHandle, ({ refusedMessagesTotal }) => refusedMessagesTotal === signals);
  const shown = new Set(refusedMessages.map(({ message }) => message));
  assert.deepEqual(
    [...shown].filter((name) => !['unknown', ...OF_RUNS].includes(name)),
    [],
  );
}

/** Brings a journey to its end by ordinary messages. */
async function playJourney(harness: Harness): Promise<void> {
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const updates = ['advance', 'withdraw', 'recordConsent', 'resolveInquiry', 'requestShare'];
  await assertRefused(handle, await sendEverything(harness, handle, updates));
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
  const { outcome } = await handle.result();
  assert.equal(outcome, 'completed');
  await assertSound(harness, handle);
}

test('a journey completes although it receives every kind of malformed message', () => playJourney(stage.harness));

test('a journey with encrypted payloads completes although it receives every kind of malformed message', async () => {
  const harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } });
  try {
    await playJourney(harness);
  } finally {
    await harness.close();
  }
});

test('a run that a malformed signal starts completes', async () => {
  const { harness } = stage;
  const input = journeyInput({ stages: ['PREQUAL'] });
  const handle = await harness.client.workflow.signalWithStart('lendingJourney', {
    ...{ workflowId: `journey-${input.journeyId}`, taskQueue: harness.config.taskQueue, args: [input] },
    signal: '__temporal_x',
  });
  const { refusedMessagesTotal } = (await handle.result()) as { refusedMessagesTotal?: number };
  assert.ok(refusedMessagesTotal === undefined || refusedMessagesTotal === 1);
  await assertSound(harness, handle as unknown as Run);
});

test('a portfolio review completes although it receives every kind of malformed message', async () => {
  const { harness, directory } = stage;
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  const text = csvText(2, (index) => (index === 1 ? '4002' : '0001'));
  const file = await writePortfolio(directory, `${reviewId}.csv`, text);
  const order = { reviewId, file, endUserCode: 'EU123', permissiblePurposeCode: '01' };
  const started = await harness.client.workflow.start('portfolioReview', {
    ...{ workflowId: `portfolio-${reviewId}`, taskQueue: harness.config.taskQueue, args: [order] },
  });
  const handle = started as unknown as JourneyHandle;
  const { holds } = await untilQuery<PortfolioStatus>(handle, ({ state }) => state === 'held');
  await assertRefused(handle, await sendEverything(harness, handle, ['pause', 'resume', 'withdraw', 'resolveInquiry']));
  await update(handle, 'resolveInquiry', {
    ...{ reviewId, decisionId: 'D1', customerTraceNumber: holds[0]?.customerTraceNumber, attempt: 1 },
    ...{ action: 'abandon', by: 'ops', reason: 'asked the provider', providerSaid: 'notPosted' },
  });
  await handle.result();
  await assertSound(harness, handle);
});

test('a webhook delivery completes although it receives every kind of malformed message', async () => {
  const { harness, receiver } = stage;
  receiver.answer('/all', 503);
  const input = reportPull();
  const pull = await startPull(harness, input);
  await pull.result();
  const delivery: Delivery = deliveryOf(stage, `pull:${input.pullId}`);
  await untilQuery(delivery as unknown as JourneyHandle, () => true, { query: 'webhookStatus' });
  await sendEverything(harness, delivery as unknown as Run, ['resendWebhooks']);
  receiver.answer('/all', 204);
  await resendAll(delivery);
  await delivery.result();
  await assertSound(harness, delivery as unknown as Run);
});
