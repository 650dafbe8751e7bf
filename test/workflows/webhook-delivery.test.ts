/** Deliveries of events to endpoints that answer, that do not answer, and that answer 410. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { PullStatus } from '../../src/messages/pull/shapes.ts';
import { webhookEventSchema } from '../../src/messages/webhooks/schemas.ts';
import { parseWorkflowId, toWorkflowId } from '../../src/model/run-key.ts';
import { findRuns } from '../../src/operator/disposal.ts';
import { openDeliveries } from '../../src/operator/webhook-deliveries.ts';
import { environmentOf } from '../cli/command-stage.ts';
import { runCli } from '../cli/run-cli.ts';
import {
  activityCommands,
  eventsOf,
  pendingAttempt,
  resetTo,
  until,
  untilIdle,
  workflowTasksOf,
} from '../hazards/operator-hands.ts';
import { outgrow } from '../support/floods.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { lockLedger, openLedgerOf } from '../support/ledger-access.ts';
import { failsafeApplicant, failsafePull, firstHold, reportPull, startPull } from '../support/pull-scenarios.ts';
import { waitingRows } from '../support/timeline-rows.ts';
import { typesOf } from '../support/webhook-receiver.ts';
import {
  ALL_OF_A_PULL,
  ALL_OF_A_REVIEW,
  ALL_OF_A_SHARE,
  ALL_OF_IT,
  deliveryOf,
  nothingWaits,
  playFully,
  playHeld,
  playPull,
  playReview,
  playShare,
  resendAll,
  startWebhookStage,
  untilDelivery,
  type WebhookStage,
} from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage();
});
after(() => stage?.close());

function cli(...args: string[]) {
  return runCli(args, { env: { ...stage.env, ...environmentOf(stage.harness) }, cwd: stage.directory });
}

async function activitiesOf(handle: JourneyHandle): Promise<string[]> {
  return (await eventsOf(handle)).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
}

/** Returns every payload of a history as text. */
async function keptOf(handle: WorkflowHandle): Promise<string> {
  const text = historyToJSON(await handle.fetchHistory());
  return [...text.matchAll(/"data": "([^"]*)"/g)].map(([, data = '']) => Buffer.from(data, 'base64')).join();
}

test('a journey’s events arrive in order, signed, without personal data, and after a reset with the same ids', async () => {
  const { harness, receiver } = stage;
  // The endpoint refuses the first event once, and later events wait for it.
  let refusals = 0;
  receiver.answer('/ends', (response) => {
    response.writeHead(refusals++ === 0 ? 503 : 200, { 'retry-after': '1' }).end();
  });
  const { handle, journeyId, personal } = await playFully(stage);
  const told = await receiver.accepted('/all', journeyId, ALL_OF_IT.length);
  assert.deepEqual(typesOf(told), ALL_OF_IT);
  assert.equal(new Set(told.map(({ id }) => id)).size, told.length);
  for (const { body, headers, event } of told) {
    for (const word of personal)
      assert.ok(word.length > 3 && !body.includes(word), `${event?.type} holds nothing personal`);
    assert.deepEqual(webhookEventSchema.parse(JSON.parse(body)), event);
    assert.match(String(headers['webhook-id']), /^evt_[A-Z2-7]{26}$/);
  }
  const [share] = (await handle.result()).shares;
  const { customerTraceNumber } = share ?? {};
  assert.deepEqual(told.at(-2)?.event?.data, {
    ...{ journeyId, environment: 'sandbox', shareId: 'S1', outcome: 'posted', customerTraceNumber },
  });
  const shares = [{ shareId: 'S1', state: 'posted', customerTraceNumber }];
  assert.deepEqual(told.at(-1)?.event?.data, { journeyId, environment: 'sandbox', outcome: 'completed', shares });
  // Both endpoints have all events, so the delivery has completed.
  assert.equal((await deliveryOf(stage, journeyId).result()).lost, 0);
  const ends = receiver.received.filter(({ path, body }) => path === '/ends' && body.includes(journeyId));
  assert.deepEqual(typesOf(ends), ['journey.ended', 'journey.ended'], 'it takes that type alone, and was asked twice');
  assert.equal(ends[0]?.id, ends[1]?.id);

  const [beginning] = await workflowTasksOf(handle);
  assert.ok(beginning);
  const again = await resetTo(harness, handle, beginning);
  await again.result();
  // The reset run has all messages from its beginning, so it waits for nothing and emits no events of waits.
  const repeated = told.filter(({ event }) => !['gate.reached', 'consent.missing'].includes(event?.type ?? ''));
  const both = await receiver.accepted('/all', journeyId, told.length + repeated.length);
  const idsOf = (webhooks: typeof told) => webhooks.map(({ id }) => id);
  assert.deepEqual(idsOf(both.slice(told.length)), idsOf(repeated));
});

test('a dead endpoint delays neither the journey nor another endpoint, and what it missed can be sent again', async () => {
  const { receiver } = stage;
  const hanging: ServerResponse[] = [];
  receiver.answer('/hangs', (response) => void hanging.push(response));
  receiver.answer('/gone', 410);
  const { handle, journeyId } = await playHeld(stage);
  const types = ['inquiry.held', 'hold.resolved', 'journey.ended'];
  const steady = await receiver.accepted('/steady', journeyId, types.length);
  assert.deepEqual(typesOf(steady), types);
  assert.equal(steady[1]?.event?.data.action, 'abandon');
  assert.ok(!steady.some(({ body }) => /operator|asked/.test(body)), 'not who decided, nor why');

  // The journey ended while this endpoint had not answered the first event.
  receiver.answer('/hangs', 503);
  for (const response of hanging) response.destroy();
  const delivery = deliveryOf(stage, journeyId);
  const failed = await untilDelivery(delivery, nothingWaits);
  const found = Object.fromEntries(failed.endpoints.map((one) => [one.endpoint, one]));
  const failures = (name: string) => found[name]?.failed.map(({ failureType }) => failureType);
  assert.deepEqual(failures('steady'), []);
  assert.deepEqual(failures('inner'), Array(3).fill('WebhookAddressRefused'));
  assert.deepEqual(failures('gone'), Array(3).fill('WebhookGone'));
  assert.equal(receiver.received.filter(({ path }) => path === '/gone').length, 3, 'each event is sent once');
  assert.deepEqual(
    found.hangs?.failed.map(({ type }) => type),
    types,
  );
  const { searchAttributes } = await delivery.describe();
  assert.deepEqual(searchAttributes.NeedsAttention, ['WebhookFailed']);
  assert.deepEqual(await waitingRows(delivery), ['ON HOLD · WebhookFailed · events were given up · see User Metadata']);
  const { currentDetails } = await delivery.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(currentDetails, /^\*\*Events were given up: .*3 to `gone`.*\. They are kept until \d{4}-/);
  assert.ok(currentDetails.includes(`credit-journey webhooks resend ${journeyId}\n`));

  receiver.answer('/hangs', 204);
  receiver.answer('/gone', 204);
  await delay(1_500);
  await outgrow(delivery, 'deliverEvents', (padding) => ({ events: [{ padding }] }));
  // The next run keeps them for no longer.
  await untilIdle(delivery);
  const { events } = await delivery.fetchHistory();
  const { eventTime, ...timer } = events?.findLast((event) => event.timerStartedEventAttributes) ?? {};
  const keptUntilMs = tsToMs(eventTime) + tsToMs(timer.timerStartedEventAttributes?.startToFireTimeout);
  const failedAt = failed.endpoints.flatMap((one) => one.failed.map((event) => Date.parse(event.failedAt)));
  assert.ok(keptUntilMs - Math.max(...failedAt) - 30 * 86_400_000 < 1_000);
  // An operator lists the failed events and sends them again.
  const listed = await cli('webhooks', 'list', '--failed');
  assert.equal(listed.code, 3, listed.stderr);
  assert.deepEqual(JSON.parse(listed.stdout), {
    data: [{ runKey: journeyId, ...failed }],
    hasMore: false,
    unanswered: [],
  });
  const resent = await cli('webhooks', 'resend', '--all');
  const { resent: runs, failed: unsent } = JSON.parse(resent.stdout);
  assert.deepEqual([runs, unsent, resent.code], [[{ runKey: journeyId, events: 9 }], [], 0], resent.stderr);
  const missed = await receiver.accepted('/hangs', journeyId, types.length);
  assert.deepEqual(
    missed.map(({ id }) => id),
    steady.map(({ id }) => id),
    'in their order, under the same ids',
  );
  await receiver.accepted('/gone', journeyId, types.length);
  const { endpoints } = await untilDelivery(delivery, nothingWaits);
  assert.deepEqual(
    endpoints.flatMap(({ endpoint, failed: lost }) => (lost.length > 0 ? [[endpoint, lost.length]] : [])),
    [['inner', 3]],
  );
  const nothing = await cli('webhooks', 'resend', 'LOAN-NONE');
  assert.match(nothing.stderr, /nothingToDeliver/);
  assert.equal(nothing.code, 1);

  // The histories have the endpoints' names, and neither their addresses nor their secrets.
  const kept = [await keptOf(handle), await keptOf(delivery)].join();
  assert.ok(kept.includes('"endpoint":"hangs"'));
  assert.ok(!kept.includes(receiver.url) && !kept.includes('whsec_'));
});

test('a resend gives no event up whose attempt is on the wire and fails', async () => {
  const { receiver } = stage;
  const onTheWire: ServerResponse[] = [];
  receiver.answer('/hangs', (response) => void onTheWire.push(response));
  const { journeyId } = await playHeld(stage);
  const delivery = deliveryOf(stage, journeyId);
  await until(async () => onTheWire.length > 0, 'nothing was sent');
  receiver.answer('/hangs', 204);
  await resendAll(delivery);
  onTheWire[0]?.writeHead(503).end();
  const sent = await receiver.accepted('/hangs', journeyId, 3);
  assert.deepEqual(typesOf(sent), ['inquiry.held', 'hold.resolved', 'journey.ended']);
  const { endpoints } = await untilDelivery(delivery, nothingWaits);
  assert.deepEqual(endpoints.find(({ endpoint }) => endpoint === 'hangs')?.failed, []);
  await delivery.terminate();
});

test('a pull, a share by itself and a review emit events with their own ids, and are listed by them', async () => {
  const { harness, receiver } = stage;
  const { client, config } = harness;
  for (const path of ['/hangs', '/gone']) receiver.answer(path, 204);
  const pull = await playPull(stage);
  const share = await playShare(stage, pull.pullId);
  // A review that is reset on hold emits the hold again. The open delivery knows its id.
  const review = await playReview(stage, async (handle) => {
    await receiver.accepted('/steady', parseWorkflowId(handle.workflowId) ?? '', 1);
    const [, prepared] = (await eventsOf(handle)).filter((event) => event.workflowTaskCompletedEventAttributes);
    return resetTo(harness, handle, prepared?.eventId ?? assert.fail('nothing was prepared'));
  });
  assert.equal((await activitiesOf(review.handle)).filter((name) => name === 'queueWebhooks').length, 3);
  const runs = [
    { ...review, names: { reviewId: review.reviewId }, types: ALL_OF_A_REVIEW },
    { ...pull, names: { pullId: pull.pullId }, types: ALL_OF_A_PULL },
    { ...share, names: { shareId: share.shareId }, types: ALL_OF_A_SHARE },
  ];
  for (const { runKey, names, types } of runs) {
    const told = await receiver.accepted('/steady', runKey, types.length);
    assert.deepEqual(typesOf(told), types);
    for (const { body, event } of told) {
      assert.deepEqual(webhookEventSchema.parse(JSON.parse(body)), event);
      assert.deepEqual({ ...event?.data, ...names }, event?.data);
      assert.ok(!('journeyId' in (event?.data ?? {})));
      for (const word of [...pull.personal, 'Casey', '@example.com', 'operator'])
        assert.ok(word && !body.includes(word));
    }
    // One endpoint's address is refused. Its missed events keep the delivery open under the run's id.
    const failed = await untilDelivery(deliveryOf(stage, runKey), nothingWaits);
    const { data: deliveries } = await openDeliveries(client, config.taskQueue, { failed: false });
    assert.deepEqual(
      deliveries.filter((one) => one.runKey === runKey),
      [{ runKey, ...failed }],
    );
    await deliveryOf(stage, runKey).terminate();
    // Disposal of the run includes its delivery.
    const { closed } = await findRuns(client, runKey, []);
    assert.deepEqual([...new Set(closed.map(({ workflowId }) => workflowId))].sort(), [
      toWorkflowId(runKey),
      `webhooks-${toWorkflowId(runKey)}`,
    ]);
  }

  const input = failsafePull([failsafeApplicant('1A', '1422')]);
  const cancelled = await startPull(harness, input);
  await firstHold(cancelled);
  // A pull has no consents. It counts the signal as refused, and emits no event.
  await cancelled.signal('consent', {});
  await cancelled.cancel();
  await assert.rejects(cancelled.result());
  assert.equal((await cancelled.query<PullStatus>('status')).state, 'cancelled');
  const told = await receiver.accepted('/all', `pull:${input.pullId}`, 2);
  assert.deepEqual(typesOf(told), ['inquiry.held', 'pull.ended']);
  const { failureType, refusalKept } = (told[0]?.event?.data ?? {}) as { failureType?: string; refusalKept?: true };
  assert.deepEqual([failureType, refusalKept], ['RequestRefused', true]);
  const { pullId } = input;
  assert.deepEqual(told[1]?.event?.data, {
    pullId,
    environment: 'sandbox',
    productCode: 'FAILSAFE',
    outcome: 'cancelled',
  });
});

test('a consent signal that is refused or unmatched emits a signed event without personal data', async () => {
  const { harness, receiver } = stage;
  const ssn = newSsn();
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', ssn)], shares });
  const { journeyId } = input;
  const evidence = { method: 'Casey by phone', textVersion: 'v1', capturedAt: new Date().toISOString() };
  const message = (consentId: string, change: object) => ({
    ...consentMessage(journeyId, { applicantId: '1A', consentId }),
    ...change,
  });
  const refused = {
    'C-WORD': message('C-WORD', { decision: 'revoke', [`of ${ssn}`]: 'Casey Sample' }),
    'C-STRANGER': message('C-STRANGER', { applicantId: '7A', evidence: { ...evidence, reference: 'doc-7' } }),
    'C-PERSONAL': message('C-PERSONAL', { evidence: { ...evidence, reference: 'casey@example.com' } }),
    'C-USER': message('C-USER', { secondaryUser: { endUser: 'Springfield Savings' } }),
  };
  // The first signal comes with the start, before the run knows whether its profile has endpoints.
  const handle = (await harness.client.workflow.signalWithStart('lendingJourney', {
    ...{ workflowId: `journey-${journeyId}`, taskQueue: harness.config.taskQueue, args: [input] },
    ...{ signal: 'consent', signalArgs: [refused['C-WORD']] },
  })) as JourneyHandle;
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  const others = [refused['C-STRANGER'], refused['C-PERSONAL'], refused['C-USER']];
  for (const one of others) await handle.signal('consent', one);
  const typo = message('C-TYPO', { shareId: 'S-TYPO', evidence: { ...evidence, reference: 'doc-8' } });
  for (const one of [typo, typo]) await handle.signal('consent', one);
  await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal >= 3);
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
  await handle.result();

  const told = await receiver.accepted('/all', journeyId, 9);
  const aboutConsent = told.flatMap(({ event }) =>
    event?.type === 'consent.refused' || event?.type === 'consent.unmatched' ? [event] : [],
  );
  assert.deepEqual(
    aboutConsent.map(({ type, data }) => `${type} ${data.consentId}`),
    [...Object.keys(refused).map((id) => `consent.refused ${id}`), 'consent.unmatched C-TYPO'],
  );
  assert.deepEqual(aboutConsent.at(-1)?.data, {
    ...{ journeyId, environment: 'sandbox' },
    ...{ shareId: 'S-TYPO', consentId: 'C-TYPO' },
  });
  assert.equal(typesOf(told)[0], 'consent.refused', 'in their order, the early one first');
  for (const { body, event } of told) {
    assert.deepEqual(webhookEventSchema.parse(JSON.parse(body)), event);
    for (const word of [ssn, 'Casey', 'casey', 'Springfield', 'example.com', 'doc-'])
      assert.ok(!body.includes(word), body);
  }
});

test('a report with another SSN emits an event and is listed if the profile continues with it', async (t) => {
  const { harness, receiver } = stage;
  const input = journeyInput({
    profile: 'mixed',
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [applicant('1A', newSsn('4027'))],
  });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { stages } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  assert.deepEqual([stages[0]?.state, stages[0]?.attention], ['record', 'ssnMismatch']);
  const { searchAttributes } = await handle.describe();
  assert.deepEqual(searchAttributes.NeedsAttention, ['ssnMismatch']);
  let found: { runKey: string; failureType: string }[] = [];
  await until(async () => {
    const listed = JSON.parse((await cli('holds')).stdout) as { data: typeof found };
    found = listed.data.filter((row) => row.runKey === journeyId);
    return found.length > 0;
  }, 'the flag is not listed');
  assert.deepEqual(
    found.map(({ failureType }) => failureType),
    ['ssnMismatch'],
  );
  await update(handle, 'withdraw', { journeyId, by: 'ops', reason: 'another person' });
  assert.equal((await handle.result()).stages[0]?.attention, 'ssnMismatch');
  const [answered] = await receiver.accepted('/steady', journeyId, 3);
  assert.equal(answered?.event?.data.attention, 'ssnMismatch');
  const { returnCode, applicantOutcomes } = answered?.event?.data ?? {};
  assert.deepEqual([returnCode, applicantOutcomes], ['Record', [{ applicantId: '1A', outcome: 'record' }]]);

  const pullInput = reportPull('4027', { profile: 'mixed' });
  const pull = await startPull(harness, pullInput);
  const result = (await pull.result()) as unknown as { attention?: string };
  assert.equal(result.attention, 'ssnMismatch');
  assert.deepEqual((await pull.describe()).searchAttributes.NeedsAttention, ['ssnMismatch']);
  const [pulled] = await receiver.accepted('/steady', `pull:${pullInput.pullId}`, 2);
  assert.equal(pulled?.event?.data.attention, 'ssnMismatch');

  const ledger = await openLedgerOf(harness);
  t.after(() => ledger.close());
  for (const runKey of [journeyId, `pull:${pullInput.pullId}`]) {
    const { rows } = await ledger.tasks.open({ runKey, limit: 10 });
    const open = rows.map(({ kind, reason, productCode }) => [kind, reason, productCode]);
    const productCode = runKey === journeyId ? 'PREQUAL' : pullInput.productCode;
    assert.deepEqual(open, [['flagged', 'ssnMismatch', productCode]], 'it stands after the end of the run');
  }
});

test('consents that arrive while the last events are handed to the delivery reach the ledger', async () => {
  const { handle, journeyId, refuse } = await waitingForConsent();
  await whileProfileIsUnknown('mixed', async () => {
    await refuse('denied');
    await untilStatus(handle, ({ state }) => state === 'completed');
    await refuse('revoked');
  });
  await handle.result();
  using ledger = new DatabaseSync(stage.harness.config.ledger.url.slice('file:'.length), { readOnly: true });
  const rows = ledger.prepare('SELECT decision FROM consents WHERE journey_id = ? ORDER BY decision').all(journeyId);
  assert.deepEqual(
    rows.map(({ decision }) => decision),
    ['denied', 'revoked'],
  );
});

test('an event that a message causes while the last events are handed over is handed over, too', async () => {
  const { handle, journeyId, grant, refuse } = await waitingForConsent({ sharesOpenFor: 'P1D' });
  await grant();
  await stage.receiver.accepted('/steady', journeyId, 4);
  let unlock = () => {};
  await whileProfileIsUnknown('mixed', async () => {
    await update(handle, 'withdraw', { journeyId, by: 'platform@example.com', reason: 'bought elsewhere' });
    await untilStatus(handle, ({ state }) => state === 'withdrawn');
    unlock = lockLedger(stage.harness);
    assert.equal((await refuse('revoked')).recorded, false);
  });
  try {
    await stage.receiver.accepted('/steady', journeyId, 5);
  } finally {
    unlock();
  }
  await handle.result();
  const told = await stage.receiver.accepted('/steady', journeyId, 6);
  assert.deepEqual(typesOf(told).slice(2), [
    'share.posted',
    'share.ended',
    'journey.ended',
    'share.revokedAfterPosting',
  ]);
});

test('events reach the delivery although an operator limits their hand-over to one attempt, or to one second', async () => {
  const hands: ((commands: ReturnType<typeof activityCommands>) => Promise<unknown>)[] = [
    (commands) => commands.boundRetries(),
    (commands) => commands.shortenScheduleToClose(1_000),
  ];
  const journeys = await Promise.all(hands.map(() => waitingForConsent()));
  await whileProfileIsUnknown('mixed', async () => {
    await Promise.all(
      journeys.map(async ({ handle, refuse }, nth) => {
        await refuse('denied');
        const { activityId } = await pendingAttempt(handle, { of: 'queueWebhooks' });
        await hands[nth]?.(activityCommands(stage.harness, handle, activityId));
        const isOver = async () =>
          (await eventsOf(handle)).some(
            (event) => event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes,
          );
        await until(isOver, 'the hand-over goes on');
      }),
    );
  });
  for (const { journeyId } of journeys) {
    const told = await stage.receiver.accepted('/steady', journeyId, 4);
    assert.deepEqual(typesOf(told), ['stage.answered', 'consent.missing', 'share.ended', 'journey.ended']);
  }
});

/** Starts a journey of the profile `mixed`, and waits until its first two events were delivered. */
async function waitingForConsent(more: Partial<LendingJourneyInput> = {}) {
  const { harness, receiver } = stage;
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL'], profile: 'mixed', shares, ...more });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await receiver.accepted('/steady', journeyId, 2);
  const send = (decision: ConsentMessage['decision']) =>
    update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', decision }));
  const refuse = (decision: 'denied' | 'revoked') => send(decision);
  return { handle, journeyId, grant: () => send('granted'), refuse };
}

/** Removes the profile from the worker meanwhile, as during a deployment, so no event reaches the delivery. */
async function whileProfileIsUnknown(name: string, work: () => Promise<void>): Promise<void> {
  const { profiles } = stage.harness.config as unknown as { profiles: Map<string, unknown> };
  const profile = profiles.get(name);
  profiles.delete(name);
  try {
    await work();
  } finally {
    profiles.set(name, profile);
  }
}

test('an operator tests an endpoint with a signed event', async () => {
  const { code, stdout, stderr } = await cli('webhooks', 'test', 'steady', '--profile', 'mixed');
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { endpoint: 'steady', httpStatus: 204 });
  const pings = stage.receiver.received.filter(({ event }) => event?.type === 'ping');
  assert.deepEqual(
    pings.map(({ event }) => event?.data),
    [{ environment: 'sandbox' }],
  );
  stage.receiver.answer('/steady', 401);
  const refused = await cli('webhooks', 'test', 'steady', '--profile', 'mixed');
  stage.receiver.answer('/steady', 204);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /the endpoint did not answer with success \(HTTP 401\)/);
});
