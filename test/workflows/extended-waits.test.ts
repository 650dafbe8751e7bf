/** Operators extend waits: of a journey at a gate, and of a share for consent. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import { checkExtend, takeExtension } from '../../src/workflows/run/run-decisions.ts';
import { HANDS_OVER_SOON, handsOver } from '../support/floods.ts';
import {
  consentMessage,
  type Harness,
  journeyInput,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { decidedAbout, lockLedger, openLedgerOf } from '../support/ledger-access.ts';

let harness: Harness;
let ledger: Ledger;
before(async () => {
  harness = await startHarness({ env: HANDS_OVER_SOON });
  ledger = await openLedgerOf(harness);
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

const who = { by: 'underwriting', reason: 'the appraisal is late' };
const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

async function detailsOf(handle: { query<T>(name: string): Promise<T> }): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

describe('an extension of a wait', () => {
  function waiting(): Journey {
    const journey = new Journey(journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] }));
    journey.state.gate = { before: 'PREAPP', since: inDays(0), until: inDays(10) };
    return journey;
  }
  const extend = (until: string, wait: object = { gate: 'PREAPP' }) => ({ until, ...who, ...wait });

  test('is a duplicate with the same wait and instant, and refused if another reason comes with them', () => {
    const journey = waiting();
    const until = inDays(20);
    assert.equal(checkExtend(journey, extend(until)), null);
    for (let times = 0; times < 2; times++) assert.equal(takeExtension(journey, extend(until)), null);
    assert.equal(journey.state.gate?.until, until);
    const respelled = until.replace('Z', '+00:00');
    assert.equal(checkExtend(journey, extend(respelled)), null, 'the same instant in the spelling of another client');
    assert.equal(takeExtension(journey, extend(respelled)), null);
    assert.equal(journey.state.extensions.length, 1);
    assert.match(
      checkExtend(journey, { ...extend(until), reason: 'another' })?.reason ?? '',
      /accepted before with other content: \/reason differs$/,
    );
    assert.equal(takeExtension(journey, extend(inDays(30))), null);
    assert.equal(checkExtend(journey, extend(until)), null, 'the first, sent again, is a duplicate');
    assert.equal(takeExtension(journey, extend(until)), null);
    assert.ok((journey.state.gate?.until ?? '') > until, 'and takes nothing back');
  });

  test('is refused for an unknown wait, an instant that is no later or too far away, and a wait without end', () => {
    const journey = waiting();
    assert.match(
      checkExtend(journey, extend(inDays(20), { gate: 'PRECLOSE' }))?.reason ?? '',
      /at a gate before PRECLOSE/,
    );
    assert.match(
      checkExtend(journey, extend(inDays(20), { gate: undefined, shareId: 'S1' }))?.reason ?? '',
      /no share that waits/,
    );
    assert.match(
      checkExtend(journey, extend(inDays(20), { gate: undefined, shareId: 'S2' }))?.reason ?? '',
      /no share that waits/,
    );
    assert.match(checkExtend(journey, extend(inDays(9)))?.reason ?? '', /\/until must be later/);
    assert.match(checkExtend(journey, extend(inDays(3_651)))?.reason ?? '', /\/until must be at most P3650D/);
    journey.state.withdrawal = who;
    assert.match(checkExtend(journey, extend(inDays(20)))?.reason ?? '', /nothing waits/);
    delete journey.state.withdrawal;
    for (let day = 11; day < 111; day++) takeExtension(journey, extend(inDays(day)));
    assert.match(checkExtend(journey, extend(inDays(200)))?.reason ?? '', /at most 100 extensions/);
  });

  test('emits one event, without who and why', () => {
    const journey = waiting();
    const until = inDays(20);
    takeExtension(journey, extend(until));
    takeExtension(journey, extend(until));
    const { waiting: told } = journey.state.events;
    assert.deepEqual(
      told.map(({ type, data }) => ({ type, data })),
      [{ type: 'wait.extended', data: { gate: 'PREAPP', shareId: undefined, until } }],
    );
  });
});

describe('an extended wait', { concurrency: 4 }, () => {
  test('lasts at a gate until the new instant, also in the next run and past the original end', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { expiresAfter: 'PT5S' } } });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const first = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    assert.ok(first.waitingUntil);
    const until = inDays(3);
    const extend = { journeyId, gate: 'PREAPP', until, ...who };
    const answers = await Promise.all([1, 2, 3].map(() => update(handle, 'extend', extend)));
    assert.deepEqual(answers.map(({ duplicate }) => duplicate).sort(), [false, true, true]);
    assert.equal(answers[0]?.status.waitingUntil, until);
    assert.deepEqual(
      answers.map(({ recorded }) => recorded),
      [true, true, true],
    );
    const decisions = await decidedAbout(ledger, journeyId);
    assert.deepEqual(decisions, [
      { ...{ decisionId: `extend-PREAPP-${until}`, action: 'extend', productCode: 'PREAPP', until }, ...who },
    ]);
    const details = await detailsOf(handle);
    assert.ok(details.includes(until.slice(0, 10)), 'the sentence says until when');
    await handsOver(handle);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(first.waitingUntil ?? '') - Date.now())));
    const { state, waitingUntil } = await statusOf(handle);
    assert.deepEqual([state, waitingUntil], ['waitingAtGate', until]);
    assert.equal((await update(handle, 'extend', extend)).duplicate, true);
    assert.match(await refusalOf(update(handle, 'extend', { ...extend, by: 'another' })), /\/by differs$/);
    await update(handle, 'advance', { journeyId, to: 'PREAPP' });
    assert.equal((await handle.result()).outcome, 'completed');
    assert.equal((await harness.posted(handle)).length, 2);
  });

  test('lasts no shorter when the journey returns to the gate', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const until = inDays(100);
    await update(handle, 'extend', { journeyId, gate: 'PREAPP', until, ...who });
    await update(handle, 'advance', { journeyId, repeat: 'PREQUAL', occurrence: 2, ...who });
    const again = await untilStatus(
      handle,
      ({ stages, state }) => stages[1]?.state === 'record' && state === 'waitingAtGate',
    );
    assert.equal(again.waitingUntil, until);
    await update(handle, 'withdraw', { journeyId, ...who });
    assert.match(
      await refusalOf(update(handle, 'extend', { journeyId, gate: 'PREAPP', until: inDays(200), ...who })).catch(
        (error: Error) => `nothing waits: ${error.name}`,
      ),
      /nothing waits/,
    );
    assert.equal((await handle.result()).outcome, 'withdrawn');
  });

  test('lasts for a share’s consent until the new instant, and is refused before its report and after its posting', async () => {
    const shares = [{ shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREAPP' as const, awaitConsentFor: 'PT4S' }];
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const extend = { journeyId, shareId: 'S1', until: inDays(3), ...who };
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    assert.match(await refusalOf(update(handle, 'extend', extend)), /\/shareId names no share that waits/);
    await update(handle, 'advance', { journeyId, to: 'PREAPP' });
    const { shares: [waiting] = [] } = await untilStatus(handle, ({ shares: [share] }) => share?.until !== undefined);
    const { status, recorded }: UpdateAnswer = await update(handle, 'extend', extend);
    assert.equal(recorded, true);
    const [decided] = await decidedAbout(ledger, journeyId);
    assert.deepEqual([decided?.action, decided?.shareId, decided?.until], ['extend', 'S1', extend.until]);
    assert.equal(status.shares[0]?.until, extend.until);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(waiting?.until ?? '') - Date.now() + 200));
    assert.equal((await statusOf(handle)).shares[0]?.state, 'awaitingConsent');
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    const result = await handle.result();
    assert.deepEqual(
      result.shares.map(({ state, until }) => [state, until]),
      [['posted', undefined]],
    );
  });
});

test('a wait whose extension the ledger cannot record does not expire, and the answer says so', async () => {
  const atGate = journeyInput({ stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { expiresAfter: 'PT4S' } } });
  const atShare = journeyInput({
    ...{ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999', awaitConsentFor: 'PT4S' }] },
  });
  const [gate, share] = await Promise.all([harness.start(atGate), harness.start(atShare)]);
  await untilStatus(gate, ({ state }) => state === 'waitingAtGate');
  await untilStatus(share, ({ shares: [one] }) => one?.until !== undefined);
  const until = inDays(3);
  const unlock = lockLedger(harness);
  try {
    const answers = await Promise.all([
      update(gate, 'extend', { journeyId: atGate.journeyId, gate: 'PREAPP', until, ...who }),
      update(share, 'extend', { journeyId: atShare.journeyId, shareId: 'S1', until, ...who }),
    ]);
    assert.deepEqual(
      answers.map(({ recorded, duplicate }) => [recorded, duplicate]),
      [
        [false, false],
        [false, false],
      ],
    );
    assert.equal((await statusOf(gate)).state, 'waitingAtGate', 'its 4 s are over, and the answer took 5 s');
    assert.equal((await statusOf(share)).shares[0]?.state, 'awaitingConsent');
    const other = { journeyId: atGate.journeyId, gate: 'PREAPP', until, ...who, by: 'another' };
    assert.match(await refusalOf(update(gate, 'extend', other)), /accepted before with other content: \/by differs/);
  } finally {
    unlock();
  }
  assert.equal((await untilStatus(gate, ({ waitingUntil }) => waitingUntil === until)).state, 'waitingAtGate');
  await untilStatus(share, ({ shares: [one] }) => one?.until === until);
  assert.deepEqual(
    (await decidedAbout(ledger, atGate.journeyId)).map(({ by }) => by),
    [who.by],
  );
  await Promise.all([gate.terminate(), share.terminate()]);
});
