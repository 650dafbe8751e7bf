import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { JourneyStatus, Stands } from '../../src/messages/journey/shapes.ts';
import { toWorkflowId } from '../../src/model/run-key.ts';
import { consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { startTestApi, type TestApi, token } from './fixtures.ts';
import { until } from './until.ts';

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

const FOREIGN: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map(({ data }) => ({ metadata: { encoding: Buffer.from('binary/foreign') }, data: data ?? null })),
  decode: async (payloads) => payloads,
};

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
    const { startedAt, ...run } = started.json;
    assert.deepEqual(run, { journeyId: input.journeyId, isNew: true, run: 'running' });
    const address = started.headers.get('location') ?? '';
    assert.equal(address, `/v1/journeys/${input.journeyId}`);
    const status = await untilState(input.journeyId, 'completed');
    assert.equal(status.stages[0]?.state, 'record');
    const again = await api.call('/v1/journeys', { body: input });
    assert.deepEqual([again.status, again.json.isNew, again.json.startedAt], [200, false, startedAt]);
    const other = await api.call('/v1/journeys', { body: { ...input, endUserCode: 'OTHER1' } });
    assert.deepEqual([other.status, other.json.code], [409, 'differs']);
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

  test('an API with profiles of its own refuses an unknown one at once, and still finds a run that there is', async (t) => {
    const input = journeyInput({ stages: ['PREQUAL'], profile: 'nobodys' });
    const own = await startTestApi(harness, { profiles: ['default', 'east'] });
    t.after(() => own.close());
    const refused = await own.call('/v1/journeys', { body: input });
    assert.deepEqual(
      [refused.status, refused.json.problems],
      [422, [{ path: '/profile', rule: 'must be a configured gateway profile' }]],
    );
    assert.equal((await own.call(`/v1/journeys/${input.journeyId}`)).status, 404);
    assert.equal((await api.call('/v1/journeys', { body: input })).status, 201);
    assert.equal((await own.call('/v1/journeys', { body: input })).status, 200);
  });

  test('without, a run whose profile no worker has says so in its status within a second', async () => {
    const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL'], profile: 'nobodys' });
    const startedAt = Date.now();
    assert.equal((await api.call('/v1/journeys', { body: { journeyId, ...input } })).status, 201);
    const status = await until(async () => {
      const { json } = await api.call(`/v1/journeys/${journeyId}`);
      return json.problems ? json : undefined;
    });
    assert.ok(Date.now() - startedAt < 5_000, 'it took longer than its first check');
    assert.deepEqual([status.state, status.problems.length, status.problems[0].path], ['running', 1, '/profile']);
    assert.match(status.problems[0].rule, /^must be a configured gateway profile: default/);
    await harness.client.workflow.getHandle(toWorkflowId(journeyId)).terminate();
  });

  test('one whose input was refused has failed, and its result says what was wrong', async () => {
    const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL'] });
    // By another program, which checks nothing.
    await harness.client.workflow.start('lendingJourney', {
      workflowId: toWorkflowId(journeyId),
      taskQueue: harness.config.taskQueue,
      args: [{ journeyId, ...input, stages: ['NONE'] }],
    });
    const refused = await until(async () => {
      const { json } = await api.call(`/v1/journeys/${journeyId}/result`);
      return json.code === 'resultNotReady' ? undefined : json;
    });
    assert.deepEqual([refused.status, refused.code], [409, 'runFailed']);
    assert.equal(refused.problems[0].path, '/stages/0');
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

describe('messages to a journey over HTTP', () => {
  test('each is accepted once, the same again is a duplicate, and other content under its key a conflict', async () => {
    const { json } = await api.call('/v1/journeys', {
      body: journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }),
    });
    const at = `/v1/journeys/${json.journeyId}`;
    await untilState(json.journeyId, 'waitingAtGate');
    const until = new Date(Date.now() + 45 * 86_400_000).toISOString();
    const messages: [path: string, body: object, other: object][] = [
      [`${at}/extend`, { gate: 'PREAPP', until, reason: 'slow' }, { gate: 'PREAPP', until, reason: 'other' }],
      [
        `${at}/shares`,
        { share: { shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREQUAL' } },
        { share: { shareId: 'S1', endUserCode: 'EU998', reportOf: 'PREQUAL' } },
      ],
      [`${at}/shares/S1/withdrawal`, { reason: 'not needed' }, { reason: 'other' }],
      [`${at}/advance`, { to: 'PREAPP' }, { to: 'PREAPP', skip: 'PREQUAL', reason: 'x' }],
    ];
    for (const [path, body, other] of messages) {
      const first = await api.call(path, { body });
      assert.deepEqual(
        [first.status, first.json.accepted, first.json.duplicate],
        [200, true, false],
        `${path} ${first.text}`,
      );
      const again = await api.call(path, { body });
      assert.deepEqual([again.status, again.json.duplicate], [200, true], `${path} ${again.text}`);
      const differing = await api.call(path, { body: other });
      // The gate that has been passed takes no other content: its message has no id of its own.
      const code = path.endsWith('/advance') ? 'notNow' : 'differs';
      assert.deepEqual([differing.status, differing.json.code], [409, code], `${path} ${differing.text}`);
      assert.ok(!('status' in first.json));
    }
    const withdrawn = await api.call(`${at}/withdrawal`, { body: { reason: 'done' } });
    assert.deepEqual([withdrawn.status, withdrawn.json.accepted], [200, true], withdrawn.text);
    await untilState(json.journeyId, 'withdrawn');
    // The same message has the same answer after the end; another one comes too late.
    for (const [path, reason] of [
      [`${at}/withdrawal`, 'done'],
      [`${at}/shares/S1/withdrawal`, 'not needed'],
    ] as const) {
      const again = await api.call(path, { body: { reason } });
      assert.deepEqual(
        [again.status, again.json],
        [200, { accepted: true, duplicate: true, recorded: true }],
        again.text,
      );
      const late = await api.call(path, { body: { reason: 'other' } });
      assert.deepEqual([late.status, late.json.code], [409, 'journeyFinished'], late.text);
    }
    const { status, json: result } = await api.call(`${at}/result`);
    assert.deepEqual([status, result.outcome, result.stages[0].reference], [200, 'withdrawn', undefined]);
  });

  test('who acts is the token’s to say: a by of the body’s own is refused, wherever a message has one', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    await api.call('/v1/journeys', { body: input });
    const at = `/v1/journeys/${input.journeyId}`;
    await untilState(input.journeyId, 'waitingAtGate');
    const forged = { reason: 'x', by: 'somebody else' };
    for (const [path, body] of [
      [`${at}/withdrawal`, forged],
      [`${at}/advance`, { to: 'PREAPP', skip: 'PREAPP', ...forged }],
      [`${at}/shares`, { share: { shareId: 'S2', endUserCode: 'EU999' }, ...forged }],
      [`${at}/extend`, { gate: 'PREAPP', until: '2099-01-01T00:00:00Z', ...forged }],
      [`${at}/shares/S1/withdrawal`, forged],
    ] as const) {
      const { status, json } = await api.call(path, { body });
      assert.deepEqual([status, json.problems[0].path], [422, '/by'], path);
    }
    const nobody = await token({ claims: { sub: 'x'.repeat(101) } });
    const unnamed = await api.call(`${at}/withdrawal`, { token: nobody, body: { reason: 'x' } });
    assert.deepEqual([unnamed.status, unnamed.json.code], [403, 'by']);
    assert.equal((await api.call(at)).json.state, 'waitingAtGate');
  });

  test('all that wait for a change hear of it', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    await api.call('/v1/journeys', { body: input });
    const at = `/v1/journeys/${input.journeyId}`;
    await untilState(input.journeyId, 'waitingAtGate');
    const etag = (await api.call(at)).headers.get('etag') ?? '';
    const wait = (seconds: number) => api.call(at, { headers: { 'if-none-match': etag, prefer: `wait=${seconds}` } });
    const short = await wait(1);
    assert.deepEqual([short.status, short.headers.get('preference-applied')], [304, 'wait=1']);
    const waiting = Array.from({ length: 20 }, () => wait(30));
    await api.call(`${at}/withdrawal`, { body: { reason: 'enough' } });
    for (const { status, json } of await Promise.all(waiting)) {
      assert.equal(status, 200);
      // The withdrawal has taken effect; the run ends once the ledger has it.
      assert.equal(json.stages[1].state, 'skipped');
      assert.ok(['running', 'withdrawn'].includes(json.state), json.state);
    }
    await untilState(input.journeyId, 'withdrawn');
  });

  test('lists have the runs that a token reaches, and no others', async () => {
    const endUserCode = `EU${randomUUID().slice(0, 6)}`;
    const input = journeyInput({ stages: ['PREQUAL'], endUserCode });
    await api.call('/v1/journeys', { body: input });
    // Of another system in the namespace, under keys that this one does not have.
    const foreign = new Client({ ...harness.client.options, dataConverter: { payloadCodecs: [FOREIGN] } });
    const unreadable = `J-${randomUUID()}`;
    await foreign.workflow.start('lendingJourney', {
      ...{ workflowId: toWorkflowId(unreadable), taskQueue: 'of-nobody', args: [{}] },
    });
    const mine = await token({ endUsers: [endUserCode] });
    const listed = async (): Promise<string[]> => {
      const ids: string[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const query = after === undefined ? '' : `&after=${after}`;
        const { status, json, text } = await api.call(`/v1/journeys?limit=2${query}`, { token: mine });
        assert.equal(status, 200, text);
        ids.push(...json.data.map(({ runKey }: { runKey: string }) => runKey));
        after = json.next;
        more = after !== undefined;
      }
      return ids;
    };
    while ((await listed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
    // One that closes between two pages may be in both.
    assert.deepEqual([...new Set(await listed())], [input.journeyId]);
    assert.equal((await api.call(`/v1/journeys/${unreadable}`, { token: mine })).status, 404);
    await foreign.workflow.getHandle(toWorkflowId(unreadable)).terminate();
    const wrong = await api.call('/v1/journeys?after=nonsense');
    assert.deepEqual([wrong.status, wrong.json.code], [400, 'after']);
  });
});

describe('consents over HTTP', () => {
  test('a grant that has ceased to count is refused when it is sent again, and while the run goes on or later says why', async () => {
    const shares = ['S1', 'S2'].map((shareId) => ({
      shareId,
      endUserCode: `EU9-${shareId}`,
      reportOf: 'PREQUAL' as const,
    }));
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const { journeyId } = input;
    await api.call('/v1/journeys', { body: input });
    await untilState(journeyId, 'waitingForConsent');
    const grant = consentMessage(journeyId, { applicantId: '1A', secondaryUser: { endUserCode: 'EU9-S1' } });
    const { evidence: _, ...denied } = { ...grant, decision: 'denied' as const, consentId: 'C-no' };
    const record = (body: object) => api.call('/v1/consents', { body });
    await record({ ...denied, decidedAt: grant.decidedAt });
    const first = await record(grant);
    assert.deepEqual([first.status, first.json.recorded], [200, true], 'it is recorded, as everything that is said');
    const why = /does not count: a denial or a revocation has ended this grant: .* under a new consentId/;
    const open = await record(grant);
    assert.deepEqual([open.status, open.json.code], [409, 'noLongerCounts'], open.text);
    assert.match(open.json.detail, why);
    assert.equal(open.json.problems[0]?.path, '/consentId');
    await record({ ...denied, shareId: 'S2', secondaryUser: { endUserCode: 'EU9-S2' } });
    await untilState(journeyId, 'completed');
    const late = await record(grant);
    assert.deepEqual([late.status, late.json.code], [409, 'noLongerCounts'], late.text);
    assert.match(`does not count: ${late.json.problems[0]?.rule}`, why);
    assert.deepEqual(api.unexpected, []);
  });

  test('one is accepted, kept where nothing is known yet, or refused; its token reads nothing', async () => {
    const consentsOnly = await token({ scopes: ['consents:record'] });
    const share = { shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREQUAL' as const };
    const input = journeyInput({ stages: ['PREQUAL'], shares: [share] });
    await api.call('/v1/journeys', { body: input });
    await untilState(input.journeyId, 'waitingForConsent');
    const record = (body: object, bearer = consentsOnly) => api.call('/v1/consents', { token: bearer, body });
    const denied = { ...consentMessage(input.journeyId, { applicantId: '1A', decision: 'denied' }) };
    const first = await record(denied);
    const { stands, ...said } = first.json;
    assert.deepEqual([first.status, said], [200, { answer: 'accepted', duplicate: false, recorded: true }]);
    const { decision, changed } = stands as Stands;
    assert.deepEqual([decision, changed], ['denied', true]);
    const again = await record(denied);
    assert.deepEqual([again.status, again.json.duplicate], [200, true]);
    const otherwise = await record({ ...denied, secondaryUser: { endUserCode: 'EU111' } });
    assert.deepEqual([otherwise.status, otherwise.json.code], [409, 'differs'], otherwise.text);
    await untilState(input.journeyId, 'completed');
    const late = await record({ ...denied, consentId: 'C-late', decision: 'revoked' });
    assert.deepEqual([late.status, late.json.answer, late.json.postedSharesFlagged], [200, 'accepted', 0], late.text);
    const lateOtherwise = await record({
      ...denied,
      consentId: 'C-late',
      decision: 'revoked',
      applicantId: '1A',
      secondaryUser: { endUserCode: 'EU111' },
    });
    assert.deepEqual([lateOtherwise.status, lateOtherwise.json.code], [409, 'differs'], lateOtherwise.text);
    const early = consentMessage(`T-${randomUUID().slice(0, 8)}`, { applicantId: '1A' });
    const kept = await record(early);
    assert.deepEqual([kept.status, kept.json.answer, kept.json.unmatched], [202, 'kept', 'journey'], kept.text);
    for (const path of [`/v1/journeys/${input.journeyId}`, '/v1/journeys']) {
      assert.equal((await api.call(path, { token: consentsOnly })).status, 403);
    }
    const narrow = await token({ scopes: ['consents:record'], endUsers: ['ELSEWHERE'] });
    const headers = { 'x-request-id': 'R-2' };
    const foreign = await api.call('/v1/consents', { token: narrow, headers, body: denied });
    const unknown = await api.call('/v1/consents', { token: narrow, headers, body: { ...early, consentId: 'C-2' } });
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text]);
    assert.deepEqual(api.unexpected, []);
  });
});
