/** What runs wait for, told apart by the API: all at the same time on a real server, until they end. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { resetTo, workflowTasksOf } from '../../hazards/operator-hands.ts';
import { HANDS_OVER_SOON, handsOver } from '../../support/floods.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../../support/journey-harness.ts';
import { openLedgerOf } from '../../support/ledger-access.ts';
import { type Json, token, useApi } from '../fixtures.ts';

const NONE = { person: 0, repair: 0, gate: 0, consents: 0, gateway: 0, pause: 0, ledger: 0, requests: 0, other: 0 };

/** Of this test alone: other tests have runs on the server, too. */
const endUserCode = `EU${randomInt(100_000, 999_999)}`;

// A wait is half of it at least: long enough to be listed.
const { harness, api } = useApi(
  {},
  { env: { BACKOFF_INITIAL_MS: '20000', BACKOFF_MAX_MS: '20000', ...HANDS_OVER_SOON } },
);
const mine = await token({ endUsers: [endUserCode] });

async function counts(): Promise<Record<string, number>> {
  const json = await api.expect(200, '/v1/waiting', { token: mine });
  return Object.fromEntries(json.counts.map(({ waitsFor, count }: Json) => [waitsFor, count]));
}

/** Visibility lags. */
async function untilCounted(expected: Partial<typeof NONE>): Promise<void> {
  const wanted = JSON.stringify({ ...NONE, ...expected });
  let found = '';
  const endsAt = performance.now() + 60_000;
  while (found !== wanted) {
    assert.ok(performance.now() < endsAt, `${found} instead of ${wanted}`);
    found = JSON.stringify(await counts());
  }
}

async function listed(waitsFor: string): Promise<string[]> {
  const json = await api.expect(200, `/v1/runs?waitsFor=${waitsFor}`, { token: mine });
  assert.equal(json.hasMore, false);
  return json.data.map(({ runKey }: Json) => runKey);
}

async function started(parts: Json, digits = '0001'): Promise<{ handle: JourneyHandle; journeyId: string }> {
  const input = journeyInput({ endUserCode, applicants: [applicant('1A', newSsn(digits))], ...parts });
  // A handle without a run: of the latest one.
  const { workflowId } = await harness.start(input);
  return { journeyId: input.journeyId, handle: harness.client.workflow.getHandle(workflowId) as JourneyHandle };
}

async function pause(how: 'begin' | 'end'): Promise<void> {
  const ledger = await openLedgerOf(harness);
  try {
    await ledger.pauses[how](ledger.identity.ledgerId, {}, { by: 'ops', reason: 'a test' });
  } finally {
    await ledger.close();
  }
}

const withdrawal = { by: 'test', reason: 'done' };

test('a gate, consents, the gateway, a pause, further requests and a person are counted apart, until they end', async () => {
  const firstGate = await started({ stages: ['PREAPP'], gates: { PREAPP: {} } });
  const secondGate = await started({ stages: ['PREQUAL', 'PREAPP'] });
  const sharing = await started({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const open = await started({ stages: ['PREQUAL'], sharesOpenFor: 'P1D' });
  const throttled = await started({ stages: ['PREQUAL'] }, '4430');
  const held = await started({ stages: ['PREQUAL'] }, '4002');
  await untilCounted({ person: 1, gate: 2, consents: 1, gateway: 1, requests: 1 });

  await pause('begin');
  const paused = await started({ stages: ['PREQUAL'] });
  await update(sharing.handle, 'recordConsent', consentMessage(sharing.journeyId, { applicantId: '1A' }));
  await untilCounted({ person: 1, gate: 2, pause: 2, gateway: 1, requests: 1 });
  assert.deepEqual((await listed('pause')).toSorted(), [paused.journeyId, sharing.journeyId].toSorted());
  assert.deepEqual(await listed('gateway'), [throttled.journeyId]);
  assert.deepEqual((await listed('gate')).toSorted(), [firstGate.journeyId, secondGate.journeyId].toSorted());
  const { json } = await api.call('/v1/journeys?waitsFor=gateway', { token: mine });
  assert.deepEqual(
    json.data.map(({ runKey, waitsFor }: Json) => [runKey, waitsFor]),
    [[throttled.journeyId, 'gateway']],
  );

  // A run that was handed over or reset says the same.
  await handsOver(secondGate.handle);
  const [firstTask] = await workflowTasksOf(firstGate.handle);
  assert.ok(firstTask);
  await resetTo(harness, firstGate.handle, firstTask);
  await untilCounted({ person: 1, gate: 2, pause: 2, gateway: 1, requests: 1 });

  await pause('end');
  for (const { handle } of [paused, sharing]) await handle.signal('inquiriesResumed');
  await Promise.all([paused.handle.result(), sharing.handle.result()]);
  await untilCounted({ person: 1, gate: 2, gateway: 1, requests: 1 });
  for (const { journeyId, handle } of [firstGate, secondGate]) {
    await update(handle, 'advance', { journeyId, to: 'PREAPP' });
    await handle.result();
  }
  await untilCounted({ person: 1, gateway: 1, requests: 1 });
  for (const { journeyId, handle } of [throttled, open]) {
    await update(handle, 'withdraw', { journeyId, ...withdrawal });
    await handle.result();
  }
  const { customerTraceNumber, attempts: attempt } = (await untilStatus(held.handle, ({ holds }) => holds.length > 0))
    .holds[0] as { customerTraceNumber: string; attempts: number };
  const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'abandon', providerSaid: 'notPosted' };
  await update(held.handle, 'resolveInquiry', { journeyId: held.journeyId, ...decision, by: 'ops', reason: 'asked' });
  await held.handle.result();
  await untilCounted({});

  for (const { handle } of [firstGate, secondGate, sharing, open, throttled, paused]) {
    const { WaitsFor } = (await handle.describe()).searchAttributes;
    assert.deepEqual(WaitsFor ?? [], [], 'a closed run waits for nothing');
  }
});
