/** Portfolio reviews, end to end, with a real client, worker, gateway and ledger; one worker for all tests. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ScheduleHandle } from '@temporalio/client';
import { hasCode } from '../../src/client/connection/errors.ts';
import {
  type CreditJourneys,
  InvalidInputError,
  type PortfolioHandle,
  type PortfolioReviewInput,
  type PortfolioStatus,
} from '../../src/client.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { RowResult } from '../../src/messages/portfolio/shapes.ts';
import { toRowRunKey } from '../../src/model/run-key.ts';
import { activityCommands, withLedger } from '../hazards/operator-hands.ts';
import { outgrow } from '../support/floods.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, type Harness, startHarness, WAIT_LIMIT_MS } from '../support/journey-harness.ts';
import { csvText, FOLDER, writePortfolio } from '../support/portfolio-files.ts';
import { waitingRows } from '../support/timeline-rows.ts';

let harness: Harness;
let journeys: CreditJourneys;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  harness = await startHarness({ env: { PORTFOLIO_DIR: directory } });
  journeys = await connectTo(harness);
});

after(async () => {
  await journeys?.close();
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

function reviewOf(file: string, overrides: Partial<PortfolioReviewInput> = {}): PortfolioReviewInput {
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  return { reviewId, endUserCode: 'EU123', permissiblePurposeCode: '01', file, ...overrides };
}

function inquiriesOf(harness: Harness, reviewId: string, rows: number) {
  return withLedger(harness, async (ledger) => {
    const owners = Array.from({ length: rows }, (_, index) => toRowRunKey(reviewId, `ACC-${index}`));
    return (await Promise.all(owners.map((owner) => ledger.inquiriesOf(owner)))).flat();
  });
}

async function resultsIn(file: string): Promise<RowResult[]> {
  const text = await readFile(join(directory, file), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RowResult);
}

test('a review that cannot reach its files is listed as waiting until it can', async () => {
  const file = new URL('../histories/portfolioReview-filesAway.json', import.meta.url);
  const { events } = JSON.parse(await readFile(file, 'utf8')) as {
    events: { upsertWorkflowSearchAttributesEventAttributes?: { searchAttributes: { indexedFields: Fields } } }[];
  };
  type Fields = Record<string, { data?: string } | undefined>;
  const told = events.flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => {
    const attention = upsert?.searchAttributes.indexedFields.NeedsAttention;
    return attention ? [Buffer.from(attention.data ?? '', 'base64').toString()] : [];
  });
  assert.deepEqual(told.slice(0, 1), ['"PortfolioUnavailable"']);
  assert.ok(told.length === 2 && !told[1]?.includes('Portfolio'), String(told));
});

describe('a portfolio review', () => {
  test('makes one inquiry for each row, and writes the outcomes', async () => {
    const file = await writePortfolio(
      directory,
      'twenty.csv',
      csvText(20, (index) => (index === 3 ? '0404' : '0001')),
    );
    const review = await journeys.start(reviewOf(file, { window: 5 }));
    const result = await review.result();
    assert.equal(result.outcome, 'completed');
    assert.equal(result.record, 19);
    assert.equal(result.noRecord, 1);
    const rows = await resultsIn(result.resultFile);
    assert.deepEqual(
      rows.map(({ accountId }) => accountId).sort(),
      Array.from({ length: 20 }, (_, i) => `ACC-${i}`).sort(),
    );
    const without = rows.find(({ line }) => line === 5);
    assert.equal(without?.outcome, 'noRecord');
    assert.equal(without?.returnCode, 'No Record');
    assert.deepEqual(without?.applicantOutcomes, [{ applicantId: '1A', outcome: 'noRecord' }]);
    assert.match(without?.noRecordReference ?? '', /./);
    assert.equal(rows.find(({ line }) => line === 6)?.returnCode, 'Record');
    assert.equal(new Set(rows.map(({ customerTraceNumber }) => customerTraceNumber)).size, 20);
    assert.equal((await stat(join(directory, result.resultFile))).mode & 0o777, 0o600);
  });

  const untilState = async (review: PortfolioHandle, isWanted: (status: PortfolioStatus) => boolean) => {
    const signal = AbortSignal.timeout(WAIT_LIMIT_MS);
    for await (const status of review.watch({ signal })) if (isWanted(status)) return status;
    throw new Error('waited in vain');
  };
  const word = { by: 'ops', reason: 'asked for' };
  const decisionOf = ({ customerTraceNumber, attempts: attempt }: PortfolioStatus['holds'][number]) =>
    ({ decisionId: 'D1', customerTraceNumber, attempt, providerSaid: 'notPosted', ...word }) as const;

  test('continues beside its holds, and accepts a decision about each', async () => {
    const lost = (index: number) => (index < 3 ? '4001' : '0001');
    const file = await writePortfolio(directory, 'held.csv', csvText(8, lost));
    const review = await journeys.start(reviewOf(file, { window: 2 }));
    const { holds, progress, waitingFor } = await untilState(review, ({ state }) => state === 'held');
    assert.equal(progress.done, 5);
    assert.equal(progress.held, 3);
    assert.equal(waitingFor, 'decisions about 3 inquiries');
    const [first, second, third] = holds;
    assert.ok(first && second && third);
    const accounts = holds.map(({ accountId = '' }) => accountId);
    assert.equal(new Set(accounts).size, 3);
    const rows = await waitingRows(harness.client.workflow.getHandle(`portfolio-${review.reviewId}`));
    const row = (accountId: string) => `ON HOLD · OutcomeUnknown · ACCTRVW of account ${accountId} · see User Metadata`;
    assert.deepEqual(rows.sort(), accounts.map(row).sort());
    const resend = { ...decisionOf(first), action: 'resend' } as const;
    assert.equal((await review.resolveInquiry(resend)).duplicate, false);
    assert.equal((await review.resolveInquiry(resend)).duplicate, true);
    await assert.rejects(
      review.resolveInquiry({ ...resend, action: 'abandon' }),
      (error) => hasCode(error, 'updateRefused') && /other content: \/action differs$/.test(error.reason),
    );
    await review.resolveInquiry({ ...decisionOf(second), action: 'abandon' });
    const applicants = [applicant('1A')];
    const outcome = { outcome: 'noRecord' as const };
    await assert.rejects(review.resolveInquiry({ ...decisionOf(third), action: 'amend', applicants }), {
      code: 'updateRefused',
    });
    await review.resolveInquiry({ ...decisionOf(third), action: 'accept', ...outcome });
    const result = await review.result();
    assert.deepEqual([result.record, result.noRecord, result.abandoned], [6, 1, 1]);
    const byTrace = new Map((await resultsIn(result.resultFile)).map((row) => [row.customerTraceNumber, row.outcome]));
    assert.equal(byTrace.get(second.customerTraceNumber), 'abandoned');
    assert.equal(byTrace.size, 8);
  });

  for (const action of ['resend', 'abandon'] as const) {
    test(`holds each row that it had sent if it is started again for another customer: ${action}`, async () => {
      const lost = (index: number) => (index === 0 ? '4001' : '0001');
      const file = await writePortfolio(directory, `renumbered-${action}.csv`, csvText(12, lost));
      const input = reviewOf(file, { window: 3 });
      const first = await journeys.start(input);
      await untilState(first, ({ progress }) => progress.done >= 8);
      await harness.client.workflow.getHandle(`portfolio-${input.reviewId}`).terminate();
      const profiles = harness.config.profiles as Map<string, GatewayProfile>;
      const profile = profiles.get('default') ?? assert.fail();
      const claimed = async () =>
        (await inquiriesOf(harness, input.reviewId, 12)).filter(({ attempts }) => attempts.length > 0).length;
      profiles.set('default', { ...profile, customerId: 'CORRECTED' });
      const before = await claimed();
      assert.ok(before >= 9);
      try {
        const again = await journeys.start(input);
        const { holds } = await untilState(again, ({ state }) => state === 'held');
        assert.equal(holds.length, before);
        for (const hold of holds) {
          assert.deepEqual([hold.failureType, hold.allowedActions], ['AnotherNumber', ['resend', 'abandon']]);
        }
        assert.equal(await claimed(), 12, 'no row that was sent is sent again before a decision about it');
        for (const hold of holds) await again.resolveInquiry({ ...decisionOf(hold), action });
        if (action === 'resend') {
          const { holds: after } = await untilState(again, ({ holds: [one] }) => one?.failureType === 'OutcomeUnknown');
          await again.resolveInquiry({ ...decisionOf(after[0] ?? assert.fail()), decisionId: 'D2', action: 'abandon' });
        }
        const { record, abandoned } = await again.result();
        const untouched = 12 - before;
        assert.deepEqual([record, abandoned], action === 'resend' ? [11, 1] : [untouched, before]);
        assert.equal(await claimed(), action === 'resend' ? before + 12 : 12);
      } finally {
        profiles.set('default', profile);
      }
    });
  }

  test('sends nothing while it is paused, and continues at the same row', async () => {
    const file = await writePortfolio(directory, 'paused.csv', csvText(30));
    const review = await journeys.start(reviewOf(file, { window: 1 }));
    await untilState(review, ({ progress }) => progress.done > 0);
    assert.equal((await review.pause(word)).status.state, 'paused');
    assert.equal((await review.pause(word)).duplicate, true);
    const { done } = (await untilState(review, ({ progress }) => progress.underWay === 0)).progress;
    assert.ok(done < 30);
    const posted = await postedCount();
    await review.resume(word);
    assert.equal((await review.result()).record, 30);
    assert.equal((await postedCount()) - posted, 30 - done);
  });

  test('continues as new after very many messages, on hold and paused, and accepts decisions then', async () => {
    const file = await writePortfolio(
      directory,
      'outgrown.csv',
      csvText(4, (index) => (index === 0 ? '4001' : '0001')),
    );
    const input = reviewOf(file);
    const review = await journeys.start(input);
    await untilState(review, ({ state }) => state === 'held');
    const handle = harness.client.workflow.getHandle(`portfolio-${input.reviewId}`);
    await outgrow(handle);
    await review.pause(word);
    await outgrow(handle);
    const { holds } = await untilState(review, ({ state, holds: { length } }) => state === 'paused' && length === 1);
    await review.resume(word);
    await review.resolveInquiry({ ...decisionOf(holds[0] ?? assert.fail()), action: 'abandon' });
    const { record, abandoned } = await review.result();
    assert.deepEqual([record, abandoned], [3, 1]);
  });

  test('accepts a decision after a continue-as-new before it has read the held rows again', async () => {
    const lastFour = (index: number) => (index === 0 ? '4001' : '0001');
    const file = await writePortfolio(directory, 'away.csv', csvText(4, lastFour));
    const input = reviewOf(file);
    const review = await journeys.start(input);
    const before = await untilState(review, ({ state }) => state === 'held');
    // Without the file the next run cannot read the row.
    await rename(join(directory, FOLDER, file), join(directory, 'away.hidden'));
    const handle = harness.client.workflow.getHandle(`portfolio-${input.reviewId}`);
    await outgrow(handle);
    const { holds, attention } = await untilState(review, (status) => status.attention !== undefined);
    assert.equal(attention, 'PortfolioUnavailable');
    assert.deepEqual(holds, before.holds);
    const decision = { ...decisionOf(holds[0] ?? assert.fail()), action: 'abandon' as const };
    const answer = await review.resolveInquiry(decision);
    assert.equal(answer.accepted, true);
    assert.equal((await review.resolveInquiry(decision)).duplicate, true);
    await rename(join(directory, 'away.hidden'), join(directory, FOLDER, file));
    // Without the reset Temporal would retry the activity only in half a minute.
    const [{ activityId = '' } = {}] = (await handle.describe()).raw.pendingActivities ?? [];
    await activityCommands(harness, handle, activityId ?? '').reset();
    const { record, abandoned } = await review.result();
    assert.deepEqual([record, abandoned], [3, 1]);
  });

  test('ends early when it is withdrawn, with the outcomes of its rows so far', async () => {
    const file = await writePortfolio(directory, 'withdrawn.csv', csvText(40));
    const review = await journeys.start(reviewOf(file, { window: 1 }));
    await untilState(review, ({ progress }) => progress.done > 1);
    await review.withdraw(word);
    const result = await review.result();
    assert.equal(result.outcome, 'withdrawn');
    assert.equal(result.record + result.notReviewed, 40);
    assert.equal((await resultsIn(result.resultFile)).length, result.record);
  });

  test('waits for attempts in flight when it is cancelled, and writes their outcomes', async () => {
    const file = await writePortfolio(directory, 'cancelled.csv', csvText(40));
    const input = reviewOf(file, { window: 1 });
    const review = await journeys.start(input);
    await untilState(review, ({ progress }) => progress.done > 1);
    const before = await postedCount();
    await review.cancel();
    await assert.rejects(review.result(), { code: 'runFailed' });
    const rows = await resultsIn(`${FOLDER}/${file}.${input.reviewId}.results.jsonl`);
    assert.ok(rows.length >= 2 && rows.length < 40);
    // A second start makes inquiries only for the other rows, since the ledger has these.
    const again = await (await journeys.start(input)).result();
    assert.equal(again.record, 40);
    assert.ok((await postedCount()) - before <= 40 - rows.length + 1);
    assert.equal((await resultsIn(again.resultFile)).length, 40);
  });

  test('stops before it sends another row if the file has changed', async () => {
    const text = csvText(60);
    const file = await writePortfolio(directory, 'changed.csv', text);
    const input = reviewOf(file, { window: 1 });
    const review = await journeys.start(input);
    await untilState(review, ({ progress }) => progress.done > 0);
    await writePortfolio(directory, file, text.replaceAll('Casey', 'Robin'));
    const failed = await review.result().then(
      () => assert.fail('it went on'),
      (error: unknown) => error,
    );
    assert.ok(hasCode(failed, 'runFailed'));
    assert.equal(failed.reason, 'PortfolioChanged');
    const done = (await resultsIn(`${FOLDER}/${file}.${input.reviewId}.results.jsonl`)).length;
    assert.ok(done > 0 && done < 60);
    await writePortfolio(directory, file, text);
    assert.equal((await (await journeys.start(input)).result()).record, 60);
  });

  test('is started by a Temporal Schedule with an id of its own each time', async () => {
    const file = await writePortfolio(directory, 'scheduled.csv', csvText(2));
    const name = `S-${randomUUID().slice(0, 8)}`;
    const schedule = await harness.client.schedule.create({
      scheduleId: name,
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'portfolioReview',
        workflowId: `portfolio-${name}`,
        taskQueue: harness.config.taskQueue,
        args: [{ endUserCode: 'EU123', permissiblePurposeCode: '01', file }],
      },
    });
    try {
      await schedule.trigger();
      const reviewId = await lastReviewOf(schedule);
      assert.match(reviewId, new RegExp(`^${name}-\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$`));
      const result = await journeys.run(`portfolio:${reviewId}`).result();
      assert.deepEqual([result.reviewId, result.record], [reviewId, 2]);
      assert.equal((await resultsIn(result.resultFile)).length, 2);
      assert.equal((await inquiriesOf(harness, reviewId, 2)).length, 2);
    } finally {
      await schedule.delete();
    }
  });

  test('is refused with a file that it could not use, and with another input under its id', async () => {
    await writePortfolio(directory, 'wrong.csv', csvText(2).replace('ssn,', ''));
    const posted = await postedCount();
    for (const [overrides, rule] of [
      [{ file: 'wrong.csv' }, /^lacks the column ssn in its header$/],
      [{ file: 'twenty.csv', profile: 'unknown' }, /configured gateway profile/],
      // The review does not wait for a missing file, and finds none in the folder of another end user.
      [{ file: 'missing.csv' }, /^must name a file in the end user’s folder of PORTFOLIO_DIR$/],
      [{ file: 'twenty.csv', endUserCode: 'EU456' }, /^must name a file in the end user’s folder of PORTFOLIO_DIR$/],
    ] as const) {
      const review = await journeys.start(reviewOf('twenty.csv', overrides));
      await assert.rejects(review.result(), (error: unknown) => {
        assert.ok(error instanceof InvalidInputError);
        return rule.test(error.problems.map((problem) => problem.rule).join());
      });
    }
    await assert.rejects(journeys.start(reviewOf('../x.csv')), InvalidInputError);
    assert.equal(await postedCount(), posted);
    const input = reviewOf('twenty.csv');
    await journeys.start(input);
    await journeys.start(input);
    await assert.rejects(journeys.start({ ...input, window: 7 }), { code: 'differs' });
  });
});

async function lastReviewOf(schedule: ScheduleHandle): Promise<string> {
  for (;;) {
    const [last] = (await schedule.describe()).info.recentActions;
    if (last) return last.action.workflow.workflowId.replace('portfolio-', '');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function postedCount(): Promise<number> {
  return ((await (await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`)).json()) as unknown[]).length;
}
