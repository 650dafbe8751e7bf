import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { startTestApi, type TestApi, token } from './fixtures.ts';

let harness: Harness;
let api: TestApi;

before(async () => {
  harness = await startHarness();
  api = await startTestApi(harness);
});
after(async () => {
  await api.close();
  await harness.close();
});

async function untilState(journeyId: string, state: JourneyStatus['state']): Promise<JourneyStatus> {
  for (;;) {
    const { status, json } = await api.call(`/v1/journeys/${journeyId}`);
    assert.equal(status, 200, JSON.stringify(json));
    if (json.state === state) return json;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('journeys over HTTP', () => {
  test('a journey is started, read, and started again without a second run', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const started = await api.call('/v1/journeys', { body: input });
    assert.equal(started.status, 201, started.text);
    assert.deepEqual(started.json, { journeyId: input.journeyId, duplicate: false });
    const address = started.headers.get('location') ?? '';
    assert.equal(address, `/v1/journeys/${input.journeyId}`);
    const status = await untilState(input.journeyId, 'completed');
    assert.equal(status.stages[0]?.state, 'record');
    const again = await api.call('/v1/journeys', { body: input });
    assert.deepEqual([again.status, again.json.duplicate], [200, true]);
    const other = await api.call('/v1/journeys', { body: { ...input, endUserCode: 'OTHER1' } });
    assert.deepEqual([other.status, other.json.code], [409, 'inputDiffers']);
    assert.deepEqual(
      other.json.problems.map(({ path }: { path: string }) => path),
      ['/endUserCode'],
    );
    assert.deepEqual(api.unexpected, []);
    const first = await api.call(address);
    const etag = first.headers.get('etag') ?? '';
    const same = await api.call(address, { headers: { 'if-none-match': etag } });
    assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag]);
  });

  test('a run of another end user answers as an unknown id does, and its id is taken without a reason', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    assert.equal((await api.call('/v1/journeys', { body: input })).status, 201);
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    const headers = { 'x-request-id': 'R-1' };
    const foreign = await api.call(`/v1/journeys/${input.journeyId}`, { token: elsewhere, headers });
    const unknown = await api.call(`/v1/journeys/${randomUUID()}`, { token: elsewhere, headers });
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text]);
    const names = ({ headers: all }: { headers: Headers }) => [...all.keys()].filter((name) => name !== 'date');
    assert.deepEqual(names(foreign), names(unknown));
    const taking = { ...input, endUserCode: 'ELSEWHERE' };
    const taken = await api.call('/v1/journeys', { token: elsewhere, body: taking });
    assert.deepEqual([taken.status, taken.json.code, taken.json.problems], [409, 'idTaken', undefined]);
    const beyond = await api.call('/v1/journeys', { token: elsewhere, body: journeyInput() });
    assert.deepEqual([beyond.status, beyond.json.code], [403, 'reach']);
  });
});
