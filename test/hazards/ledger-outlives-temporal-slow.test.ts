/** The Temporal database was lost or is new, and the ledger is the former one: the ledger answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyResult } from '../../src/messages/journey/shapes.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout, until } from './operator-hands.ts';

let old: Harness;
let server: TemporalServer | undefined;
let fresh: Harness | undefined;
before(async () => {
  const starting = startTemporalServer({ headless: true });
  old = await startHarness({ env: SHORT_TIMEOUTS });
  server = await starting;
});
after(async () => {
  await fresh?.close();
  await server?.stop();
  await old?.close();
});

function oneStage(lastFour: string) {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

const RECEIVED: [name: string, input: LendingJourneyInput, requests: number, decision?: object][] = [
  ['in full', journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] }), 4],
  ['without a record', oneStage('0404'), 1],
  ['throttled', oneStage('3429'), 2],
  ['resent', oneStage('4001'), 2, { action: 'resend' }],
  ['amended', oneStage('1422'), 2, { action: 'amend', applicants: [applicant('1A')] }],
  ['abandoned', oneStage('4002'), 1, { action: 'abandon' }],
  ['accepted', oneStage('4002'), 1, { action: 'accept', outcome: 'noRecord', providerSaid: 'posted' }],
];

/** Plays a journey to its end, with the same messages each time. */
async function play(harness: Harness, input: LendingJourneyInput, decision?: object): Promise<JourneyHandle> {
  const { journeyId } = input;
  const handle = await harness.start(input);
  const said = new Set<string>();
  await until(async () => {
    const status = await statusOf(handle);
    const { state, waitingFor } = status;
    const what = `${state} ${waitingFor ?? ''}`;
    if (!['waitingAtGate', 'waitingForConsent', 'held'].includes(state) || said.has(what)) return isOver(handle);
    said.add(what);
    if (state === 'waitingAtGate') await update(handle, 'advance', { journeyId, to: waitingFor });
    else if (state === 'held') await update(handle, 'resolveInquiry', decisionAbout(status, decision));
    else await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    return false;
  }, 'the journey did not end');
  return handle;
}

async function isOver(handle: JourneyHandle): Promise<boolean> {
  return (await handle.describe()).status.name !== 'RUNNING';
}

/** The refusal is acknowledged. Afterwards only the ledger has it: the run is lost with its server. */
async function refuseBeforeTheLoss(): Promise<LendingJourneyInput> {
  const applicants = [applicant('1A'), applicant('2A')];
  const input = journeyInput({ stages: ['PREQUAL'], applicants, shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const handle = await old.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  for (const decision of ['granted', 'revoked'] as const) {
    const message = consentMessage(input.journeyId, { applicantId: '1A', consentId: 'C-1A', decision });
    const answer = await update(handle, 'recordConsent', message);
    assert.equal((answer as { recorded?: boolean }).recorded, true, decision);
  }
  return input;
}

/** A consent system that has the grant and does not know the revocation sends the grant again. */
async function assertStillRefused(harness: Harness, input: LendingJourneyInput): Promise<void> {
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
  for (const applicantId of ['1A', '2A']) {
    const message = consentMessage(journeyId, { applicantId, consentId: `C-${applicantId}` });
    await update(handle, 'recordConsent', message).catch(() => undefined);
  }
  const { shares } = await handle.result();
  assert.equal(shares[0]?.state, 'revoked');
  const products = (await old.received(handle)).map(({ productCode }) => productCode);
  assert.deepEqual(products, ['PREQUAL']);
}

test('journeys started again on an empty Temporal server end with the same result, and send nothing', async () => {
  const lost = oneStage('4002');
  const refused = await refuseBeforeTheLoss();
  const heldBefore = await untilStatus(await old.start(lost), ({ state }) => state === 'held');
  const handles = await Promise.all(RECEIVED.map(([, input, , decision]) => play(old, input, decision)));
  const before: JourneyResult[] = await Promise.all(handles.map((handle) => handle.result()));
  for (const [index, [name, , requests]] of RECEIVED.entries()) {
    assert.equal((await old.received(handles[index] as JourneyHandle)).length, requests, name);
  }
  await old.stopWorker();

  const { address, namespace } = server as TemporalServer;
  const { config, sandboxUrl } = old;
  fresh = await startHarness({
    server: { address, namespace },
    env: {
      ...SHORT_TIMEOUTS,
      LEDGER_URL: config.ledger.url,
      KEY_RING_FILE: config.keyRingFile,
      GATEWAY_AUTH_URL: sandboxUrl,
      GATEWAY_BASE_URL: sandboxUrl,
    },
  });
  const harness = fresh;
  const again = await Promise.all(RECEIVED.map(([, input, , decision]) => play(harness, input, decision)));
  for (const [index, [name, , requests]] of RECEIVED.entries()) {
    assert.deepEqual(await again[index]?.result(), before[index], name);
    assert.equal((await old.received(again[index] as JourneyHandle)).length, requests, name);
  }
  await assertStillRefused(harness, refused);
  // An inquiry without a decision waits for one again.
  const heldAgain = await harness.start(lost);
  const { holds } = await untilStatus(heldAgain, ({ state }) => state === 'held');
  assert.equal(holds[0]?.customerTraceNumber, heldBefore.holds[0]?.customerTraceNumber);
  assert.equal(holds[0]?.failureType, 'OutcomeUnknown');
  assert.equal((await old.received(heldAgain)).length, 1);
});
