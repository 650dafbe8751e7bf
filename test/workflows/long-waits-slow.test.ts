/** Waits of days, on the server that skips time: for the whole environment at once, so one test after another. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyResult } from '../../src/messages/journey/shapes.ts';
import type { PortfolioResult, PortfolioStatus } from '../../src/messages/portfolio/shapes.ts';
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
} from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { startTimeSkippingEnvironment } from '../support/temporal.ts';
import { waitingRows } from '../support/timeline-rows.ts';

let environment: TestWorkflowEnvironment;
let harness: Harness;
let portfolios: string;
before(async () => {
  portfolios = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  environment = await startTimeSkippingEnvironment();
  harness = await startHarness({
    server: { address: environment.address, namespace: environment.namespace ?? 'default', skipsTime: true },
    // Polling once a minute for all those days would take all of the server's time.
    env: { PORTFOLIO_DIR: portfolios, LEDGER_WATCH_EVERY_MS: '86400000' },
  });
});
after(async () => {
  await harness?.close();
  await environment?.teardown();
  await rm(portfolios, { recursive: true, force: true });
});

const DAY_MS = 86_400_000;

/** Awaits the result through the environment's own client, which lets time skip. */
function resultOf(handle: JourneyHandle): Promise<JourneyResult> {
  return environment.client.workflow.getHandle(handle.workflowId).result() as Promise<JourneyResult>;
}

async function untilStages(handle: JourneyHandle, settled: number): Promise<void> {
  await untilStatus(handle, ({ stages }) => stages.filter(({ state }) => state === 'record').length >= settled);
}

const oneStage = (overrides: Partial<LendingJourneyInput> = {}) => journeyInput({ stages: ['PREQUAL'], ...overrides });

test('a gate that is never passed expires, and the journey with it', async () => {
  const handle = await harness.start(
    journeyInput({ gates: { PREAPP: { expiresAfter: 'P10D' } }, stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }),
  );
  const startedAtMs = await environment.currentTimeMs();
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'expired');
  assert.deepEqual(
    result.stages.map(({ state }) => state),
    ['record', 'expired', 'skipped'],
  );
  assert.ok(result.stages[0]?.reference);
  assert.ok((await environment.currentTimeMs()) - startedAtMs >= 10 * DAY_MS);
  assert.equal((await harness.posted(handle)).length, 1);
});

test('a consent that never comes expires the share after 30 days, and nothing is posted', async () => {
  const handle = await harness.start(oneStage({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] }));
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.shares[0]?.state, 'expired');
  assert.equal((await harness.posted(handle)).length, 1);
});

test('a share is posted if its consent comes after 29 days', async () => {
  const input = oneStage({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const handle = await harness.start(input);
  await untilStages(handle, 1);
  await environment.sleep(29 * DAY_MS);
  const decidedAt = new Date(await environment.currentTimeMs()).toISOString();
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A', decidedAt }));
  const result = await resultOf(handle);
  assert.equal(result.shares[0]?.state, 'posted');
  assert.equal((await harness.posted(handle)).length, 2);
});

test('an inquiry is held if the gateway is unreachable for longer than giveUpAfter, and a resend completes it', async () => {
  const input = oneStage({ applicants: [applicant('1A', newSsn('0001'))] });
  await harness.addFaults([{ target: 'token', fault: 'unavailable', times: 1_000_000 }]);
  await fetch(`${harness.sandboxUrl}/_sandbox/tokens/revoke`, { method: 'POST' });
  const handle = await harness.start(input);
  const skipping = environment.sleep(2 * DAY_MS);
  const {
    holds: [hold],
  } = await untilStatus(handle, ({ holds }) => holds.length > 0);
  await skipping;
  assert.equal(hold?.failureType, 'TokenUnavailable');
  // The timer that shows the hold as a row in the UI decides nothing.
  await environment.sleep(400 * DAY_MS);
  assert.deepEqual((await statusOf(handle)).holds, [hold]);
  assert.deepEqual(await waitingRows(handle), ['ON HOLD · TokenUnavailable · PREQUAL · see User Metadata']);
  assert.equal((await harness.posted(handle)).length, 0);
  await fetch(`${harness.sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [] }),
  });
  await handle.executeUpdate('resolveInquiry', {
    args: [
      {
        journeyId: input.journeyId,
        decisionId: 'D1',
        customerTraceNumber: hold?.customerTraceNumber,
        attempt: hold?.attempts,
        action: 'resend',
        by: 'operator',
        reason: 'the token service is back',
        providerSaid: 'notAsked',
      },
    ],
  });
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.equal((await harness.posted(handle)).length, 1);
});

test('a journey that stays open for shares accepts a share in that time, and then ends', async () => {
  const input = oneStage({ sharesOpenFor: 'P20D' });
  const handle = await harness.start(input);
  await untilStages(handle, 1);
  await environment.sleep(10 * DAY_MS);
  const decidedAt = new Date(await environment.currentTimeMs()).toISOString();
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A', decidedAt }));
  await handle.executeUpdate('requestShare', {
    args: [{ journeyId: input.journeyId, share: { shareId: 'S1', endUserCode: 'EU999' } }],
  });
  const result = await resultOf(handle);
  assert.equal(result.shares[0]?.state, 'posted');
  assert.equal((await harness.posted(handle)).length, 2);
});

/** Polls the review, since time skips while nothing runs and the review's activities are real. */
async function untilReview(
  handle: JourneyHandle,
  isWanted: (status: PortfolioStatus) => boolean,
): Promise<PortfolioStatus> {
  let status: PortfolioStatus | undefined;
  for (let tries = 0; tries < 100; tries++) {
    await environment.sleep(10_000);
    status = await handle.query<PortfolioStatus>('status');
    if (isWanted(status)) return status;
  }
  throw new Error(`waited in vain; status is ${JSON.stringify(status)}`);
}

test('a review whose files are missing says what it waits for, and continues when they are back', async () => {
  const [reviewId, file] = ['R-LATE', 'late.csv'];
  await rename(portfolios, `${portfolios}-away`);
  const handle = (await harness.client.workflow.start('portfolioReview', {
    workflowId: `portfolio-${reviewId}`,
    taskQueue: harness.config.taskQueue,
    args: [{ reviewId, endUserCode: 'EU123', permissiblePurposeCode: '01', file }],
  })) as unknown as JourneyHandle;
  const away = await untilReview(handle, ({ attention }) => attention !== undefined);
  assert.equal(away.state, 'examining');
  assert.equal(away.waitingFor, 'the portfolio’s files: ENOENT');
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(currentDetails, /cannot be reached: ENOENT[\s\S]*docs\/runbook\/portfolio-unavailable\.md/);
  assert.ok(!currentDetails.includes(portfolios));

  const lastFourOf = (index: number) => (index === 1 ? '4002' : '0001');
  await writePortfolio(`${portfolios}-away`, file, csvText(3, lastFourOf));
  await rename(`${portfolios}-away`, portfolios);
  const { attention, waitingFor, holds } = await untilReview(handle, ({ state }) => state === 'held');
  assert.equal(attention, undefined);
  assert.equal(waitingFor, 'a decision about 1 inquiry');

  await rename(portfolios, `${portfolios}-away`);
  const { customerTraceNumber, attempts: attempt } = holds[0] ?? assert.fail('no hold');
  const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'abandon', providerSaid: 'notPosted' };
  await handle.executeUpdate('resolveInquiry', { args: [{ reviewId, ...decision, by: 'ops', reason: 'asked' }] });
  await untilReview(handle, (status) => status.attention === 'PortfolioUnavailable');
  await rename(`${portfolios}-away`, portfolios);
  const result = (await resultOf(handle)) as unknown as PortfolioResult;
  assert.deepEqual([result.record, result.abandoned], [2, 1]);
  assert.equal((await readFile(join(portfolios, result.resultFile), 'utf8')).trimEnd().split('\n').length, 3);
});
