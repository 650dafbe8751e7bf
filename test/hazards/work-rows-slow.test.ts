/** An operator acts on a waiting run. Afterwards the ledger's list has exactly the rows that need an operator. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../src/ledger/ledger.ts';
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
import { openLedgerOf } from '../support/ledger-access.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { currentRun, decisionAbout, resetTo, taskOfMessage, until, workflowTasksOf } from './operator-hands.ts';

let harness: Harness;
let ledger: Ledger;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
  ledger = await openLedgerOf(harness);
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

const oneStage = (lastFour = '0001') =>
  journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });

async function openOf(runKey: string): Promise<string[]> {
  const { rows } = await ledger.tasks.open({ runKey, limit: 10 });
  return rows.map(({ reason, attempt }) => `${reason} ${attempt ?? ''}`.trim());
}

/** A run has its hold in its status before the ledger has the row. */
async function untilOpen(runKey: string, expected: string[]): Promise<void> {
  let found: string[] = [];
  for (const endsAt = Date.now() + 30_000; Date.now() < endsAt; await delay(50)) {
    found = await openOf(runKey);
    if (found.join() === expected.join()) return;
  }
  assert.deepEqual(found, expected);
}

/** A journey that was started again with another applicant: only the run knows of its hold. */
async function heldByRunAlone() {
  const input = { ...oneStage(), stages: ['PREQUAL', 'PREAPP'] as ('PREQUAL' | 'PREAPP')[] };
  const first = await harness.start(input);
  await untilStatus(first, ({ state }) => state === 'waitingAtGate');
  await first.terminate();
  const handle = await harness.start({ ...input, applicants: [applicant('1A')] });
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  await untilOpen(input.journeyId, ['RequestDiffers 1']);
  return { input, handle, status };
}

describe('a waiting run', { concurrency: 4 }, () => {
  test('that is reset to a decided hold is listed again until the next decision', async () => {
    const input = oneStage('4002');
    const { journeyId } = input;
    const handle = await harness.start(input);
    const status = await untilStatus(handle, ({ state }) => state === 'held');
    await untilOpen(journeyId, ['OutcomeUnknown 1']);
    await update(handle, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    await handle.result();
    assert.deepEqual(await openOf(journeyId), []);
    const again = await resetTo(harness, handle, await taskOfMessage(handle, 'resolveInquiry'), {
      forgetMessages: true,
    });
    const held = await untilStatus(again, ({ state }) => state === 'held');
    await untilOpen(journeyId, ['OutcomeUnknown 1']);
    await update(again, 'resolveInquiry', decisionAbout(held, { action: 'abandon' }));
    await again.result();
    await untilOpen(journeyId, []);
  });

  test('that is reset to before its hold and is not held again leaves the list', async () => {
    const { input, handle } = await heldByRunAlone();
    const { journeyId } = input;
    await handle.signal('requestWithdrawal', { journeyId, by: 'ops', reason: 'the customer has left' });
    await until(async () => (await statusOf(handle)).waitingFor !== undefined, 'no status');
    assert.deepEqual(await openOf(journeyId), ['RequestDiffers 1'], 'it waits for its decision all the same');
    const [first] = await workflowTasksOf(handle);
    if (!first) return assert.fail('no task');
    // The withdrawal is admitted again before the run makes an inquiry.
    const again = await resetTo(harness, handle, first);
    assert.equal((await again.result()).outcome, 'withdrawn');
    await untilOpen(journeyId, []);
  });

  test('that is terminated keeps its row until a new run without that hold begins', async () => {
    const { input, handle } = await heldByRunAlone();
    await handle.terminate();
    assert.deepEqual(await openOf(input.journeyId), ['RequestDiffers 1']);
    const again = await harness.start(input);
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    assert.deepEqual(await openOf(input.journeyId), []);
    await again.terminate();
  });
});

test('a reset opens the missing row of a held run, and the end of a run closes a row that no run waits for', async (t) => {
  const { input, handle, status } = await heldByRunAlone();
  const { journeyId } = input;
  const database = new DatabaseSync(harness.config.ledger.url.slice('file:'.length), { timeout: 10_000 });
  t.after(() => database.close());
  database.prepare('UPDATE operator_tasks SET closed_at = 1, closed_how = ? WHERE run_key = ?').run('ended', journeyId);
  await untilOpen(journeyId, []);
  const tasks = await workflowTasksOf(handle);
  const again = await resetTo(harness, handle, tasks.at(-1) ?? assert.fail());
  await untilOpen(journeyId, ['RequestDiffers 1']);

  const number = status.holds[0]?.customerTraceNumber ?? '';
  database
    .prepare(
      `INSERT INTO operator_tasks (work_id, run_key, kind, reason, since, profile, product_code, customer_trace_number, attempt, held_since)
       VALUES ('w-1', ?, 'held', 'CredentialsRefused', 1, 'default', 'PREAPP', ?, 1, 1)`,
    )
    .run(journeyId, number.replace(/^../, 'XX'));
  await untilOpen(journeyId, ['CredentialsRefused 1', 'RequestDiffers 1']);
  const current = currentRun(harness, again);
  const last = await resetTo(harness, current, (await workflowTasksOf(current)).at(-1) ?? assert.fail());
  await untilStatus(last, ({ state }) => state === 'held');
  await last.cancel();
  await assert.rejects(last.result());
  assert.deepEqual(await openOf(journeyId), []);
});

describe('a row that the ledger refuses', () => {
  const refuse = (kind: string) => `CREATE TRIGGER refused BEFORE INSERT ON operator_tasks WHEN NEW.kind = '${kind}'
    BEGIN SELECT RAISE(ABORT, 'on purpose'); END`;

  function refuseRows(t: TestContext, kind: string): () => void {
    const database = new DatabaseSync(harness.config.ledger.url.slice('file:'.length), { timeout: 10_000 });
    t.after(() => database.close());
    database.exec(refuse(kind));
    return () => database.exec('DROP TRIGGER refused');
  }

  test('for a flag delays the end of its run until the ledger accepts the row', async (t) => {
    const input = journeyInput({
      stages: ['PREQUAL', 'PRECLOSE'],
      applicants: [applicant('1A', newSsn('0020'))],
      gates: { PRECLOSE: { pass: 'auto' } },
      attentionAbove: { newAccounts: 0 },
    });
    const take = refuseRows(t, 'flagged');
    const handle = await harness.start(input);
    await untilStatus(handle, ({ stages }) => stages[1]?.attention === 'reportChanged');
    await untilPending(handle, 'flagRun');
    assert.deepEqual(await openOf(input.journeyId), []);
    take();
    assert.equal((await handle.result()).outcome, 'completed');
    assert.deepEqual(await openOf(input.journeyId), ['reportChanged']);
  });

  test('for a hold delays the recording of its decision, and the end of a cancelled run', async (t) => {
    const take = refuseRows(t, 'held');
    const input = { ...oneStage(), stages: ['PREQUAL', 'PREAPP'] as ('PREQUAL' | 'PREAPP')[] };
    const first = await harness.start(input);
    await untilStatus(first, ({ state }) => state === 'waitingAtGate');
    await first.terminate();
    const handle = await harness.start({ ...input, applicants: [applicant('1A')] });
    const status = await untilStatus(handle, ({ state }) => state === 'held');
    const decided = await update(handle, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    assert.equal((decided as { recorded?: boolean }).recorded, false);
    await handle.cancel();
    await untilPending(handle, 'openHold');
    take();
    await handle.result().catch(() => undefined);
    assert.deepEqual(await openOf(input.journeyId), []);
  });
});

async function untilPending(handle: JourneyHandle, activity: string): Promise<void> {
  await until(async () => {
    const { pendingActivities } = (await handle.describe()).raw;
    return pendingActivities?.some(({ activityType }) => activityType?.name === activity) === true;
  }, `${activity} is not pending`);
}
