/** `temporal activity fail`, `reset`, `pause`, `unpause` and `update-options`: none is a second send, and none ends a journey. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { isGrpcServiceError } from '@temporalio/client';
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
import { ON_GATEWAY_QUEUE, ON_WORKFLOW_QUEUE, SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { activityCommands, decisionAbout, eventsOf, pendingAttempt, until, untilIdle } from './operator-hands.ts';

let harness: Harness;

/** The queue of the attempts, and the worker's variables for that queue. */
const QUEUES: [where: string, env: Record<string, string>][] = [
  ['on the workflow queue', ON_WORKFLOW_QUEUE],
  ...(runsSlowParts ? [['on the gateway queue', ON_GATEWAY_QUEUE] as [string, Record<string, string>]] : []),
];

function useHarness(env: Record<string, string>): void {
  before(async () => {
    harness = await startHarness({ env: { ...SHORT_TIMEOUTS, ...env } });
  });
  after(() => harness?.close());
}

function oneStage(lastFour: string) {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

type Commands = ReturnType<typeof activityCommands>;

/** The gRPC code for a command about an activity that has closed. */
const GRPC_NOT_FOUND = 5;

/** A journey whose request has reached the gateway and is not answered yet, and the commands about it. */
async function inFlight(lastFour: string): Promise<{ handle: JourneyHandle; commands: Commands }> {
  const handle = await harness.start(oneStage(lastFour));
  await until(async () => (await harness.received(handle)).length === 1, 'nothing was received');
  const { activityId } = await pendingAttempt(handle, { started: true });
  return { handle, commands: activityCommands(harness, handle, activityId) };
}

/** Whether the attempt has ended before the command. */
function isOver(error: unknown): boolean {
  return isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND;
}

/** Acts on an attempt in flight. If its answer is first, as on a busy machine, it tries another attempt. */
async function actedOn(lastFour: string, act: (commands: Commands) => Promise<unknown>): Promise<JourneyHandle> {
  for (let tries = 1; ; tries++) {
    const { handle, commands } = await inFlight(lastFour);
    try {
      await act(commands);
      return handle;
    } catch (error) {
      if (!isOver(error) || tries === 5) throw error;
    }
  }
}

/** The gateway answers the first after 1.5 s. It posts the second and never answers. */
const ANSWERED_LATER = '4011';
const NEVER_ANSWERED = '4008';

const HANDS: [what: string, (commands: Commands) => Promise<unknown>][] = [
  ['reset', (commands) => commands.reset()],
  ['given five attempts', (commands) => commands.widenRetries()],
  ['paused', (commands) => commands.pause()],
  ['ended with a result of its operator', (commands) => commands.complete()],
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

for (const [where, env] of QUEUES) {
  describe(`an attempt in flight ${where}`, { concurrency: 12 }, () => {
    useHarness(env);
    for (const [what, act] of HANDS) {
      test(`that is ${what} is sent once, and the journey receives its answer`, async () => {
        const handle = await actedOn(ANSWERED_LATER, act);
        assert.equal((await handle.result()).stages[0]?.state, 'record');
        assert.equal((await harness.received(handle)).length, 1);
      });

      test(`that is ${what} and whose answer is lost is held after one request`, async () => {
        const { handle, commands } = await inFlight(NEVER_ANSWERED);
        await act(commands);
        // A paused activity that has failed is closed: no operator has to unpause it.
        const held = await untilStatus(handle, ({ state }) => state === 'held');
        assert.equal(held.holds[0]?.failureType, 'OutcomeUnknown');
        assert.equal((await harness.received(handle)).length, 1);
        await update(handle, 'resolveInquiry', decisionAbout(held));
        assert.equal((await handle.result()).stages[0]?.attempts, 2);
        assert.equal((await harness.received(handle)).length, 2);
      });
    }
  });
}

describe('an attempt that waits for its token', () => {
  useHarness(ON_WORKFLOW_QUEUE);
  for (const hand of ['reset', 'pause'] as const) {
    test(`claims nothing before an operator’s ${hand}, and is posted once afterwards`, async () => {
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

describe('an outage of the ledger', () => {
  useHarness({});
  test('ends no journey when an operator limits recordDecision to one try; the decision is recorded afterwards', async () => {
    const handle = await harness.start(oneStage('4002'));
    const held = await untilStatus(handle, ({ state }) => state === 'held');
    // A decision is recorded once the hold's row is open.
    await untilIdle(handle);
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

  /** Does the work while the ledger is locked, and fails the activity that it leads to, as `temporal activity fail` does. */
  async function failBy(handle: JourneyHandle, of: string, work: () => Promise<unknown>): Promise<void> {
    await whileLedgerIsLocked(async () => {
      await work();
      await until(async () => {
        const { activityId } = await pendingAttempt(handle, { of, started: true });
        const { fail } = activityCommands(harness, handle, activityId);
        // The attempt may have ended meanwhile.
        return fail().then(
          () => true,
          (error) => !isOver(error) && Promise.reject(error),
        );
      }, `no ${of} was failed`);
    });
  }

  test('ends no journey when an operator fails recordDecision: the decision is recorded afterwards', async () => {
    const handle = await harness.start(oneStage('4002'));
    const held = await untilStatus(handle, ({ state }) => state === 'held');
    await untilIdle(handle);
    const abandon = decisionAbout(held, { action: 'abandon' });
    await failBy(handle, 'recordDecision', () => update(handle, 'resolveInquiry', abandon));
    assert.equal((await handle.result()).stages[0]?.state, 'abandoned');
  });

  test('leaves a cancelled journey cancelled when an operator fails closeWork', async () => {
    const handle = await harness.start(oneStage('4002'));
    await untilStatus(handle, ({ state }) => state === 'held');
    await untilIdle(handle);
    await failBy(handle, 'closeWork', () => handle.cancel());
    await assert.rejects(handle.result());
    assert.equal((await handle.describe()).status.name, 'CANCELLED');
  });

  test('ends no journey when an operator fails recordShareWithdrawal: the share is withdrawn afterwards', async () => {
    const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await untilIdle(handle);
    const withdrawal = { journeyId: input.journeyId, shareId: 'S1', by: 'platform', reason: 'sold elsewhere' };
    await failBy(handle, 'recordShareWithdrawal', () => update(handle, 'withdrawShare', withdrawal));
    assert.equal((await handle.result()).shares[0]?.state, 'withdrawn');
  });
});
