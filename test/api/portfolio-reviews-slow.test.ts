import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { toPortfolioFolder } from '../../src/messages/portfolio/output-files.ts';
import { withLedger } from '../hazards/operator-hands.ts';
import { csvText, FOLDER, writePortfolio } from '../support/portfolio-files.ts';
import { type Json, startTestApi, token, untilState, useApi } from './fixtures.ts';

const portfolioDirectory = mkdtempSync(join(tmpdir(), 'credit-journey-reviews-'));
const { harness, api } = useApi(
  { portfolioDirectory },
  { env: { PORTFOLIO_DIR: portfolioDirectory }, begin: writeFiles },
);

async function writeFiles(): Promise<void> {
  await writePortfolio(portfolioDirectory, 'three.csv', csvText(3));
  const oneHeld = csvText(2, (index) => (index === 0 ? '4002' : '0001'));
  await writePortfolio(portfolioDirectory, 'held.csv', oneHeld);
}
after(() => rmSync(portfolioDirectory, { recursive: true, force: true }));

function reviewInput(file: string) {
  return { reviewId: `R-${randomUUID().slice(0, 8)}`, endUserCode: 'EU123', permissiblePurposeCode: '01', file };
}

function untilReview(reviewId: string, ...states: string[]): Promise<Json> {
  return untilState(api, `/v1/portfolio-reviews/${reviewId}`, ...states);
}

describe('portfolio reviews over HTTP', () => {
  test('a review starts from a file name, refuses a path, and offers its results as a download', async () => {
    for (const file of ['folder/three.csv', '../three.csv', '/etc/passwd', '..', 'three.csv/', '.hidden']) {
      const { status, json } = await api.call('/v1/portfolio-reviews', { body: reviewInput(file) });
      assert.equal(status, 422, file);
      assert.equal(json.problems[0].path, '/file');
    }
    const input = reviewInput('three.csv');
    const started = await api.call('/v1/portfolio-reviews', { body: input });
    assert.deepEqual(
      [started.status, started.json.reviewId, started.json.isNew],
      [201, input.reviewId, true],
      started.text,
    );
    assert.equal((await api.call('/v1/portfolio-reviews', { body: input })).json.isNew, false);
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    const early = await api.call(`${path}/results`);
    assert.ok([200, 409].includes(early.status), early.text);
    await untilReview(input.reviewId, 'completed');
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
    await api.expect(404, `${path}/bad-rows`);
    const rowPath = `/v1/runs/portfolio:${input.reviewId}%2FACC-1`;
    const report = await api.call(`${rowPath}/reports/ACCTRVW`);
    assert.deepEqual([report.status, report.json.redacted], [200, true], report.text);
    assert.equal((await api.call(`${rowPath}/references`)).json.references.length, 1);
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    for (const address of [path, `${path}/result`, `${path}/results`, `${path}/bad-rows`, `${rowPath}/references`]) {
      await api.expect(404, address, { token: elsewhere });
    }
    assert.deepEqual(api.unexpected, []);
  });

  test('a review of a missing file or of another end user’s file is refused with the same answer', async () => {
    await writePortfolio(portfolioDirectory, 'theirs.csv', csvText(1), toPortfolioFolder({ endUserCode: 'EU456' }));
    const bearer = await token({ profiles: ['default'], endUsers: ['EU123'] });
    const start = async (change: object) => {
      const answer = await api.call('/v1/portfolio-reviews', {
        token: bearer,
        body: { ...reviewInput('theirs.csv'), ...change },
        headers: { 'x-request-id': 'R-1' },
      });
      return [answer.status, answer.text];
    };
    const missing = await start({ file: 'missing.csv' });
    assert.equal(missing[0], 422);
    assert.deepEqual(JSON.parse(String(missing[1])).problems, [
      { path: '/file', rule: 'must name a file in the end user’s folder of PORTFOLIO_DIR' },
    ]);
    assert.deepEqual(await start({}), missing);
    assert.equal((await start({ endUserCode: 'EU456' }))[0], 403);
    // A repeated start finds its review, also if the file was deleted since.
    const file = await writePortfolio(portfolioDirectory, 'gone.csv', csvText(1));
    const input = reviewInput(file);
    assert.equal((await start(input))[0], 201);
    await untilReview(input.reviewId, 'completed');
    rmSync(join(portfolioDirectory, FOLDER, file));
    const [status, again] = await start(input);
    assert.deepEqual([status, JSON.parse(String(again)).isNew], [200, false]);
  });

  test('a row on hold is decided by its run key, and a review can be paused and resumed', async () => {
    const input = reviewInput('held.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    await untilReview(input.reviewId, 'held');
    for (const [step, state] of [
      ['pause', 'paused'],
      ['resume', 'held'],
    ] as const) {
      const told = await api.call(`${path}/${step}`, { body: { reason: 'a test' } });
      assert.deepEqual([told.status, told.json.accepted], [200, true], told.text);
      await untilReview(input.reviewId, state);
    }
    const { json } = await api.call(`/v1/holds?runKey=portfolio:${input.reviewId}`);
    const [{ runKey, decideAt, customerTraceNumber, attempt }] = json.data;
    assert.deepEqual(
      [runKey, decideAt],
      [`portfolio:${input.reviewId}/ACC-0`, `/v1/runs/${encodeURIComponent(runKey)}/decisions`],
    );
    const decision = { decisionId: 'D-1', customerTraceNumber, attempt, action: 'abandon', providerSaid: 'posted' };
    const named = { inquiries: [{ runKey, customerTraceNumber, attempt }] };
    const { customerTraceNumber: _, attempt: __, ...same } = decision;
    const body = { ...same, reason: 'by phone', ...named, preview: true };
    const preview = await api.expect(200, '/v1/decisions', { body });
    assert.equal(preview.inquiries[0].result, 'decidable');
    const decided = await api.call(decideAt, { body: { ...decision, reason: 'by phone' } });
    assert.deepEqual([decided.status, decided.json.recorded], [200, true], decided.text);
    await untilReview(input.reviewId, 'completed');
    assert.equal((await api.call(`${path}/result`)).json.abandoned, 1);
  });

  test('an API without the portfolio directory answers that it serves no files, without Retry-After', async (t) => {
    const without = await startTestApi(harness);
    t.after(() => without.close());
    const input = reviewInput('three.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    for (const what of ['results', 'bad-rows']) {
      const { status, json, headers } = await without.call(`/v1/portfolio-reviews/${input.reviewId}/${what}`);
      assert.deepEqual([status, json.code, headers.get('retry-after')], [501, 'portfolioDirectory', null]);
    }
    assert.deepEqual(without.unexpected, []);
  });

  test('a download that has begun completes although the API stops', async () => {
    const input = reviewInput('three.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    await untilReview(input.reviewId, 'completed');
    // The file is far larger than any buffer between server and client.
    const lines = `${'x'.repeat(1_023)}\n`.repeat(30_000);
    writeFileSync(join(portfolioDirectory, FOLDER, `three.csv.${input.reviewId}.results.jsonl`), lines);
    const stopping = await startTestApi(harness, { portfolioDirectory });
    const headers = { authorization: `Bearer ${await token()}` };
    const answer = await fetch(`${stopping.url}/v1/portfolio-reviews/${input.reviewId}/results`, { headers });
    const reader = answer.body?.getReader();
    let bytes = (await reader?.read())?.value?.byteLength ?? 0;
    assert.ok(bytes > 0 && bytes < lines.length);
    const closed = stopping.close();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      bytes += value?.byteLength ?? 0;
    }
    await closed;
    assert.equal(bytes, lines.length);
  });

  test('a review can be cancelled after a withdrawal, and its holds stay in the ledger', async () => {
    const input = reviewInput('held.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    await untilReview(input.reviewId, 'held');
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    const body = { reason: 'the wrong file' };
    await api.expect(404, `${path}/cancellation`, { token: elsewhere, body });
    await api.expect(404, `${path}-misspelt/cancellation`, { body });
    // Another operator has withdrawn the review, which still waits for its hold.
    const second = await token({ claims: { sub: 'platform-8' } });
    assert.equal((await api.call(`${path}/withdrawal`, { token: second, body })).json.duplicate, false);
    const cancelled = await api.call(`${path}/cancellation`, { body });
    const taken = { accepted: true, duplicate: false, recorded: true };
    assert.deepEqual([cancelled.status, cancelled.json], [200, taken], cancelled.text);
    await untilReview(input.reviewId, 'cancelled');
    assert.equal((await api.call(`/v1/holds?runKey=portfolio:${input.reviewId}`)).json.data.length, 1);
    // The ledger records who cancelled the review and why, beside who had withdrawn it.
    const decided = await withLedger(harness, async (ledger) => {
      const found: string[] = [];
      for await (const { runKey, action, by, reason } of ledger.decisionsBetween()) {
        if (runKey === `portfolio:${input.reviewId}`) found.push(`${action} ${by}: ${reason}`);
      }
      return found;
    });
    assert.deepEqual(decided.toSorted(), ['cancel platform-7: the wrong file', 'withdraw platform-8: the wrong file']);
    // After the end, a repeated message has the same answer, and a new message is too late.
    const again = await api.call(`${path}/cancellation`, { body });
    assert.deepEqual([again.status, again.json], [200, { ...taken, duplicate: true }], again.text);
    const sameWithdrawal = await api.call(`${path}/withdrawal`, { token: second, body });
    assert.deepEqual([sameWithdrawal.status, sameWithdrawal.json.duplicate], [200, true], sameWithdrawal.text);
    assert.equal((await api.expect(409, `${path}/cancellation`, { body: { reason: 'another' } })).code, 'differs');
    assert.equal((await api.call(`${path}/result`)).json.code, 'runFailed');
    assert.deepEqual(api.unexpected, []);
  });
});
