/** `temporal activity reset`, `pause`, `unpause` and `update-options`: none is a second send, and none ends a journey. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import {
  applicant,
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
import { activityCommands, decisionAbout, eventsOf, pendingAttempt, until } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

function oneStage(lastFour: string) {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

type Commands = ReturnType<typeof activityCommands>;

/** A journey whose request has reached the gateway and is not answered yet, and the commands about it. */
async function inFlight(lastFour: string): Promise<{ handle: JourneyHandle; commands: Commands }> {
  const handle = await harness.start(oneStage(lastFour));
  const { activityId } = await pendingAttempt(handle, { started: true });
  await until(async () => (await harness.received(handle)).length === 1, 'nothing was received');
  return { handle, commands: activityCommands(harness, handle, activityId) };
}

/** 1.5 s until the answer; and one that is posted and never answered. */
const ANSWERED_LATER = '4011';
const NEVER_ANSWERED = '4008';

const HANDS: [what: string, (commands: Commands) => Promise<unknown>][] = [
  ['reset', (commands) => commands.reset()],
  ['given five attempts', (commands) => commands.widenRetries()],
  ['paused', (commands) => commands.pause()],
  ['given five attempts, and reset', (commands) => commands.widenRetries().then(() => commands.reset())],
  [
    'paused, reset and unpaused',
    (commands) =>
      commands
        .pause()
        .then(() => commands.reset())
        .then(() => commands.unpause()),
  ],
];

describe('an attempt in flight', { concurrency: 12 }, () => {
  for (const [what, act] of HANDS) {
    test(`that is ${what} goes on to its answer, and the journey with it`, async () => {
      const { handle, commands } = await inFlight(ANSWERED_LATER);
      await act(commands);
      assert.equal((await handle.result()).stages[0]?.state, 'record');
      assert.equal((await harness.received(handle)).length, 1);
    });

    test(`that is ${what} and whose answer is lost becomes a hold after one request`, async () => {
      const { handle, commands } = await inFlight(NEVER_ANSWERED);
      await act(commands);
      // A paused activity that has failed is over: no operator has to unpause it.
      const status = await untilStatus(handle, ({ state }) => state === 'held');
      assert.equal(status.holds[0]?.failureType, 'OutcomeUnknown');
      assert.equal((await harness.received(handle)).length, 1);
      await update(handle, 'resolveInquiry', decisionAbout(status));
      assert.equal((await handle.result()).stages[0]?.attempts, 2);
      assert.equal((await harness.received(handle)).length, 2);
    });
  }
});

describe('an attempt that waits for its token', () => {
  for (const hand of ['reset', 'pause'] as const) {
    test(`and is told to ${hand} has claimed nothing: it is made once, after all`, async () => {
      await harness.addFaults([{ target: 'token', fault: 'slow', delayMs: 1_800 }]);
      // The first attempt meets 401, and the second one needs a token of its own.
      const handle = await harness.start(oneStage('3401'));
      await until(async () => (await harness.received(handle)).length === 1, 'nothing was received');
      await untilStatus(handle, ({ stages }) => stages[0]?.attempts === 1);
      const { activityId } = await pendingAttempt(handle, { started: true });
      const commands = activityCommands(harness, handle, activityId);
      await commands[hand]();
      if (hand === 'pause') {
        await until(async () => !(await pendingAttempt(handle)).isStarted, 'the activity did not hear of the pause');
        assert.equal((await harness.received(handle)).length, 1);
        await commands.unpause();
      }
      const result = await handle.result();
      assert.equal(result.stages[0]?.state, 'record');
      assert.equal((await harness.posted(handle)).length, 1);
      assert.equal((await statusOf(handle)).holds.length, 0);
    });
  }
});

/** Locks the ledger during the work: other connections may read but not write. */
async function whileLedgerIsLocked(work: () => Promise<void>): Promise<void> {
  const database = new DatabaseSync(harness.config.ledger.url.slice('file:'.length));
  try {
    database.exec('BEGIN IMMEDIATE');
    await work();
  } finally {
    database.close();
  }
}

test('retries that were bounded to one in an outage of the ledger end no journey: its decision is recorded when that is over', async () => {
  const handle = await harness.start(oneStage('4002'));
  const held = await untilStatus(handle, ({ state }) => state === 'held');
  const timesScheduled = async () =>
    (await eventsOf(handle)).filter(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'recordDecision',
    ).length;
  await whileLedgerIsLocked(async () => {
    await update(handle, 'resolveInquiry', decisionAbout(held, { action: 'abandon' }));
    const { activityId } = await pendingAttempt(handle, { of: 'recordDecision' });
    await activityCommands(harness, handle, activityId).boundRetries();
    await until(async () => (await timesScheduled()) === 2, 'it was not scheduled anew');
  });
  assert.equal((await handle.result()).stages[0]?.state, 'abandoned');
});
