import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { type ApiCall, startTestApi, type TestApi, token } from './fixtures.ts';
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

  test('an API without the directory says that it gives out no files, and asks nobody to come again', async (t) => {
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

  test('a download that has begun comes to its end, although the API stops', async () => {
    const input = reviewInput('three.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    await untilState(input.reviewId, ['completed']);
    // Far more than any buffer on the way holds.
    const lines = `${'x'.repeat(1_023)}\n`.repeat(30_000);
    writeFileSync(join(portfolioDirectory, `three.csv.${input.reviewId}.results.jsonl`), lines);
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

  test('one is cancelled, also after another’s withdrawal, and what is on hold stays in the ledger', async () => {
    const input = reviewInput('held.csv');
    await api.call('/v1/portfolio-reviews', { body: input });
    const path = `/v1/portfolio-reviews/${input.reviewId}`;
    await untilState(input.reviewId, ['held']);
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    const body = { reason: 'the wrong file' };
    assert.equal((await api.call(`${path}/cancellation`, { token: elsewhere, body })).status, 404);
    // Somebody else has withdrawn it before; it waits for its hold.
    const second = await token({ claims: { sub: 'platform-8' } });
    assert.equal((await api.call(`${path}/withdrawal`, { token: second, body })).json.duplicate, false);
    const cancelled = await api.call(`${path}/cancellation`, { body });
    assert.deepEqual([cancelled.status, cancelled.json], [200, { accepted: true, duplicate: true }], cancelled.text);
    await untilState(input.reviewId, ['cancelled']);
    assert.equal((await api.call(`/v1/holds?ownerId=portfolio:${input.reviewId}`)).json.holds.length, 1);
    const late = await api.call(`${path}/cancellation`, { body });
    assert.deepEqual([late.status, late.json.code], [409, 'journeyFinished'], late.text);
    assert.equal((await api.call(`${path}/result`)).json.code, 'failed');
    assert.deepEqual(api.unexpected, []);
  });
});

describe('schedules of portfolio reviews over HTTP', () => {
  function scheduleInput(change: object = {}) {
    const { reviewId, ...order } = reviewInput('three.csv');
    return { scheduleId: `S-${reviewId}`, order, cron: '0 6 1 1 *', timeZone: 'America/New_York', ...change };
  }

  test('one is created once, listed for whom it is, paused by a name, and deleted', async () => {
    const [mine, elsewhere] = await Promise.all([
      token({ profiles: ['default'], endUsers: ['EU123'] }),
      token({ endUsers: ['ELSEWHERE'] }),
    ]);
    const input = scheduleInput();
    const path = `/v1/portfolio-schedules/${input.scheduleId}`;
    const all = '/v1/portfolio-schedules';
    const far = await api.call(all, { token: elsewhere, body: input });
    assert.deepEqual([far.status, far.json.code], [403, 'reach']);
    const created = await api.call(all, { token: mine, body: input });
    assert.deepEqual([created.status, created.headers.get('location')], [201, path], created.text);
    const again = await api.call(all, { token: mine, body: input });
    assert.deepEqual([again.status, again.json.duplicate], [200, true], again.text);
    const other = await api.call(all, { token: mine, body: { ...input, cron: '0 7 1 1 *' } });
    assert.deepEqual([other.status, other.json.code, other.json.problems[0].path], [409, 'inputDiffers', '/cron']);
    const theirs = { ...input, order: { ...input.order, endUserCode: 'ELSEWHERE' } };
    const taken = await api.call(all, { token: elsewhere, body: theirs });
    assert.deepEqual([taken.status, taken.json.code, taken.json.problems], [409, 'idTaken', undefined], taken.text);
    const listed = async (bearer: string): Promise<{ scheduleId: string; paused: boolean }[]> =>
      (await api.call(all, { token: bearer })).json.schedules;
    const found = await until(async () =>
      (await listed(mine)).find(({ scheduleId }) => scheduleId === input.scheduleId),
    );
    assert.equal(found.paused, false);
    assert.deepEqual(await listed(elsewhere), []);
    assert.equal((await api.call(`${path}/pause`, { token: mine, body: { reason: 'a new file' } })).status, 200);
    const paused = (await api.call(path, { token: mine })).json;
    assert.deepEqual([paused.paused, paused.note, paused.schedule], [true, 'platform-7: a new file', input]);
    assert.equal(paused.nextAt.length > 0 && paused.lastReviewIds.length === 0, true);
    assert.equal((await api.call(`${path}/unpause`, { token: mine, body: { reason: 'it is there' } })).status, 200);
    assert.equal((await api.call(path)).json.paused, false);
    const deleted = await api.call(path, { method: 'DELETE', token: mine });
    assert.deepEqual([deleted.status, deleted.json], [200, { accepted: true }]);
    assert.equal((await api.call(path, { method: 'DELETE' })).status, 404);
    assert.deepEqual(api.unexpected, []);
  });

  test('what the server or a rule refuses of one is named, and no path is a file’s name', async () => {
    for (const [change, path] of [
      [{ cron: 'every now and then' }, '/cron'],
      [{ timeZone: 'Europe/Atlantis' }, '/timeZone'],
      [{ order: { ...scheduleInput().order, file: 'folder/three.csv' } }, '/order/file'],
      [{ by: 'me' }, '/by'],
    ] as const) {
      const { status, json, text } = await api.call('/v1/portfolio-schedules', { body: scheduleInput(change) });
      assert.deepEqual([status, json.problems?.[0]?.path], [422, path], text);
    }
  });

  test('a foreign one answers as one that there is not, in every byte', async () => {
    const input = scheduleInput({ paused: true });
    const created = await api.call('/v1/portfolio-schedules', { body: input });
    assert.equal(created.status, 201, created.text);
    const far = await token({ endUsers: ['ELSEWHERE'] });
    for (const [method, end, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['POST', '/pause', {}],
      ['POST', '/unpause', { reason: 'a test' }],
    ] as const) {
      const [foreign, unknown] = await Promise.all(
        [input.scheduleId, 'S-unknown'].map((id) =>
          answered(`/v1/portfolio-schedules/${id}${end}`, { method, token: far, body }),
        ),
      );
      assert.equal(foreign?.[0], 404);
      assert.deepEqual(foreign, unknown, `${method} ${end}`);
    }
    await api.call(`/v1/portfolio-schedules/${input.scheduleId}`, { method: 'DELETE' });
  });

  async function answered(path: string, call: ApiCall): Promise<unknown[]> {
    const { status, text, headers } = await api.call(path, { ...call, headers: { 'x-request-id': 'R-1' } });
    return [status, text, [...headers].filter(([name]) => name !== 'date')];
  }
});
