import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { JourneyStatus, Stands } from '../../src/messages/journey/shapes.ts';
import { toWorkflowId } from '../../src/model/run-key.ts';
import { consentMessage, journeyInput } from '../support/journey-harness.ts';
import { type Json, startTestApi, token, untilState, useApi } from './fixtures.ts';

const { harness, api } = useApi();

const FOREIGN: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map(({ data }) => ({ metadata: { encoding: Buffer.from('binary/foreign') }, data: data ?? null })),
  decode: async (payloads) => payloads,
};

function untilJourney(journeyId: string, state: JourneyStatus['state']): Promise<JourneyStatus> {
  return untilState(api, `/v1/journeys/${journeyId}`, state);
}

/** Starts a journey and waits for this state. Returns the journey's address. */
async function started(input: { journeyId: string }, state: JourneyStatus['state']): Promise<string> {
  await api.expect(201, '/v1/journeys', { body: input });
  await untilJourney(input.journeyId, state);
  return `/v1/journeys/${input.journeyId}`;
}

describe('journeys over HTTP', () => {
  test('a repeated start returns the existing journey and starts no second run', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const started = await api.call('/v1/journeys', { body: input });
    assert.equal(started.status, 201, started.text);
    const { startedAt, ...run } = started.json;
    assert.deepEqual(run, { journeyId: input.journeyId, isNew: true, runKey: input.journeyId, run: 'running' });
    const address = started.headers.get('location') ?? '';
    assert.equal(address, `/v1/journeys/${input.journeyId}`);
    const status = await untilJourney(input.journeyId, 'completed');
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

  test('an API that knows the profiles refuses a start with an unknown profile, and still finds an existing run', async (t) => {
    const input = journeyInput({ stages: ['PREQUAL'], profile: 'nobodys' });
    const own = await startTestApi(harness, { profiles: ['default', 'east'] });
    t.after(() => own.close());
    const { problems } = await own.expect(422, '/v1/journeys', { body: input });
    assert.deepEqual(problems, [{ path: '/profile', rule: 'must be a configured gateway profile' }]);
    await own.expect(404, `/v1/journeys/${input.journeyId}`);
    await api.expect(201, '/v1/journeys', { body: input });
    await own.expect(200, '/v1/journeys', { body: input });
  });

  test('an API that knows no profiles starts the run, whose status soon reports the unknown profile', async () => {
    const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL'], profile: 'nobodys' });
    const startedAt = Date.now();
    await api.expect(201, '/v1/journeys', { body: { journeyId, ...input } });
    const status = await api.until(`/v1/journeys/${journeyId}`, (json) => json.problems && json);
    assert.ok(Date.now() - startedAt < 5_000, 'it took longer than its first check');
    assert.deepEqual([status.state, status.problems.length, status.problems[0].path], ['running', 1, '/profile']);
    assert.match(status.problems[0].rule, /^must be a configured gateway profile: default/);
    await harness.client.workflow.getHandle(toWorkflowId(journeyId)).terminate();
  });

  test('the result of a journey whose input the worker refused names the invalid field', async () => {
    const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL'] });
    // This start bypasses the API and its validation.
    await harness.client.workflow.start('lendingJourney', {
      workflowId: toWorkflowId(journeyId),
      taskQueue: harness.config.taskQueue,
      args: [{ journeyId, ...input, stages: ['NONE'] }],
    });
    const result = `/v1/journeys/${journeyId}/result`;
    const refused = await api.until(result, (json) => json.code !== 'resultNotReady' && json);
    assert.deepEqual([refused.status, refused.code], [409, 'runFailed']);
    assert.equal(refused.problems[0].path, '/stages/0');
  });

  test('a start under the id of another end user’s run is refused without details of that run', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    await api.expect(201, '/v1/journeys', { body: input });
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    const taking = { ...input, endUserCode: 'ELSEWHERE' };
    const taken = await api.call('/v1/journeys', { token: elsewhere, body: taking });
    assert.deepEqual([taken.status, taken.json.code, taken.json.problems], [409, 'idTaken', undefined]);
    assert.equal((await api.expect(403, '/v1/journeys', { token: elsewhere, body: journeyInput() })).code, 'reach');
  });
});

describe('messages to a journey over HTTP', () => {
  test('each message is accepted once, a repeat is a duplicate, and other content under its key is a conflict', async () => {
    const { journeyId, ...input } = journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] });
    const at = await started({ journeyId, ...input }, 'waitingAtGate');
    const until = new Date(Date.now() + 45 * 86_400_000).toISOString();
    const messages: [path: string, body: object, other: object, differing?: string][] = [
      [
        `${at}/extend`,
        { gate: 'PREAPP', until, reason: 'slow' },
        { gate: 'PREAPP', until, reason: 'other' },
        '/reason',
      ],
      [
        `${at}/shares`,
        { share: { shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREQUAL' } },
        { share: { shareId: 'S1', endUserCode: 'EU998', reportOf: 'PREQUAL' } },
        '/share/endUserCode',
      ],
      [`${at}/shares/S1/withdrawal`, { reason: 'not needed' }, { reason: 'other' }, '/reason'],
      [`${at}/advance`, { to: 'PREAPP' }, { to: 'PREAPP', skip: 'PREQUAL', reason: 'x' }],
    ];
    const requireDiffers = async (path: string, body: object, differing: string) => {
      const { code, problems } = await api.expect(409, path, { body });
      assert.deepEqual([code, problems.map((problem: Json) => problem.path)], ['differs', [differing]], path);
    };
    for (const [path, body, other, differing] of messages) {
      const first = await api.expect(200, path, { body });
      assert.deepEqual([first.accepted, first.duplicate, 'status' in first], [true, false, false], path);
      assert.equal((await api.expect(200, path, { body })).duplicate, true, path);
      if (differing) await requireDiffers(path, other, differing);
      // To skip a stage is another message.
      else assert.equal((await api.expect(409, path, { body: other })).code, 'notNow', path);
    }
    assert.equal((await api.expect(200, `${at}/withdrawal`, { body: { reason: 'done' } })).accepted, true);
    await untilJourney(journeyId, 'withdrawn');
    // After the end, a repeated message has the same answer, and a new message is too late.
    messages.push([`${at}/withdrawal`, { reason: 'done' }, { reason: 'other' }, '/reason']);
    for (const [path, body, other, differing] of messages) {
      const again = await api.expect(200, path, { body });
      assert.deepEqual([again.accepted, again.duplicate, 'status' in again], [true, true, false], path);
      if (differing) await requireDiffers(path, other, differing);
      else assert.equal((await api.expect(409, path, { body: other })).code, 'journeyFinished', path);
    }
    assert.equal((await api.expect(409, `${at}/advance`, { body: { to: 'PRECLOSE' } })).code, 'journeyFinished');
    const result = await api.expect(200, `${at}/result`);
    assert.deepEqual([result.outcome, result.stages[0].reference], ['withdrawn', undefined]);
  });

  test('a message whose body has a `by` is refused, since the token names the actor', async () => {
    const at = await started(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }), 'waitingAtGate');
    const forged = { reason: 'x', by: 'somebody else' };
    for (const [path, body] of [
      [`${at}/withdrawal`, forged],
      [`${at}/advance`, { to: 'PREAPP', skip: 'PREAPP', ...forged }],
      [`${at}/shares`, { share: { shareId: 'S2', endUserCode: 'EU999' }, ...forged }],
      [`${at}/extend`, { gate: 'PREAPP', until: '2099-01-01T00:00:00Z', ...forged }],
      [`${at}/shares/S1/withdrawal`, forged],
    ] as const) {
      assert.equal((await api.expect(422, path, { body })).problems[0].path, '/by', path);
    }
    const nobody = await token({ claims: { sub: 'x'.repeat(101) } });
    const unnamed = await api.expect(403, `${at}/withdrawal`, { token: nobody, body: { reason: 'x' } });
    assert.equal(unnamed.code, 'by');
    assert.equal((await api.call(at)).json.state, 'waitingAtGate');
  });

  test('every caller that waits for a status change receives the new status', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const at = await started(input, 'waitingAtGate');
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
    await untilJourney(input.journeyId, 'withdrawn');
  });

  test('a list contains exactly the runs that the token reaches', async () => {
    const endUserCode = `EU${randomUUID().slice(0, 6)}`;
    const input = journeyInput({ stages: ['PREQUAL'], endUserCode });
    await api.call('/v1/journeys', { body: input });
    // This run belongs to another system in the namespace, with keys that the API does not have.
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
        const json = await api.expect(200, `/v1/journeys?limit=2${query}`, { token: mine });
        ids.push(...json.data.map(({ runKey }: { runKey: string }) => runKey));
        after = json.next;
        more = after !== undefined;
      }
      return ids;
    };
    while ((await listed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
    // A run that closes between two pages may be in both.
    assert.deepEqual([...new Set(await listed())], [input.journeyId]);
    await api.expect(404, `/v1/journeys/${unreadable}`, { token: mine });
    await foreign.workflow.getHandle(toWorkflowId(unreadable)).terminate();
    assert.equal((await api.expect(400, '/v1/journeys?after=nonsense')).code, 'after');
  });
});

describe('consents over HTTP', () => {
  test('a repeat of a grant that no longer counts is refused with the reason, during the run and after its end', async () => {
    const shares = ['S1', 'S2'].map((shareId) => ({
      shareId,
      endUserCode: `EU9-${shareId}`,
      reportOf: 'PREQUAL' as const,
    }));
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const { journeyId } = input;
    await started(input, 'waitingForConsent');
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
    await untilJourney(journeyId, 'completed');
    const late = await record(grant);
    assert.deepEqual([late.status, late.json.code], [409, 'noLongerCounts'], late.text);
    assert.match(`does not count: ${late.json.problems[0]?.rule}`, why);
    assert.deepEqual(api.unexpected, []);
  });

  test('a consent is accepted, kept for an unknown run, or refused, and its token can read nothing', async () => {
    const consentsOnly = await token({ scopes: ['consents:record'] });
    const share = { shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREQUAL' as const };
    const input = journeyInput({ stages: ['PREQUAL'], shares: [share] });
    await started(input, 'waitingForConsent');
    const record = (body: object, bearer = consentsOnly) => api.call('/v1/consents', { token: bearer, body });
    const grant = consentMessage(input.journeyId, { applicantId: '1A', secondaryUser: { endUserCode: 'EU111' } });
    const forAnother = await record(grant);
    assert.deepEqual([forAnother.status, forAnother.json.code], [409, 'notNow'], forAnother.text);
    const rule = 'must be that of the share';
    assert.deepEqual(forAnother.json.problems, [{ path: '/secondaryUser/endUserCode', rule }]);
    const denied = { ...consentMessage(input.journeyId, { applicantId: '1A', decision: 'denied' }) };
    const first = await record(denied);
    const { stands, ...said } = first.json;
    assert.deepEqual([first.status, said], [200, { answer: 'accepted', duplicate: false, recorded: true }]);
    const { decision, changed } = stands as Stands;
    assert.deepEqual([decision, changed], ['denied', true]);
    const again = await record(denied);
    assert.deepEqual([again.status, again.json.duplicate], [200, true]);
    const decidedAt = new Date(denied.decidedAt).toISOString().replace('Z', '+00:00');
    const respelled = await record({ ...denied, decidedAt });
    assert.deepEqual([respelled.status, respelled.json.duplicate], [200, true], respelled.text);
    const otherwise = await record({ ...denied, secondaryUser: { endUserCode: 'EU111' } });
    assert.deepEqual([otherwise.status, otherwise.json.code], [409, 'differs'], otherwise.text);
    await untilJourney(input.journeyId, 'completed');
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
      await api.expect(403, path, { token: consentsOnly });
    }
    const narrow = await token({ scopes: ['consents:record'], endUsers: ['ELSEWHERE'] });
    const headers = { 'x-request-id': 'R-2' };
    const foreign = await api.call('/v1/consents', { token: narrow, headers, body: denied });
    const unknown = await api.call('/v1/consents', { token: narrow, headers, body: { ...early, consentId: 'C-2' } });
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text]);
    assert.deepEqual(api.unexpected, []);
  });
});
