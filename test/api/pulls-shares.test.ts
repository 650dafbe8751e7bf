import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { applicant, consentMessage, newSsn } from '../support/journey-harness.ts';
import { type Json, token, useApi } from './fixtures.ts';

const { harness, api } = useApi();

const newId = () => `A-${randomUUID().slice(0, 13)}`;

function pullInput(lastFour = '0001') {
  const applicants = [applicant('1A', newSsn(lastFour))];
  return { pullId: newId(), productCode: 'CR', endUserCode: 'EU123', permissiblePurposeCode: '01', applicants };
}

function ended(path: string): Promise<Json> {
  return api.until(path, (json) => json.state && !['running', 'waitingForConsent'].includes(json.state) && json);
}

describe('pulls over HTTP', { concurrency: 4 }, () => {
  test('a repeated start of a pull makes no second inquiry, and the result has no consumer id', async () => {
    const input = pullInput();
    const started = await api.call('/v1/pulls', { body: input });
    const { startedAt, ...run } = started.json;
    assert.deepEqual(
      [started.status, run],
      [201, { pullId: input.pullId, isNew: true, runKey: `pull:${input.pullId}`, run: 'running' }],
      started.text,
    );
    assert.match(String(startedAt), /^\d{4}-/);
    const path = started.headers.get('location') ?? '';
    assert.equal(path, `/v1/pulls/${input.pullId}`);
    const unfinished = await api.call(`${path}/result`);
    assert.ok([200, 409].includes(unfinished.status));
    assert.equal((await ended(path)).state, 'record');
    const again = await api.call('/v1/pulls', { body: input });
    assert.deepEqual([again.status, again.json.isNew], [200, false]);
    const other = await api.call('/v1/pulls', { body: { ...input, permissiblePurposeCode: '02' } });
    assert.deepEqual([other.status, other.json.code], [409, 'differs'], other.text);
    assert.deepEqual(
      other.json.problems.map(({ path: at }: { path: string }) => at),
      ['/permissiblePurposeCode'],
    );
    const result = await api.call(`${path}/result`);
    assert.equal(result.json.outcome, 'record');
    assert.doesNotMatch(result.text, /consumerId|"reference"/);
    assert.equal(
      (await api.expect(409, `${path}/withdrawal`, { body: { reason: 'too late' } })).code,
      'journeyFinished',
    );
    const isIt = ({ runKey }: Json) => runKey === `pull:${input.pullId}`;
    const page = await api.until('/v1/pulls', ({ data }) => data.find(isIt));
    assert.equal(page.run, 'completed');
    assert.deepEqual(api.unexpected, []);
  });

  test('a pull of the work class batch has a lower priority', async () => {
    const priorityOf = async (query: string) => {
      const input = pullInput();
      await api.expect(201, `/v1/pulls${query}`, { body: input });
      const described = await harness.client.workflow.getHandle(`pull-${input.pullId}`).describe();
      return described.priority?.priorityKey;
    };
    assert.deepEqual([await priorityOf(''), await priorityOf('?workClass=batch')], [0, 5]);
    await api.expect(422, '/v1/pulls?workClass=soon', { body: pullInput() });
  });

  test('a pull on hold is decided or ended early in the name of the token’s subject', async () => {
    const [decided, withdrawn] = [pullInput('4002'), pullInput('4002')];
    for (const body of [decided, withdrawn]) await api.expect(201, '/v1/pulls', { body });
    for (const { pullId } of [decided, withdrawn]) assert.equal((await ended(`/v1/pulls/${pullId}`)).state, 'held');
    const { json } = await api.call(`/v1/holds?runKey=pull:${decided.pullId}`);
    const [{ decideAt, customerTraceNumber, attempt }] = json.data;
    const decision = { decisionId: 'D-1', customerTraceNumber, attempt, action: 'accept', outcome: 'noRecord' };
    const answer = await api.call(decideAt, { body: { ...decision, reason: 'by phone', providerSaid: 'posted' } });
    assert.deepEqual([answer.status, answer.json.recorded], [200, true], answer.text);
    assert.equal((await ended(`/v1/pulls/${decided.pullId}`)).state, 'noRecord');
    const path = `/v1/pulls/${withdrawn.pullId}/withdrawal`;
    await api.expect(422, path, { body: { reason: 'by mistake', by: 'me' } });
    const ending = await api.call(path, { body: { reason: 'by mistake' } });
    assert.deepEqual([ending.status, ending.json.accepted], [200, true], ending.text);
  });
});

describe('standalone shares over HTTP', { concurrency: 4 }, () => {
  const given = {
    endUserCode: 'EU123',
    reference: {
      reportReferenceNumber: 'REF-1',
      requestedAt: '2026-01-02T03:04:05Z',
      applicants: [{ applicantId: '1A', consumerId: 'C-1' }],
    },
  };

  function shareInput(report: object = given) {
    return { shareId: newId(), endUserCode: 'EU999', permissiblePurposeCode: '02', report };
  }

  test('a pull’s report is shared once its applicant consents, and only for the end user of the pull', async () => {
    const pull = pullInput();
    await api.call('/v1/pulls', { body: pull });
    await ended(`/v1/pulls/${pull.pullId}`);
    const input = shareInput({ pullId: pull.pullId, productCode: 'CR' });
    const elsewhere = await token({ endUsers: ['ELSEWHERE', 'EU999'] });
    const foreign = await api.call('/v1/shares', { token: elsewhere, body: input });
    const mine = await token({ endUsers: ['EU123'] });
    assert.deepEqual([foreign.status, foreign.json.code], [403, 'reach']);
    const started = await api.call('/v1/shares', { token: mine, body: input });
    assert.equal(started.status, 201, started.text);
    const path = `/v1/shares/${input.shareId}`;
    await api.expect(404, path, { token: elsewhere });
    const { status } = await api.call('/v1/consents', {
      token: mine,
      body: consentMessage(`share:${input.shareId}`, { applicantId: '1A', shareId: input.shareId }),
    });
    assert.ok([200, 202].includes(status));
    assert.equal((await ended(path)).state, 'posted');
    const again = await api.call('/v1/shares', { token: mine, body: input });
    assert.deepEqual([again.status, again.json.isNew], [200, false]);
    const result = await api.call(`${path}/result`, { token: mine });
    assert.deepEqual([result.json.outcome, result.json.sharedWith], ['posted', { endUserCode: 'EU999' }]);
    const references = await api.call(`/v1/runs/share:${input.shareId}/references`, { token: mine });
    assert.deepEqual([references.status, references.json.redacted], [200, true], references.text);
    const [own] = references.json.shares;
    assert.deepEqual([own.shareId, references.json.references], [input.shareId, []], references.text);
    await api.expect(404, `/v1/runs/share:${input.shareId}/references`, { token: elsewhere });
    assert.deepEqual(api.unexpected, []);
  });

  test('consents that arrive before a share starts count in it, and a revocation after its end flags it', async () => {
    const pull = pullInput();
    await api.call('/v1/pulls', { body: pull });
    await ended(`/v1/pulls/${pull.pullId}`);
    const input = shareInput({ pullId: pull.pullId, productCode: 'CR' });
    const consentsOnly = await token({ scopes: ['consents:record'] });
    const record = (change: object) =>
      api.call('/v1/consents', {
        token: consentsOnly,
        body: { ...consentMessage(`share:${input.shareId}`, { applicantId: '1A', shareId: input.shareId }), ...change },
      });
    const early = await record({ consentId: 'C-1' });
    assert.deepEqual([early.status, early.json.answer, early.json.unmatched], [202, 'kept', 'share'], early.text);
    const otherShare = await record({ consentId: 'C-2', shareId: 'S-OTHER' });
    assert.deepEqual([otherShare.status, otherShare.json.code], [422, 'invalidInput'], otherShare.text);
    await api.expect(201, '/v1/shares', { body: input });
    const path = `/v1/shares/${input.shareId}`;
    // The earlier consent counts, and no other applicant's consent is missing.
    assert.equal((await ended(path)).state, 'posted');
    const revoked = { consentId: 'C-3', decision: 'revoked', evidence: undefined };
    const late = await record(revoked);
    assert.deepEqual([late.status, late.json.answer, late.json.postedSharesFlagged], [200, 'accepted', 1], late.text);
    await api.expect(403, path, { token: consentsOnly });
  });

  test('a waiting share is extended and withdrawn, and the ledger then prevents its sending', async () => {
    const input = shareInput();
    await api.expect(201, '/v1/shares', { body: input });
    const path = `/v1/shares/${input.shareId}`;
    await api.until(path, (json) => json.state === 'waitingForConsent');
    const until2030 = { until: '2030-01-01T00:00:00Z', reason: 'on leave' };
    const extended = await api.call(`${path}/extend`, { body: until2030 });
    assert.deepEqual([extended.status, extended.json.accepted], [200, true], extended.text);
    assert.equal((await api.call(`${path}/extend`, { body: until2030 })).json.duplicate, true);
    const withdrawn = await api.call(`${path}/withdrawal`, { body: { reason: 'wrong company' } });
    assert.deepEqual([withdrawn.status, withdrawn.json.recorded], [200, true], withdrawn.text);
    assert.equal((await ended(path)).state, 'withdrawn');
  });
});
