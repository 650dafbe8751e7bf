/** Portfolio reviews, end to end: client, worker, gateway and ledger for real; one worker for all. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CreditJourneys, type PortfolioReviewInput } from '../../src/client.ts';
import type { RowResult } from '../../src/model/portfolio-shapes.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';

let harness: Harness;
let journeys: CreditJourneys;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  harness = await startHarness({ env: { PORTFOLIO_DIR: directory } });
  const { config } = harness;
  journeys = await CreditJourneys.connect({
    address: config.temporal.address,
    namespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    queryTimeoutMs: 30_000,
  });
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

async function resultsIn(file: string): Promise<RowResult[]> {
  const text = await readFile(join(directory, file), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RowResult);
}

describe('a portfolio review', () => {
  test('asks once for each row, and writes what came of it', async () => {
    const file = await writePortfolio(
      directory,
      'twenty.csv',
      csvText(20, (index) => (index === 3 ? '0404' : '0001')),
    );
    const review = await journeys.reviewPortfolio(reviewOf(file, { window: 5 }));
    const result = await review.result();
    assert.equal(result.outcome, 'completed');
    assert.equal(result.record, 19);
    assert.equal(result.noRecord, 1);
    const rows = await resultsIn(result.resultFile);
    assert.deepEqual(
      rows.map(({ accountId }) => accountId).sort(),
      Array.from({ length: 20 }, (_, i) => `ACC-${i}`).sort(),
    );
    assert.equal(rows.find(({ line }) => line === 5)?.outcome, 'noRecord');
    assert.equal(new Set(rows.map(({ customerTraceNumber }) => customerTraceNumber)).size, 20);
    assert.equal((await stat(join(directory, result.resultFile))).mode & 0o777, 0o600);
  });
});
