/** The search, and the story of a run: with a worker, without a worker, and for a lost run. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { readLedgerStory } from '../../../src/operations/page.ts';
import { describeStanding, toRunView } from '../../../src/words/runs.ts';
import { withLedger } from '../../hazards/operator-hands.ts';
import { attempted, RECORD } from '../../ledger/fixtures.ts';
import { applicant, consentMessage, journeyInput, newSsn } from '../../support/journey-harness.ts';
import { type Json, token, useApi } from '../fixtures.ts';
import { until } from '../until.ts';

const { harness, api } = useApi({ temporalUi: 'https://ui.example.com' });
const far = await token({ endUsers: ['EU999'] });

function storyOf(runKey: string, bearer?: string) {
  return api.call(`/v1/runs/${encodeURIComponent(runKey)}/story`, bearer === undefined ? {} : { token: bearer });
}

async function found(q: string, bearer?: string): Promise<Json[]> {
  const json = await api.expect(200, `/v1/search?q=${encodeURIComponent(q)}`, bearer ? { token: bearer } : {});
  return json.data;
}

/** Starts a journey whose first inquiry was posted and whose answer was lost. */
async function held(): Promise<{ journeyId: string; hold: Json; input: Json }> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
  await api.expect(201, '/v1/journeys', { body: input });
  const hold = await until(async () => {
    const { json } = await api.call(`/v1/holds?runKey=${input.journeyId}`);
    return json.data[0];
  });
  return { journeyId: input.journeyId, hold, input };
}

const STEADY = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

test('a story shows the state of a run and its past events', async () => {
  const { journeyId, hold, input } = await held();
  const { json: before } = await storyOf(journeyId);
  const { json: status } = await api.call(`/v1/journeys/${journeyId}`);
  // The headline has the same words as everywhere.
  assert.equal(before.headline, describeStanding(toRunView(status)));
  assert.match(before.headline, /^An operator must decide about PREQUAL \(OutcomeUnknown\), since /);
  assert.deepEqual([before.fromLedger, before.isWhole], [false, true]);
  assert.equal(before.temporalUi, `https://ui.example.com/namespaces/default/workflows/journey-${journeyId}`);
  assert.deepEqual(
    before.lines.map(({ text }: Json) => text.replace(/;.*/, '')),
    ['The run was started.', 'PREQUAL, attempt 1: unknown (perhaps posted).', 'On hold: PREQUAL: OutcomeUnknown'],
  );
  const [action] = hold.guide.actions.filter((one: Json) => one.action === 'abandon');
  assert.match(action.does, /^Nothing more is ever sent under this trace number\./);
  const decision = {
    ...{ decisionId: `D-${randomUUID().slice(0, 8)}`, customerTraceNumber: hold.customerTraceNumber, attempt: 1 },
    ...{ action: 'abandon', providerSaid: 'posted', reason: 'they were called' },
  };
  await api.expect(200, hold.decideAt, { body: decision });
  const after = await until(async () => {
    const { json } = await storyOf(journeyId);
    return json.state === 'abandoned' ? json : undefined;
  });
  const decided = after.lines.find(({ by }: Json) => by !== undefined);
  assert.deepEqual([decided.by, decided.reason], ['platform-7', 'they were called']);
  assert.match(decided.text, new RegExp(`^Decision ${decision.decisionId}: abandon, PREQUAL, .*provider said posted`));
  assert.equal(after.headline, 'It has ended: an operator gave up the inquiry of a stage.');
  assert.deepEqual(
    after.lines.map(({ at }: Json) => at),
    after.lines.map(({ at }: Json) => at).toSorted(),
  );
  assert.ok(after.lines.every(({ at }: Json) => STEADY.test(at)));
  const { firstName, lastName, ssn } = input.applicants[0];
  for (const personal of [firstName, lastName, ssn].filter((value) => typeof value === 'string')) {
    assert.ok(!JSON.stringify(after).includes(personal));
  }
});

test('a story and the list of inquiries name the matter of each legal hold that covers the run', async () => {
  const { journeyId } = await held();
  const who = { by: 'counsel', reason: 'asked for by the court' };
  await withLedger(harness, async (ledger) => {
    for (const matter of ['M-1', 'M-2']) await ledger.retention.setLegalHold(journeyId, { ...who, matter });
    const inquiry = { runKey: 'portfolio:R-1/A-1', customerTraceNumber: `AR${randomUUID()}` };
    await attempted(ledger, { inquiry }, { state: 'notSent' });
    await ledger.retention.setLegalHold('portfolio:R-1', { ...who, matter: 'M-3' });
    const { lines } = await readLedgerStory(ledger, inquiry.runKey);
    assert.ok(lines.some(({ text }) => text === 'It came under a legal hold. Matter: M-3.'));
  });
  const { lines } = (await storyOf(journeyId)).json;
  const holds = lines.filter(({ text }: Json) => text.startsWith('It came under a legal hold.'));
  assert.deepEqual(
    holds.map(({ text, by }: Json) => [text, by]),
    ['M-1', 'M-2'].map((matter) => [`It came under a legal hold. Matter: ${matter}.`, 'counsel']),
  );
  const { data: inquiries } = (await api.call(`/v1/inquiries?runKey=${journeyId}`)).json;
  assert.deepEqual(
    inquiries[0].legalHolds.map(({ runKey: of, matter, reason }: Json) => [of, matter, reason]),
    ['M-1', 'M-2'].map((matter) => [journeyId, matter, who.reason]),
  );
});

test('a story shows what a share waits for, and the consents of each applicant', async () => {
  const shareId = `S-${randomUUID().slice(0, 8)}`;
  const input = journeyInput({ stages: ['PREQUAL'], shares: [{ shareId, endUserCode: 'EU999' }] });
  const { journeyId } = input;
  await api.expect(201, '/v1/journeys', { body: input });
  const waiting = await until(async () => {
    const { json } = await storyOf(journeyId);
    return json.state === 'waitingForConsent' ? json : undefined;
  });
  assert.match(
    waiting.headline,
    new RegExp(`^Waits for the consent of 1A to share ${shareId}, until .*; silence means no\\.$`),
  );
  const denied = consentMessage(journeyId, { shareId, applicantId: '1A', decision: 'denied' });
  await api.expect(200, '/v1/consents', { body: denied });
  const lines: Json[] = await until(async () => {
    const { json } = await storyOf(journeyId);
    return json.lines.some(({ text }: Json) => text.startsWith('Consent')) ? json.lines : undefined;
  });
  assert.ok(
    lines.some(
      ({ text }) => text === `Consent denied by applicant 1A: share ${shareId} with EU999, ${denied.consentId}.`,
    ),
    JSON.stringify(lines),
  );
  assert.deepEqual(await found(shareId), [{ what: 'share', runKey: journeyId, shareId }]);
  assert.deepEqual(await found(shareId, far), []);
});

test('a story comes from the ledger alone if no worker answers or the run is lost', async () => {
  const { journeyId } = await held();
  await harness.stopWorker();
  try {
    const startedAt = performance.now();
    const { status, json } = await storyOf(journeyId);
    const tookMs = performance.now() - startedAt;
    assert.deepEqual([status, json.fromLedger, json.state], [200, true, 'held']);
    assert.match(
      json.headline,
      /^No worker answers: this is what the ledger has\. An operator must decide about PREQUAL/,
    );
    assert.ok(tookMs < 4_000, `${tookMs} ms`);
    await harness.client.workflow.getHandle(`journey-${journeyId}`).terminate('gone');
    const { json: ended } = await storyOf(journeyId);
    assert.deepEqual([ended.fromLedger, ended.state], [true, 'held']);
    assert.match(ended.headline, /^The run has ended, and no worker can answer for it: /);
  } finally {
    await harness.startWorker();
  }
});

test('a run that Temporal has no more, as after its retention, is gone and not lost', async () => {
  const runKey = `pull:P-${randomUUID().slice(0, 8)}`;
  const inquiry = { runKey, customerTraceNumber: `CR${randomUUID()}` };
  await withLedger(harness, (ledger) => attempted(ledger, { inquiry }, { state: 'answered', answer: RECORD }));
  const { state, headline } = (await storyOf(runKey)).json;
  assert.deepEqual([state, headline.split(':')[0]], ['gone', `Temporal has no run of pull ${runKey.slice(5)}`]);
});

test('a list hides the hold of a run that may still pull for an end user out of the token’s reach', async () => {
  const input = journeyInput({
    ...{ stages: ['PREQUAL', 'PREAPP'], applicants: [applicant('1A', newSsn('4002'))] },
    endUserCodes: { PREAPP: 'EU2' },
  });
  await api.expect(201, '/v1/journeys', { body: input });
  const seenBy = async (endUsers: string[]) => {
    const bearer = await token({ endUsers });
    return (await api.call(`/v1/holds?runKey=${input.journeyId}`, { token: bearer })).json.data.length;
  };
  await until(async () => ((await seenBy(['EU123', 'EU2'])) === 1 ? true : undefined));
  assert.deepEqual([await seenBy(['EU123']), await seenBy(['EU2']), await seenBy(['*'])], [0, 0, 1]);
});

test('a search finds complete ids of each kind, and nothing out of the token’s reach', async () => {
  const { journeyId, hold } = await held();
  const trace = hold.customerTraceNumber;
  const decisionId = `D-${randomUUID().slice(0, 8)}`;
  const pullId = `P-${randomUUID().slice(0, 8)}`;
  const pull = { pullId, productCode: 'CR', endUserCode: 'EU123', permissiblePurposeCode: '01' };
  await api.expect(201, '/v1/pulls', { body: { ...pull, applicants: [applicant('1A')] } });
  const decision = { decisionId, customerTraceNumber: trace, attempt: 1, action: 'abandon', reason: 'a test' };
  await api.expect(200, hold.decideAt, { body: { ...decision, providerSaid: 'posted' } });
  // As a Temporal Schedule names it. Its file is missing, so that it fails at once.
  const reviewId = `R-${randomUUID().slice(0, 8)}-2026-01-02T03:04:05Z`;
  const review = { reviewId, endUserCode: 'EU123', permissiblePurposeCode: '01', file: 'none.csv' };
  await api.expect(201, '/v1/portfolio-reviews', { body: review });
  const expected: [q: string, matches: Json[]][] = [
    [reviewId, [{ what: 'portfolio', runKey: `portfolio:${reviewId}` }]],
    [`portfolio:${'r'.repeat(60)}/${'a'.repeat(60)}`, []],
    [journeyId, [{ what: 'journey', runKey: journeyId }]],
    [` ${journeyId} `, [{ what: 'journey', runKey: journeyId }]],
    [pullId, [{ what: 'pull', runKey: `pull:${pullId}` }]],
    [`pull:${pullId}`, [{ what: 'pull', runKey: `pull:${pullId}` }]],
    [`share:${pullId}`, []],
    [trace, [{ what: 'inquiry', runKey: journeyId, customerTraceNumber: trace }]],
    [decisionId, [{ what: 'decision', runKey: journeyId, customerTraceNumber: trace, decisionId }]],
    [journeyId.slice(0, -1), []],
    ['Jane Doe', []],
    ['912-34-5678', []],
  ];
  for (const [q, matches] of expected) {
    assert.deepEqual(await found(q), matches, q);
    assert.deepEqual(await found(q, far), [], `${q} out of reach`);
  }
  for (const q of ['', '   ', 'x'.repeat(151)]) {
    await api.expect(422, `/v1/search?q=${encodeURIComponent(q)}`);
  }
});

test('a search that lists a part of its matches says so, and has no next page', async () => {
  const shareId = `S-${randomUUID().slice(0, 8)}`;
  const search = () => api.expect(200, `/v1/search?q=${shareId}`);
  const share = (ledger: Ledger) => {
    const inquiry = { runKey: `J-${randomUUID()}`, customerTraceNumber: `PQ${randomUUID()}`, shareId };
    return attempted(ledger, { inquiry }, { state: 'notSent' });
  };
  await withLedger(harness, async (ledger) => {
    for (let n = 0; n < 20; n += 1) await share(ledger);
    const { data, ...rest } = await search();
    assert.deepEqual([data.length, rest], [20, { isWhole: true }]);
    await share(ledger);
  });
  const { data, ...rest } = await search();
  assert.deepEqual([data.length, rest], [20, { isWhole: false }]);
});
