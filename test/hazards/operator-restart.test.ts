/** A journey is started again: while it runs, after its termination, and with other applicants. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyReferences } from '../../src/messages/journey/shapes.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { currentRun, decisionAbout, inquiriesOf, ledgerRows, pendingAttempt, until } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

function oneStage(lastFour = '0001') {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

function references(handle: JourneyHandle): Promise<JourneyReferences> {
  return handle.query<JourneyReferences>('references');
}

async function startInFlight(input: LendingJourneyInput): Promise<JourneyHandle> {
  const handle = await harness.start(input);
  await until(async () => (await harness.received(handle)).length === 1, 'nothing was received');
  return handle;
}

/** A journey that was answered and then terminated at its gate. */
async function answeredAndTerminated(input: LendingJourneyInput): Promise<JourneyReferences> {
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const found = await references(handle);
  await handle.terminate();
  return found;
}

const twoStages = () => journeyInput({ stages: ['PREQUAL', 'PREAPP'] });

describe('a journey that is started again', { concurrency: 8 }, () => {
  test('in place of a run whose request is in flight waits for that answer, and uses it', async () => {
    const input = oneStage('4011');
    const first = await startInFlight(input);
    const again = (await harness.client.workflow.start('lendingJourney', {
      workflowId: first.workflowId,
      taskQueue: harness.config.taskQueue,
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      args: [input],
    })) as JourneyHandle;
    const result = await again.result();
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal((await harness.received(again)).length, 1);
    const [posted] = await harness.posted(again);
    assert.equal(result.stages[0]?.reportReferenceNumber, posted?.reportReferenceNumber);
  });

  test('after it was terminated takes its first answer from the ledger, and continues with the next stage', async () => {
    const input = twoStages();
    const before = await answeredAndTerminated(input);
    const again = await harness.start(input);
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    assert.deepEqual(await references(again), before);
    assert.equal((await harness.received(again)).length, 1);
    await update(again, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
    assert.equal((await again.result()).outcome, 'completed');
    assert.equal((await harness.received(again)).length, 2);
  });
});

describe('a journey that is started again with a corrected applicant', { concurrency: 8 }, () => {
  test('is held without the answer to the first request; an amendment makes a new inquiry', async () => {
    const input = twoStages();
    const before = await answeredAndTerminated(input);
    const corrected = { ...input, applicants: [applicant('1A')] };
    const again = await harness.start(corrected);
    const status = await untilStatus(again, ({ state }) => state === 'held');
    assert.equal(status.holds[0]?.failureType, 'RequestDiffers');
    assert.deepEqual(status.holds[0]?.allowedActions, ['amend', 'abandon']);
    assert.deepEqual((await references(again)).references, []);
    assert.equal((await harness.received(again)).length, 1);
    assert.match(await refusalOf(update(again, 'resolveInquiry', decisionAbout(status))), /allows amend, abandon/);

    const { applicants } = corrected;
    await update(again, 'resolveInquiry', decisionAbout(status, { action: 'amend', applicants }));
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    const received = await harness.received(again);
    assert.equal(received.length, 2);
    assert.equal(received[1]?.customerTraceNumber, `${received[0]?.customerTraceNumber.slice(0, -2)}01`);
    const [mine] = (await references(again)).references;
    const [others] = before.references;
    assert.notEqual(mine?.reference.reportReferenceNumber, others?.reference.reportReferenceNumber);
    assert.notEqual(mine?.reference.applicants[0]?.consumerId, others?.reference.applicants[0]?.consumerId);
    await again.terminate();
  });

  test('while the first request is in flight is held at once, and the late answer stays with the first request', async () => {
    const input = oneStage('4011');
    await (await startInFlight(input)).terminate();
    const again = await harness.start({ ...input, applicants: [applicant('1A')] });
    const status = await untilStatus(again, ({ state }) => state === 'held');
    assert.equal(status.holds[0]?.failureType, 'RequestDiffers');
    const attemptState = async () => (await inquiriesOf(harness, input.journeyId))[0]?.attempts[0]?.state;
    await until(async () => (await attemptState()) === 'answered', 'the first answer was not recorded');
    assert.deepEqual((await references(again)).references, []);
    assert.equal((await harness.received(again)).length, 1);
    await again.terminate();
  });

  test('and abandoned leaves the first request unchanged; the next start with the first applicant gets its answer', async () => {
    const input = twoStages();
    const before = await answeredAndTerminated(input);
    const other = await harness.start({ ...input, applicants: [applicant('1A')] });
    const status = await untilStatus(other, ({ state }) => state === 'held');
    await update(other, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    assert.equal((await other.result()).outcome, 'abandoned');
    // Only an operator can run a completed journey again. The ledger treats every start in the same way.
    const again = await harness.start(input);
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    assert.deepEqual(await references(again), before);
    assert.equal((await harness.received(again)).length, 1);
    await again.terminate();
  });
});

describe('a journey that is started again with a corrected applicant, whose attempt times out before its claim', () => {
  let short: Harness;
  before(async () => {
    short = await startHarness({
      env: {
        SEND_BY_MS: '100',
        GATEWAY_HEADERS_TIMEOUT_MS: '500',
        GATEWAY_BODY_TIMEOUT_MS: '500',
        SUBMIT_TIMEOUT_MS: '1200',
        HEARTBEAT_TIMEOUT_MS: '1200',
      },
    });
  });
  after(() => short?.close());

  test('is held by the look-up, which shows nothing of the first applicant’s inquiry', async () => {
    const input = twoStages();
    const first = await short.start(input);
    await untilStatus(first, ({ state }) => state === 'waitingAtGate');
    await first.terminate();
    const rows = ledgerRows(short);

    const again = await short.start({ ...input, applicants: [applicant('1A')] });
    await withLockedLedger(short, async () => {
      await pendingAttempt(again, { of: 'closeAttempt' });
    });
    const status = await untilStatus(again, ({ state }) => state === 'held');
    assert.equal(status.holds[0]?.failureType, 'RequestDiffers');
    assert.deepEqual((await references(again)).references, []);
    // The run writes the row of its hold to the ledger.
    assert.deepEqual({ ...ledgerRows(short), operator_tasks: [] }, { ...rows, operator_tasks: [] });
    assert.equal((await short.received(currentRun(short, again))).length, 1);
    await again.terminate();
  });

  /** Keeps every writer out of an SQLite ledger, as a backup or a hung process does. */
  async function withLockedLedger({ config }: Harness, work: () => Promise<void>): Promise<void> {
    const database = new DatabaseSync(config.ledger.url.slice('file:'.length), { timeout: 2_000 });
    try {
      database.exec('BEGIN IMMEDIATE');
      await work();
    } finally {
      database.close();
    }
  }
});

test('a journey that is started again while no token can be fetched is held for its earlier attempt, and sends nothing', async () => {
  const input = oneStage('4002');
  const first = await harness.start(input);
  await untilStatus(first, ({ holds }) => holds[0]?.failureType === 'OutcomeUnknown');
  await first.terminate();
  // Its 401 makes the worker drop the token that all attempts share.
  await harness.addFaults([{ target: 'token', fault: 'refused' }]);
  const other = await harness.start(oneStage('3401'));
  await untilStatus(other, ({ holds }) => holds[0]?.failureType === 'CredentialsRefused');

  const again = await harness.start(input);
  const status = await untilStatus(again, ({ state }) => state === 'held');
  assert.equal(status.holds[0]?.failureType, 'OutcomeUnknown');
  assert.equal(status.holds[0]?.attempts, 1);
  const unasked = update(again, 'resolveInquiry', decisionAbout(status, { providerSaid: 'notAsked' }));
  assert.match(await refusalOf(unasked), /providerSaid must be posted or notPosted or unknown/);
  assert.equal((await harness.received(again)).length, 1);
});
