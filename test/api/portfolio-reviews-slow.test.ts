import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { startTestApi, type TestApi, token } from './fixtures.ts';
import { until } from './until.ts';

const portfolioDirectory = mkdtempSync(join(tmpdir(), 'credit-journey-reviews-'));
let harness: Harness;
let api: TestApi;

before(async () => {
  harness = await startHarness({ env: { PORTFOLIO_DIR: portfolioDirectory } });
  api = await startTestApi(harness, { portfolioDirectory });
  await writePortfolio(portfolioDirectory, 'three.csv', csvText(3));
  await writePortfolio(
    portfolioDirectory,
    'held.csv',
    csvText(2, (index) => (index === 0 ? '4002' : '0001')),
  );
});
after(async () => {
  await api?.close();
  await harness?.close();
  rmSync(portfolioDirectory, { recursive: true, force: true });
});

function reviewInput(file: string) {
  return { reviewId: `R-${randomUUID().slice(0, 8)}`, endUserCode: 'EU123', permissiblePurposeCode: '01', file };
}

function untilState(reviewId: string, states: readonly string[]): Promise<{ state: string }> {
  return until(async () => {
    const { json } = await api.call(`/v1/portfolio-reviews/${reviewId}`);
    return states.includes(json.state) ? json : undefined;
  });
}

describe('portfolio reviews over HTTP', () => {
  test('one is started by a file’s name, and its results are a download; a path is none', async () => {
    for (const file of ['folder/three.csv', '../three.csv', '/etc/passwd', '..', 'three.csv/', '.hidden']) {
      const { status, json } = await api.call('/v1/portfolio-reviews', { body: reviewInput(file) });
      assert.equal(status, 422, file);
      assert.equal(json.problems[0].path, '/file');
    }
    const input = reviewInput('three.csv');
    const started = await api.call('/v1/portfolio-reviews', { body: input });
    assert.deepEqual(
      [started.status, started.json],
      [201, { reviewId: input.reviewId, duplicate: false }],
      started.text,
    );
    assert.equal((await api.call('/v1/portfolio-reviews', { body: input })).json.duplicate, true);
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    const early = await api.call(`${path}/results`);
    assert.ok([200, 409].includes(early.status), early.text);
    await untilState(input.reviewId, ['completed']);
    assert.equal((await api.call(`${path}/result`)).json.record, 3);
    const results = await api.call(`${path}/results`);
    assert.deepEqual([results.status, results.headers.get('content-type')], [200, 'application/x-ndjson']);
    const lines = results.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ accountId, outcome }) => [accountId, outcome]).toSorted(), [
      ['ACC-0', 'record'],
      ['ACC-1', 'record'],
      ['ACC-2', 'record'],
    ]);
    assert.equal((await api.call(`${path}/bad-rows`)).status, 404);
    const report = await api.call(`${path}/accounts/ACC-1/reports/ACCTRVW`);
    assert.deepEqual([report.status, report.json.redacted], [200, true], report.text);
    assert.equal((await api.call(`${path}/accounts/ACC-1/references`)).json.references.length, 1);
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    for (const end of ['', '/result', '/results', '/bad-rows', '/accounts/ACC-1/references']) {
      assert.equal((await api.call(`${path}${end}`, { token: elsewhere })).status, 404, end);
    }
    assert.deepEqual(api.unexpected, []);
  });

  test('a row on hold is decided by the review’s address, and a review is paused and goes on', async () => {
    const input = reviewInput('held.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    await untilState(input.reviewId, ['held']);
    for (const [step, state] of [
      ['pause', 'paused'],
      ['resume', 'held'],
    ] as const) {
      const told = await api.call(`${path}/${step}`, { body: { reason: 'a test' } });
      assert.deepEqual([told.status, told.json.accepted], [200, true], told.text);
      await untilState(input.reviewId, [state]);
    }
    const { json } = await api.call(`/v1/holds?ownerId=portfolio:${input.reviewId}`);
    const [{ ownerId, decideAt, customerTraceNumber, attempt }] = json.holds;
    assert.deepEqual([ownerId, decideAt], [`portfolio:${input.reviewId}/ACC-0`, `${path}/decisions`]);
    const decision = { decisionId: 'D-1', customerTraceNumber, attempt, action: 'abandon', providerSaid: 'posted' };
    const named = { inquiries: [{ ownerId, customerTraceNumber, attempt }] };
    const { customerTraceNumber: _, attempt: __, ...same } = decision;
    const preview = await api.call('/v1/decisions/preview', { body: { ...same, reason: 'by phone', ...named } });
    assert.equal(preview.json.decidable, 1, preview.text);
    const decided = await api.call(decideAt, { body: { ...decision, reason: 'by phone' } });
    assert.deepEqual([decided.status, decided.json.recorded], [200, true], decided.text);
    await untilState(input.reviewId, ['completed']);
    assert.equal((await api.call(`${path}/result`)).json.abandoned, 1);
  });
});
