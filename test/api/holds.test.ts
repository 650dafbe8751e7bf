import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import type { Answer } from '../../src/model/inquiry.ts';
import { loadDecisionSigner } from '../../src/protection/keys/signing-keys.ts';
import { attempted, RECORD } from '../ledger/fixtures.ts';
import type { HttpAnswer } from '../support/http-call.ts';
import { applicant, consentMessage, journeyInput, newSsn } from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { type Json, startTestApi, type TestApi, token, useApi } from './fixtures.ts';
import { until } from './until.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-decisions-'));
const keySet = join(directory, 'decision-keys.json');
const keyFile = join(directory, 'api.pem');

const pair = await generateKeyPair('ES256', { extractable: true });
writeFileSync(keyFile, JSON.stringify({ ...(await exportJWK(pair.privateKey)), kid: 'api-1' }));
const jwk = await exportJWK(pair.publicKey);
writeFileSync(keySet, JSON.stringify({ keys: [{ ...jwk, kid: 'api-1', alg: 'ES256', use: 'sig' }] }));

const env = { DECISION_JWKS_FILE: keySet };
const { harness, api } = useApi({}, { proving: true, env, begin: startSigning, end: () => signing.close() });
let signing: TestApi;

async function startSigning(): Promise<void> {
  signing = await startTestApi(harness, { signer: await loadDecisionSigner(keyFile) });
}
after(() => rmSync(directory, { recursive: true, force: true }));

function holdOf(runKey: string): Promise<Json> {
  return until(async () => (await api.call(`/v1/holds?runKey=${runKey}`)).json.data[0]);
}

/** Starts a journey whose first inquiry was posted and whose answer was lost. */
async function held(profile?: string): Promise<Json> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
  const { status } = await api.call('/v1/journeys', { body: { ...input, ...(profile ? { profile } : {}) } });
  assert.equal(status, 201);
  const hold = await holdOf(input.journeyId);
  // The run's own status shows the hold a moment later.
  await api.until(`/v1/journeys/${input.journeyId}`, (json) => json.state === 'held' && json);
  return hold;
}

function abandoning({ customerTraceNumber, attempt }: Json, change: object = {}) {
  return {
    decisionId: `D-${randomUUID().slice(0, 8)}`,
    ...{ customerTraceNumber, attempt, action: 'abandon', reason: 'a test', providerSaid: 'posted' },
    ...change,
  };
}

const decidedOf = ({ json }: HttpAnswer) => ({ code: json.code, by: json.decided?.by, action: json.decided?.action });

describe('holds over HTTP', { concurrency: 4 }, () => {
  test('an operator lists and decides a hold in two requests, and a second operator learns who decided', async () => {
    const hold = await held();
    assert.deepEqual(
      [hold.kind, hold.failureType, hold.attempt, hold.decideAt, hold.allowedActions],
      ['held', 'OutcomeUnknown', 1, `/v1/runs/${hold.runKey}/decisions`, ['resend', 'accept', 'abandon']],
    );
    const body = abandoning(hold);
    const forged = await api.call(hold.decideAt, { body: { ...body, by: 'somebody else' } });
    assert.deepEqual([forged.status, forged.json.problems[0].path], [422, '/by']);
    const decided = await api.call(hold.decideAt, { body });
    assert.equal(decided.status, 200, decided.text);
    assert.deepEqual(decided.json, { accepted: true, duplicate: false, recorded: true, heldBy: 'run' });
    const again = await api.call(hold.decideAt, { body });
    assert.deepEqual([again.status, again.json.duplicate, again.json.recorded], [200, true, true]);
    const second = await token({ claims: { sub: 'platform-8' } });
    const late = await api.call(hold.decideAt, { token: second, body: abandoning(hold, { providerSaid: 'unknown' }) });
    assert.equal(late.status, 409);
    assert.deepEqual(decidedOf(late), { code: 'decided', by: 'platform-7', action: 'abandon' });
    assert.deepEqual((await api.call(`/v1/holds?runKey=${hold.runKey}`)).json.data, []);
    assert.deepEqual(api.unexpected, []);
  });

  test('the decision is recorded in the ledger once if the run is lost', async () => {
    const hold = await held();
    await harness.client.workflow.getHandle(`journey-${hold.runKey}`).terminate('gone');
    assert.equal(
      (await api.expect(409, hold.decideAt, { body: abandoning(hold, { action: 'amend' }) })).code,
      'notNow',
    );
    const body = abandoning(hold);
    const decided = await api.call(hold.decideAt, { body });
    assert.equal(decided.status, 200, decided.text);
    assert.deepEqual(decided.json, { accepted: true, duplicate: false, recorded: true, heldBy: 'ledger' });
    assert.equal((await api.call(hold.decideAt, { body })).json.duplicate, true);
    const second = await token({ claims: { sub: 'platform-8' } });
    const late = await api.call(hold.decideAt, { token: second, body: abandoning(hold) });
    assert.deepEqual(decidedOf(late), { code: 'decided', by: 'platform-7', action: 'abandon' });
    // The decision names another run's inquiry, so this run refuses it.
    const other = journeyInput({ stages: ['PREQUAL'] });
    await api.call('/v1/journeys', { body: other });
    await api.until(`/v1/journeys/${other.journeyId}`, (json) => json.state === 'completed' && json);
    const foreign = await api.call(`/v1/runs/${other.journeyId}/decisions`, { body: abandoning(hold) });
    assert.deepEqual([foreign.status, foreign.json.code, foreign.json.decided], [409, 'journeyFinished', undefined]);
    const unknown = await api.call(`/v1/runs/${randomUUID()}/decisions`, { body: abandoning(hold) });
    assert.equal(unknown.status, 404);
  });

  test('a token can list and decide only holds of runs that it reaches, within its scopes', async () => {
    const hold = await held();
    const elsewhere = await token({ endUsers: ['ELSEWHERE'] });
    const page = await api.call(`/v1/holds?runKey=${hold.runKey}`, { token: elsewhere });
    assert.deepEqual([page.status, page.json.data], [200, []]);
    const counts = await api.call(`/v1/holds/counts?runKey=${hold.runKey}`, { token: elsewhere });
    assert.deepEqual(counts.json.counts, []);
    const mine = await token({ profiles: ['default'], endUsers: ['EU123'] });
    const counted = await api.call(`/v1/holds/counts?runKey=${hold.runKey}`, { token: mine });
    const all = await api.call(`/v1/holds/counts?runKey=${hold.runKey}`);
    assert.deepEqual([counted.json.counts, counted.json.counts[0].count], [all.json.counts, 1]);
    for (const [path, body] of [
      [hold.decideAt, abandoning(hold)],
      [`/v1/inquiries/${hold.customerTraceNumber}/seen`, { decisionId: 'D-1', reason: 'a test' }],
      [`/v1/runs/${hold.runKey}/seen`, { decisionId: 'D-1', flag: 'ssnMismatch', reason: 'a test' }],
    ] as const) {
      await api.expect(404, path, { token: elsewhere, body });
      const reader = await token({ scopes: ['holds:read'] });
      const refused = await api.call(path, { token: reader, body });
      assert.deepEqual([refused.status, refused.json.code], [403, 'scope'], path);
    }
    const { customerTraceNumber: _, attempt: __, ...decision } = abandoning(hold);
    const { runKey, customerTraceNumber, attempt } = hold;
    const many = { ...decision, inquiries: [{ runKey, customerTraceNumber, attempt }] };
    for (const body of [many, { ...many, preview: true }]) {
      const { inquiries } = await api.expect(200, '/v1/decisions', { token: elsewhere, body });
      assert.deepEqual([inquiries[0].result, inquiries[0].code], ['refused', 'notFound']);
    }
    const decided = await api.call(hold.decideAt, { token: mine, body: abandoning(hold) });
    assert.equal(decided.status, 200, decided.text);
  });

  test('a decision about many holds is checked for each hold, and its preview decides nothing', async () => {
    const holds = await Promise.all([held(), held(), held()]);
    const [first, lost] = holds;
    await harness.client.workflow.getHandle(`journey-${lost.runKey}`).terminate('gone');
    const inquiries = [
      ...holds.map(({ runKey, customerTraceNumber, attempt }) => ({ runKey, customerTraceNumber, attempt })),
      { runKey: randomUUID(), customerTraceNumber: first.customerTraceNumber, attempt: 1 },
    ];
    const body = {
      decisionId: 'OUTAGE-1',
      action: 'abandon',
      reason: 'an outage',
      providerSaid: 'notPosted',
      inquiries,
    };
    const preview = async () =>
      (await api.expect(200, '/v1/decisions', { body: { ...body, preview: true } })).inquiries;
    assert.deepEqual(
      (await preview()).map(({ result, heldBy }: Json) => [result, heldBy]),
      [
        ['decidable', 'run'],
        ['decidable', 'ledger'],
        ['decidable', 'run'],
        ['refused', undefined],
      ],
    );
    await api.expect(200, first.decideAt, { body: abandoning(first) });
    const decided = await api.call('/v1/decisions', { body });
    assert.deepEqual(
      decided.json.inquiries.map(({ result, code, recorded }: Json) => [result, code, recorded]),
      [
        ['refused', 'decided', undefined],
        ['decided', undefined, true],
        ['decided', undefined, true],
        ['refused', 'notFound', undefined],
      ],
    );
    assert.equal(decided.json.inquiries[0].decided.by, 'platform-7');
    const again = await api.call('/v1/decisions', { body });
    assert.deepEqual(
      again.json.inquiries.map(({ result }: Json) => result),
      ['refused', 'duplicate', 'duplicate', 'refused'],
    );
    const afterwards = await preview();
    assert.deepEqual(
      afterwards.map(({ code }: Json) => code),
      ['decided', 'decided', 'decided', 'notOnHold'],
    );
    const personal = { ...body, reference: {} };
    await api.expect(422, '/v1/decisions', { body: personal });
  });

  test('a profile that requires proofs accepts decisions that the API signs, and refuses unsigned ones', async () => {
    const hold = await held('deciding');
    const unsigned = await api.call(hold.decideAt, { body: abandoning(hold) });
    assert.deepEqual([unsigned.status, unsigned.json.problems[0].path], [409, '/proof'], unsigned.text);
    const decided = await signing.call(hold.decideAt, { body: abandoning(hold) });
    assert.equal(decided.status, 200, decided.text);
    const ledger = await openLedgerOf(harness);
    const [decision] = (await ledger.inquiry(hold.customerTraceNumber))?.decisions ?? [];
    await ledger.close();
    assert.deepEqual([decision?.provenBy, decision?.by], ['api-1', 'platform-7']);
  });

  test('unmatched consents are listed in pages for tokens that reach their run, and can be marked as seen', async () => {
    // The consent is a denial. A grant for an unknown run needs a proof here, since its profile may require one.
    const denied = { applicantId: '1A', decision: 'denied' } as const;
    const unknown = consentMessage(`T-${randomUUID()}`, denied);
    const input = journeyInput({ stages: ['PREQUAL'], repeatsOpenFor: 'PT1H' });
    const { journeyId: mine } = input;
    await api.expect(201, '/v1/journeys', { body: input });
    await api.until(`/v1/journeys/${mine}`, (json) => json.stages?.[0]?.state === 'record');
    await harness.client.workflow.getHandle(`journey-${mine}`).terminate('gone');
    const kept = await Promise.all(
      [unknown, consentMessage(mine, { ...denied, shareId: 'S-TYPO' })].map((body) =>
        api.call('/v1/consents', { body }),
      ),
    );
    for (const { status, json, text } of kept) assert.deepEqual([status, json.answer], [202, 'kept'], text);
    const listed = async (bearer?: string) => {
      const found: [string, string][] = [];
      for (let after = ''; ; ) {
        const path = `/v1/unmatched-consents?limit=1${after}`;
        const { json, text } = await api.call(path, bearer ? { token: bearer } : {});
        assert.ok(json.data.length <= 1, text);
        for (const { runKey, unmatched } of json.data) found.push([runKey, unmatched]);
        if (json.next === undefined) return found.filter(([id]) => id === mine || id === unknown.journeyId).toSorted();
        after = `&after=${json.next}`;
      }
    };
    const narrow = await token({ profiles: ['default'], endUsers: ['EU123'] });
    const both = [
      [mine, 'share'],
      [unknown.journeyId, 'journey'],
    ].toSorted();
    assert.deepEqual([await listed(), await listed(narrow)], [both, [[mine, 'share']]]);
    const path = '/v1/unmatched-consents/seen';
    const reason = 'asked the sender';
    const body = { runKey: unknown.journeyId, reason };
    await api.expect(404, path, { token: narrow, body });
    assert.equal((await api.call(path, { token: narrow, body: { runKey: mine, reason } })).json.count, 1);
    const seen = await api.call(path, { body });
    assert.deepEqual([seen.status, seen.json], [200, { accepted: true, count: 1 }], seen.text);
    assert.equal((await api.call(path, { body })).json.count, 0);
    assert.deepEqual(await listed(), []);
    const { data } = await api.expect(200, `/v1/audit/consents?runKey=${unknown.journeyId}`);
    assert.deepEqual([data[0].seenBy, data[0].seenReason, typeof data[0].seenAt], ['platform-7', reason, 'string']);
    const spoiled = await api.call('/v1/unmatched-consents?after=x');
    assert.deepEqual([spoiled.status, spoiled.json.problems[0].parameter], [400, 'after']);
    const tooMany = await api.call('/v1/unmatched-consents?limit=1000');
    assert.deepEqual([tooMany.status, tooMany.json.problems[0].parameter], [422, 'limit']);
  });

  test('a profile that requires proofs accepts a repeated stage that the API signs, and refuses an unsigned one', async () => {
    const input = journeyInput({ stages: ['PREQUAL'], profile: 'deciding', repeatsOpenFor: 'PT1H' });
    const path = `/v1/journeys/${input.journeyId}`;
    await api.expect(201, '/v1/journeys', { body: input });
    await api.until(path, (json) => json.stages?.[0]?.state === 'record');
    const body = { repeat: 'PREQUAL', occurrence: 2, reason: 'the rate lock ran out' };
    const unsigned = await api.call(`${path}/advance`, { body });
    assert.deepEqual([unsigned.status, unsigned.json.code], [409, 'unproven'], unsigned.text);
    assert.match(unsigned.json.detail, /proof/);
    const repeated = await signing.call(`${path}/advance`, { body });
    assert.equal(repeated.status, 200, repeated.text);
    await api.until(path, (json) => json.stages?.[1]?.state === 'record');
  });

  test('a revocation after the share was posted is flagged, and leaves the list once an operator marks it as seen', async () => {
    const input = journeyInput({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
    const { journeyId } = input;
    await api.expect(201, '/v1/journeys', { body: input });
    const granted = consentMessage(journeyId, { applicantId: '1A' });
    await until(async () => ((await api.call('/v1/consents', { body: granted })).status === 200 ? true : undefined));
    await api.until(`/v1/journeys/${journeyId}`, (json) => json.state === 'completed' && json);
    const revoked = consentMessage(journeyId, { applicantId: '1A', decision: 'revoked' });
    const answer = await api.call('/v1/consents', { body: revoked });
    assert.equal(answer.json.postedSharesFlagged, 1, answer.text);
    const flag = await holdOf(journeyId);
    assert.deepEqual([flag.kind, flag.failureType, flag.allowedActions], ['flagged', 'revokedAfterPosting', ['seen']]);
    const body = { decisionId: 'SEEN-1', reason: 'told the secondary user' };
    const seen = await api.call(flag.decideAt, { body });
    assert.deepEqual([seen.status, seen.json], [200, { accepted: true, duplicate: false }], seen.text);
    const again = await api.expect(409, flag.decideAt, { body: { ...body, decisionId: 'SEEN-BY-ANOTHER' } });
    assert.equal(again.code, 'notListed');
    assert.equal((await api.call(flag.decideAt, { body })).json.duplicate, true);
    assert.equal(
      (await api.expect(409, flag.decideAt, { body: { ...body, reason: 'something else' } })).code,
      'differs',
    );
    assert.deepEqual((await api.call(`/v1/holds?runKey=${journeyId}`)).json.data, []);
  });

  test('each flag of a run leaves the list separately when an operator marks it as seen', async () => {
    const runKey = `portfolio:R-${randomUUID().slice(0, 8)}`;
    const ledger = await openLedgerOf(harness);
    const { ledgerId } = ledger.identity;
    const customerTraceNumber = `AR${randomUUID().slice(0, 8)}`;
    const inquiry = { customerTraceNumber, runKey: `${runKey}/A-1`, endUserCode: 'EU123' };
    const answer = { ...RECORD, flagged: 'ssnMismatch' } as Answer;
    await attempted(ledger, { inquiry: { ...inquiry, productCode: 'ACCTRVW' } }, { state: 'answered', answer });
    await ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber });
    const away = {
      runKey,
      profile: 'default',
      endUserCode: 'EU123',
      at: new Date().toISOString(),
      isOver: false,
    };
    await ledger.tasks.flag(ledgerId, { reason: 'PortfolioUnavailable', ...away });
    const rows = async (): Promise<Json[]> => (await api.call(`/v1/holds?runKey=${runKey}`)).json.data;
    const first = (await api.call(`/v1/holds?runKey=${runKey}&limit=1`)).json;
    assert.deepEqual([first.data.length, first.hasMore], [1, true]);
    const flag = (await rows()).find(({ failureType }) => failureType === 'ssnMismatch');
    const path = `/v1/runs/${encodeURIComponent(runKey)}/seen`;
    assert.deepEqual([flag.allowedActions, flag.decideAt, flag.guide.actions[0].action], [['seen'], path, 'seen']);
    const mended = (await rows()).find(({ failureType }) => failureType === 'PortfolioUnavailable');
    assert.deepEqual([mended.allowedActions, mended.decideAt], [[], undefined], 'its cause is to be mended');
    const body = { decisionId: 'SEEN-RUN', flag: 'ssnMismatch', reason: 'the same person, by the file' };
    const seen = await api.call(path, { body });
    assert.deepEqual([seen.status, seen.json], [200, { accepted: true, duplicate: false }], seen.text);
    assert.deepEqual((await rows()).map(({ failureType }) => failureType).toSorted(), [
      'PortfolioUnavailable',
      'reportChanged',
    ]);
    assert.deepEqual((await api.call(path, { body })).json, { accepted: true, duplicate: true });
    assert.equal((await api.expect(409, path, { body: { ...body, reason: 'something else' } })).code, 'differs');
    assert.equal((await api.expect(409, path, { body: { ...body, decisionId: 'SEEN-BY-ANOTHER' } })).code, 'notListed');
    const { flag: _, ...unnamed } = body;
    await api.expect(422, path, { body: unnamed });
    const story = await api.call(`/v1/runs/${encodeURIComponent(runKey)}/story`);
    assert.match(story.text, /the same person, by the file/);
    await ledger.close();
  });
});
