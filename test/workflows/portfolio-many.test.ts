/** A portfolio of 2,000 rows: more than one run's history takes. A worker of its own, with a wide window. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { CreditJourneys } from '../../src/client.ts';
import type { RowResult } from '../../src/model/portfolio-shapes.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';

// The SDK notes a stack with each promise of a workflow: half of what it costs to play so many rows.
setFlagsFromString('--stack-trace-limit=1');

const ROWS = 2_000;
/** Two rows whose answers are lost: what they wait for, the next run has to know. */
const LOST = [5, 6];

let harness: Harness;
let journeys: CreditJourneys;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  harness = await startHarness({ env: { PORTFOLIO_DIR: directory, GATEWAY_CONNECTIONS: '32' } });
  const { temporal, taskQueue } = harness.config;
  const { address, namespace } = temporal;
  journeys = await CreditJourneys.connect({ address, namespace, taskQueue, queryTimeoutMs: 30_000 });
});

after(async () => {
  await journeys?.close();
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

describe('a portfolio of 2,000 rows', () => {
  test('goes on from run to run, with what is on hold, and asks once for each row', async () => {
    const lastFourOf = (index: number) => (LOST.includes(index) ? '4002' : '0001');
    const file = await writePortfolio(directory, 'many.csv', csvText(ROWS, lastFourOf));
    const order = { endUserCode: 'EU123', permissiblePurposeCode: '01', file, window: 100 };
    const review = await journeys.reviewPortfolio({ reviewId: 'R-MANY', ...order });
    // Seldom: each question is a workflow task beside those of the rows.
    while ((await review.status()).state !== 'held') await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal((await review.status()).holds.length, LOST.length);
    for (const { customerTraceNumber, attempts: attempt } of (await review.status()).holds) {
      const decision = { decisionId: 'D1', customerTraceNumber, attempt, by: 'ops', reason: 'asked' } as const;
      await review.resolve({ ...decision, action: 'abandon', providerSaid: 'notPosted' });
    }
    const result = await review.result();
    assert.equal(result.record, ROWS - LOST.length);
    assert.equal(result.abandoned, LOST.length);
    const text = await readFile(join(directory, result.resultFile), 'utf8');
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RowResult);
    assert.equal(rows.length, ROWS);
    assert.equal(new Set(rows.map(({ accountId }) => accountId)).size, ROWS);
    const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
    const posted = ((await answer.json()) as { customerTraceNumber: string }[]).map((one) => one.customerTraceNumber);
    assert.equal(new Set(posted).size, posted.length);
    let runs = 0;
    const query = `WorkflowId = '${review.workflowId}'`;
    for await (const run of harness.client.workflow.list({ query })) {
      runs++;
      assert.ok(run.historyLength < 6_000);
    }
    assert.ok(runs > 1);
  });
});
