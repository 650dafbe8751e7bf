/** What an operator does to a run that waits, and what the ledger's list says then: it has what needs a person, and no more. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
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
import { startTimeSkippingEnvironment } from '../support/temporal.ts';
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
  const { rows } = await ledger.work.open({ runKey, limit: 10 });
  return rows.map(({ reason, attempt }) => `${reason} ${attempt ?? ''}`.trim());
}

/** The run tells the ledger in the background. */
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

describe('a run that waits', { concurrency: 4 }, () => {
  test('reset into a hold that was decided since is on the list again, until it is decided again', async () => {
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

  test('of whose hold only itself knows: the same', async () => {
    const { input, handle, status } = await heldByRunAlone();
    await update(handle, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    await handle.result();
    assert.deepEqual(await openOf(input.journeyId), []);
    const again = await resetTo(harness, handle, await taskOfMessage(handle, 'resolveInquiry'), {
      forgetMessages: true,
    });
    await untilStatus(again, ({ state }) => state === 'held');
    await untilOpen(input.journeyId, ['RequestDiffers 1']);
    await again.cancel();
    await assert.rejects(again.result());
    await untilOpen(input.journeyId, []);
  });

  test('reset to before its hold, which then never comes, is off the list', async () => {
    const { input, handle } = await heldByRunAlone();
    const { journeyId } = input;
    await handle.signal('requestWithdrawal', { journeyId, by: 'ops', reason: 'the customer has left' });
    await until(async () => (await statusOf(handle)).waitingFor !== undefined, 'no status');
    assert.deepEqual(await openOf(journeyId), ['RequestDiffers 1'], 'it waits for its decision all the same');
    const [first] = await workflowTasksOf(handle);
    if (!first) return assert.fail('no task');
    // The withdrawal is admitted again, before anything is asked.
    const again = await resetTo(harness, handle, first);
    assert.equal((await again.result()).outcome, 'withdrawn');
    await untilOpen(journeyId, []);
  });

  test('terminated and started again without that hold: the row stands until the new run begins', async () => {
    const { input, handle } = await heldByRunAlone();
    await handle.terminate();
    assert.deepEqual(await openOf(input.journeyId), ['RequestDiffers 1']);
    const again = await harness.start(input);
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    assert.deepEqual(await openOf(input.journeyId), []);
    await again.terminate();
  });
});

test('a row that is missing, and one that no run waits for, are mended by a reset of the run', async (t) => {
  const { input, handle, status } = await heldByRunAlone();
  const { journeyId } = input;
  const database = new DatabaseSync(harness.config.ledger.url.slice('file:'.length), { timeout: 10_000 });
  t.after(() => database.close());
  database
    .prepare('UPDATE work_for_people SET closed_at = 1, closed_how = ? WHERE run_key = ?')
    .run('ended', journeyId);
  await untilOpen(journeyId, []);
  const tasks = await workflowTasksOf(handle);
  const again = await resetTo(harness, handle, tasks.at(-1) ?? assert.fail());
  await untilOpen(journeyId, ['RequestDiffers 1']);

  const number = status.holds[0]?.customerTraceNumber ?? '';
  database
    .prepare(
      `INSERT INTO work_for_people (work_id, run_key, kind, reason, since, profile, product_code, customer_trace_number, attempt, noted_at)
       VALUES ('w-1', ?, 'held', 'CredentialsRefused', 1, 'default', 'PREAPP', ?, 1, 1)`,
    )
    .run(journeyId, number.replace(/^../, 'XX'));
  await untilOpen(journeyId, ['CredentialsRefused 1', 'RequestDiffers 1']);
  const current = currentRun(harness, again);
  await resetTo(harness, current, (await workflowTasksOf(current)).at(-1) ?? assert.fail());
  await untilOpen(journeyId, ['RequestDiffers 1']);
});

describe('a note that the ledger does not take', () => {
  let environment: TestWorkflowEnvironment;
  let skipping: Harness;
  before(async () => {
    environment = await startTimeSkippingEnvironment();
    skipping = await startHarness({
      server: { address: environment.address, namespace: environment.namespace ?? 'default', skipsTime: true },
      env: { LEDGER_WATCH_EVERY_MS: '86400000' },
    });
  });
  after(async () => {
    await skipping?.close();
    await environment?.teardown();
  });

  test('holds up the end of its run for no more than an hour, and is not lost', async (t) => {
    const database = new DatabaseSync(skipping.config.ledger.url.slice('file:'.length), { timeout: 10_000 });
    t.after(() => database.close());
    database.exec(`CREATE TRIGGER refused BEFORE INSERT ON work_for_people WHEN NEW.kind = 'flagged'
      BEGIN SELECT RAISE(ABORT, 'on purpose'); END`);
    const input = journeyInput({
      stages: ['PREQUAL', 'PRECLOSE'],
      applicants: [applicant('1A', newSsn('0020'))],
      gates: { PRECLOSE: { pass: 'auto' } },
      attentionAbove: { newAccounts: 0 },
    });
    const startedAt = await environment.currentTimeMs();
    const handle = await skipping.start(input);
    const { client } = environment;
    const result = await (client.workflow.getHandle(handle.workflowId) as JourneyHandle).result();
    assert.deepEqual([result.outcome, result.stages[1]?.attention], ['completed', 'reportChanged']);
    const tookMs = (await environment.currentTimeMs()) - startedAt;
    assert.ok(tookMs > 50 * 60_000 && tookMs < 2 * 3_600_000, `${tookMs} ms`);
    const own = await openLedgerOf(skipping);
    t.after(() => own.close());
    assert.deepEqual((await own.work.open({ limit: 10 })).rows, []);
    const { runId } = (await handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
    const telling = client.workflow.getHandle(`work-${handle.workflowId}-${runId}`) as WorkflowHandle;
    assert.equal((await telling.describe()).status.name, 'RUNNING');
    database.exec('DROP TRIGGER refused');
    await telling.result();
    const { rows } = await own.work.open({ limit: 10 });
    assert.deepEqual(
      rows.map(({ runKey, reason }) => [runKey, reason]),
      [[input.journeyId, 'reportChanged']],
    );
  });
});
