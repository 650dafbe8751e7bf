import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { applicant, journeyInput, newSsn } from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { token, untilState, useApi } from './fixtures.ts';

const { harness, api } = useApi({}, { begin: completeJourneys });
/** Three completed journeys, each with one applicant and one stage. */
const ids: string[] = [];

async function completeJourneys(): Promise<void> {
  for (const _ of [1, 2, 3]) {
    const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('0001'))] });
    ids.push(input.journeyId);
    await api.expect(201, '/v1/journeys', { body: input });
  }
  for (const id of ids) await untilState(api, `/v1/journeys/${id}`, 'completed');
}

describe('reports over HTTP', () => {
  test('a report is masked unless the token may reveal it and asks for it, and each reading is recorded', async () => {
    const path = `/v1/runs/${ids[0]}/reports/PREQUAL`;
    const from = api.lines.length;
    const reader = await token({ scopes: ['reports:read'] });
    const masked = await api.call(path, { token: reader });
    assert.deepEqual([masked.status, masked.json.redacted], [200, true], masked.text);
    assert.doesNotMatch(masked.text, /Sample-1A|Casey/);
    assert.equal((await api.expect(403, `${path}?reveal=true`, { token: reader })).code, 'scope');
    const whole = await api.call(`${path}?reveal=true&purpose=audit&endUser=EU123`);
    assert.deepEqual([whole.status, whole.json.redacted], [200, false], whole.text);
    assert.match(whole.text, /"report":\{/);
    assert.equal((await api.expect(403, `${path}?endUser=EU999`)).code, 'otherEndUser');
    const [first, , second] = api.audited().slice(from);
    assert.deepEqual([first?.revealed, second?.revealed, second?.reissued], [false, true, true]);
    assert.equal(second?.customerTraceNumber, whole.json.customerTraceNumber);
    const ledger = await openLedgerOf(harness);
    const read = [];
    for await (const { by, via, redacted, purpose } of ledger.accessesBetween()) {
      read.push([by, via, redacted, purpose]);
    }
    await ledger.close();
    assert.deepEqual(read, [
      ['platform-7', 'api', true, undefined],
      ['platform-7', 'api', false, 'audit'],
    ]);
    assert.deepEqual(api.unexpected, []);
  });

  test('references are masked unless revealed, and a missing report is answered 404', async () => {
    const path = `/v1/runs/${ids[0]}/references`;
    const masked = await api.call(path);
    assert.deepEqual([masked.status, masked.json.redacted], [200, true]);
    const whole = await api.call(`${path}?reveal=true`);
    const { references, shares } = whole.json;
    const { count, revealed } = api.audited().at(-1) ?? {};
    assert.deepEqual([count, revealed], [references.length + shares.length, true]);
    const [{ reference }] = references;
    assert.equal(whole.json.redacted, false);
    const { consumerId } = reference.applicants[0];
    assert.ok(consumerId.length > 0 && !masked.text.includes(consumerId));
    for (const end of [`journeys/${ids[0]}/changes`, `runs/${ids[0]}/reports/PREAPP`]) {
      await api.expect(404, `/v1/${end}`);
    }
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    await api.expect(404, path, { token: elsewhere });
  });

  test('a report of an unknown product is answered 422 with the products, unless the run is out of reach', async () => {
    const path = `/v1/runs/${ids[0]}/reports/PREAP`;
    const { code, problems } = await api.expect(422, path);
    const [problem, ...others] = problems;
    assert.deepEqual([code, problem.path, others], ['invalidInput', '/productCode', []]);
    assert.match(problem.rule, /^must be one of .*PREAPP/);
    await api.expect(404, path, { token: await token({ endUsers: ['ELSEWHERE'] }) });
  });
});

describe('inquiries over HTTP', () => {
  test('are listed in pages, by filters, within the reach of the token', async () => {
    const found: string[] = [];
    let after = '';
    do {
      const { status, json } = await api.call(`/v1/inquiries?limit=1${after}`);
      assert.equal(status, 200, JSON.stringify(json));
      found.push(...json.data.map(({ runKey }: { runKey: string }) => runKey));
      after = json.next ? `&after=${json.next}` : '';
    } while (after);
    assert.deepEqual(found.toSorted(), ids.toSorted());
    const [inquiry] = (await api.call(`/v1/inquiries?runKey=${ids[1]}&productCode=PREQUAL&outcome=record`)).json.data;
    assert.deepEqual(
      [inquiry.runKey, inquiry.posted, inquiry.endUserCode, inquiry.applicants],
      [ids[1], 'yes', 'EU123', 1],
    );
    assert.deepEqual((await api.call('/v1/inquiries?outcome=noRecord')).json.data, []);
    const [mine, elsewhere] = await Promise.all([
      token({ profiles: ['default'], endUsers: ['EU123'] }),
      token({ endUsers: ['ELSEWHERE'] }),
    ]);
    assert.equal((await api.call('/v1/inquiries', { token: mine })).json.data.length, 3);
    assert.deepEqual((await api.call('/v1/inquiries', { token: elsewhere })).json.data, []);
    for (const [query, status] of [
      ['after=nonsense', 400],
      ['limit=0', 422],
      ['from=yesterday', 422],
      [`unknown=${randomUUID()}`, 422],
    ] as const) {
      await api.expect(status, `/v1/inquiries?${query}`);
    }
  });

  test('are counted within the reach of the token, by the same filters', async () => {
    const counts = { sent: 3, posted: 3, notPosted: 0, unknown: 0 };
    const all = { totals: [{ productCode: 'PREQUAL', endUserCode: 'EU123', ...counts }] };
    const mine = await token({ profiles: ['default'], endUsers: ['EU123'] });
    const path = '/v1/inquiries/totals';
    for (const bearer of [undefined, mine]) {
      const { json, text } = await api.call(path, bearer ? { token: bearer } : {});
      assert.deepEqual(json, all, text);
    }
    const [one] = (await api.call(`${path}?runKey=${ids[1]}`)).json.totals;
    assert.deepEqual([one.sent, one.posted], [1, 1]);
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    assert.deepEqual((await api.call(path, { token: elsewhere })).json, { totals: [] });
    assert.deepEqual((await api.call(`${path}?outcome=noRecord`)).json, { totals: [] });
    await api.expect(422, `${path}?limit=1`);
  });
});
