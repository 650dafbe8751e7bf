/** A deploy in the middle of a portfolio review, with a stricter limit on applicants: no row is lost to it. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PortfolioHandle, PortfolioStatus } from '../../src/client.ts';
import type { Config } from '../../src/config/config.ts';
import { runWorker } from '../../src/worker.ts';
import { connectTo } from '../support/harness-client.ts';
import { startHarness, WAIT_LIMIT_MS } from '../support/journey-harness.ts';
import { jointLine, jsonlLine, writePortfolio } from '../support/portfolio-files.ts';

const ROWS = 12;
const JOINT = 8;

async function untilState(review: PortfolioHandle, isWanted: (status: PortfolioStatus) => boolean) {
  const signal = AbortSignal.timeout(WAIT_LIMIT_MS);
  for await (const status of review.watch({ signal })) if (isWanted(status)) return status;
  throw new Error('waited in vain');
}

/** The configuration after the deploy. */
function stricter(config: Config): Config {
  const profiles = [...config.profiles].map(
    ([name, profile]) => [name, { ...profile, limits: { ...profile.limits, maxApplicants: 1 } }] as const,
  );
  return { ...config, profiles: new Map(profiles) };
}

test('a row that a later worker’s limits refuse waits for a person, and each other row is asked for', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-stricter-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const harness = await startHarness({ env: { PORTFOLIO_DIR: directory } });
  t.after(() => harness.close());
  const { config } = harness;
  const journeys = await connectTo(harness);
  t.after(() => journeys.close());
  const lines = Array.from({ length: ROWS }, (_, index) => (index === JOINT ? jointLine(index) : jsonlLine(index)));
  const [file, word] = ['rows.jsonl', { by: 'ops', reason: 'a deploy' }];
  const input = { reviewId: 'R-stricter', endUserCode: 'EU123', permissiblePurposeCode: '01', file };
  await writePortfolio(directory, file, `${lines.join('\n')}\n`);
  await rename(directory, `${directory}-away`);
  const review = await journeys.reviewPortfolio(input);
  // It waits for its directory, so that it is paused before it reads a row.
  await review.pause(word);
  await rename(`${directory}-away`, directory);
  const { progress } = await untilState(review, ({ progress }) => progress.rows > 0);
  assert.deepEqual([progress.rows, progress.done, progress.underWay], [ROWS, 0, 0]);
  await harness.stopWorker();

  const [stop, ready] = [new AbortController(), Promise.withResolvers<void>()];
  const done = runWorker(stricter(config), { signal: stop.signal, onReady: ready.resolve });
  done.catch(ready.reject);
  t.after(async () => {
    stop.abort();
    await done;
  });
  await ready.promise;
  await review.resume(word);
  const { holds } = await untilState(review, ({ progress }) => progress.done === ROWS - 1 && progress.held === 1);
  const [hold] = holds;
  assert.equal(hold?.failureType, 'InvalidInput');
  const { customerTraceNumber, attempts: attempt } = hold;
  const decision = { ...word, decisionId: 'D1', providerSaid: 'notAsked', action: 'abandon' } as const;
  await review.resolve({ ...decision, customerTraceNumber, attempt });
  const result = await review.result();
  assert.deepEqual([result.outcome, result.rows, result.record, result.abandoned], ['completed', ROWS, ROWS - 1, 1]);
});
