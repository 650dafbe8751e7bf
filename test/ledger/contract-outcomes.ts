/** Part of the contract suite: outcomes, late ones among them, and sealed reports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import { openInquiries, readAttention } from '../support/open-inquiries.ts';
import {
  attempted,
  claimAs,
  closeOf,
  consentOf,
  decisionOf,
  INQUIRY,
  NO_RECORD,
  outcomeOf,
  RECORD,
  readSealedReport,
  SHARE,
  TRACE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

export function outcomeTests(opened: Open, backend: LedgerBackend): void {
  test('an outcome is recorded once, and recording it again changes nothing', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger);
    const record = outcomeOf(ledger, {
      state: 'answered',
      answer: RECORD,
      httpStatus: 200,
      requestedAt: '2026-01-02T05:04:05.5+02:00',
    });
    assert.equal(await ledger.recordOutcome(record), 'recorded');
    assert.equal(await ledger.recordOutcome(record), 'already');
    const { httpStatus: _, ...lessKnown } = record;
    assert.equal(await ledger.recordOutcome(lessKnown), 'already', 'a run knows less than its activity did');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.requestedAt, '2026-01-02T03:04:05.500Z');
    assert.equal(inquiry?.attempts[0]?.httpStatus, 200);
    assert.deepEqual(await readAttention(ledger, TRACE), []);
  });

  test('an outcome keeps its retry-after, HTTP status and failure type', async (t) => {
    const { ledger } = await opened(t);
    const news = { state: 'notProcessed', failureType: 'Throttled', httpStatus: 429, retryAfterMs: 7_000 } as const;
    await attempted(ledger, {}, news);
    const seen = await ledger.lookUp(ledger.identity.ledgerId, TRACE);
    assert.deepEqual({ ...news, ...seen }, seen);
  });

  test('an answer to a superseded attempt is kept as a late answer, never returned, and flagged', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const late = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(late, '{"late":true}'), 'late');
    assert.equal(await ledger.recordOutcome(late, '{"late":true}'), 'late');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.state, 'unknown');
    assert.ok(inquiry?.attempts[0]?.lateAnswerAt);
    assert.deepEqual(await readAttention(ledger, TRACE), ['lateAnswer']);
    assert.deepEqual((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.answer, NO_RECORD);
    assert.equal(await readSealedReport(ledger, 'J-1', 'PREQUAL'), null, 'not even its report');
  });

  test('an attempt that was answered late, while later ones were not sent, holds the inquiry until an operator decides', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
    await attempted(ledger, { attempt: 2 }, { state: 'notSent' });
    const report = '{"late":true}';
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), report), 'late');

    const verdict = await claimAs(ledger, { attempt: 3 });
    assert.ok(verdict.kind === 'latest');
    const { claimedAt: _, runId: __, ...held } = verdict.latest;
    assert.deepEqual(held, { attempt: 1, latest: 2, state: 'unknown', failureType: 'AnsweredLate' });
    assert.deepEqual((await ledger.inquiry(TRACE))?.undecided, { attempt: 1, failureType: 'AnsweredLate' });
    const listed = await openInquiries(ledger);
    assert.deepEqual(
      listed.map(({ undecided }) => undecided),
      [{ attempt: 1, failureType: 'AnsweredLate' }],
    );
    const { rows } = await ledger.tasks.open({ runKey: 'J-1', limit: 5 });
    assert.deepEqual(rows.map(({ kind, reason }) => [kind, reason]).sort(), [
      ['flagged', 'lateAnswer'],
      ['held', 'AnsweredLate'],
    ]);

    const passingOver = decisionOf({ decisionId: 'D-2', attempt: 3, failureType: 'GatewayUnreachable' });
    assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, passingOver)).kind, 'overtaken');
    const again = decisionOf({ decisionId: 'D-3', failureType: 'AnsweredLate' });
    assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, again)).kind, 'overtaken');
    assert.equal(await readSealedReport(ledger, 'J-1', 'PREQUAL'), null, 'it is not judged yet');

    const accept = { action: 'accept', failureType: 'AnsweredLate', answer: RECORD } as const;
    const decision = decisionOf({ decisionId: 'D-4', ...accept });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decision), { kind: 'recorded' });
    const settled = await claimAs(ledger, { attempt: 3 });
    assert.ok(settled.kind === 'latest' && settled.latest.state === 'accepted');
    assert.deepEqual(settled.latest.answer, RECORD);
    assert.equal((await readSealedReport(ledger, 'J-1', 'PREQUAL'))?.body, report);
    assert.equal((await ledger.inquiry(TRACE))?.undecided, undefined);
    const left = await ledger.tasks.open({ runKey: 'J-1', limit: 5 });
    assert.deepEqual(
      left.rows.map(({ kind }) => kind),
      ['flagged'],
    );
  });

  test('an attempt that is answered late while the next is in flight holds the inquiry once the next was not sent', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
    await claimAs(ledger, { attempt: 2 });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'sending');
    await ledger.recordOutcome(outcomeOf(ledger, { attempt: 2, state: 'notSent' }));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.failureType, 'AnsweredLate');
    const { rows } = await ledger.tasks.open({ runKey: 'J-1', limit: 5 });
    assert.ok(rows.some(({ kind, reason }) => kind === 'held' && reason === 'AnsweredLate'));
    const close = closeOf(ledger, { attempt: 3 });
    assert.equal((await ledger.closeAttempt(close)).failureType, 'AnsweredLate', 'no further attempt is closed either');
  });

  test('stored answers contain no readable consumer id', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const rows = await backend.execute(url, 'SELECT * FROM attempts');
    assert.equal(rows.length, 1);
    const bytes = Object.values(rows[0] as object).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    );
    assert.ok(!bytes.join('\n').includes('CONSUMER-SENTINEL'));
    assert.ok(bytes.includes('record'), 'the outcome is there for those who count');
  });

  test('a look-up finds nothing before a claim, and each operation refuses another ledger’s id', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await ledger.lookUp(ledger.identity.ledgerId, TRACE), null);
    await assert.rejects(ledger.lookUp('ledger-x', TRACE), LedgerChangedError);
    await assert.rejects(ledger.recordOutcome(outcomeOf(ledger, { ledgerId: 'ledger-x' })), LedgerChangedError);
    await assert.rejects(ledger.recordDecision('ledger-x', INQUIRY, decisionOf({})), LedgerChangedError);
    await assert.rejects(ledger.recordConsents('ledger-x', [consentOf()]), LedgerChangedError);
    await assert.rejects(ledger.flagPostedShares('ledger-x', consentOf()), LedgerChangedError);
    assert.deepEqual(await ledger.inquiriesOf('J-1'), []);
  });

  test('rows cannot be deleted, and decisions and consents cannot be changed', async (t) => {
    const { ledger, url } = await opened(t);
    const consents = [consentOf()];
    await attempted(ledger, { inquiry: SHARE, consents }, { state: 'unknown' });
    const { customerTraceNumber = '' } = SHARE;
    await ledger.recordDecision(
      ledger.identity.ledgerId,
      { ...INQUIRY, ...SHARE },
      decisionOf({ customerTraceNumber }),
    );
    for (const statement of [
      'DELETE FROM attempts',
      'DELETE FROM inquiries',
      'DELETE FROM ledger_identity',
      'DELETE FROM decisions',
      "UPDATE decisions SET reason = 'x'",
      'DELETE FROM consents',
      "UPDATE consents SET decision = 'revoked'",
      'DELETE FROM attempt_consents',
    ]) {
      await assert.rejects(backend.execute(url, statement), /kept as they are/, statement);
    }
  });
}

export function reportTests(opened: Open): void {
  test('the newest answered report is returned byte for byte', async (t) => {
    const { ledger } = await opened(t);
    const body = JSON.stringify({ names: ['Zoë', '😀'], filler: 'x'.repeat(200_000) });
    await claimAs(ledger);
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{"first":1}');
    const again = { customerTraceNumber: 'PQAGAIN', ordinal: 1 };
    await claimAs(ledger, { inquiry: again });
    const newest = outcomeOf(ledger, { ...again, state: 'answered', answer: NO_RECORD });
    await ledger.recordOutcome(newest, body);
    const report = await readSealedReport(ledger, 'J-1', 'PREQUAL');
    assert.equal(report?.body, body);
    assert.equal(report?.customerTraceNumber, 'PQAGAIN');
    assert.equal((await readSealedReport(ledger, 'J-1', 'PREQUAL', INQUIRY.customerTraceNumber))?.body, '{"first":1}');
    for (const [runKey, productCode, trace] of [
      ['J-1', 'PREQUAL', 'PQOTHER'],
      ['J-2', 'PREQUAL', 'PQAGAIN'],
      ['J-1', 'PREAPP', 'PQAGAIN'],
    ] as const) {
      assert.equal(await readSealedReport(ledger, runKey, productCode, trace), null);
    }
    assert.equal(await readSealedReport(ledger, 'J-1', 'PREAPP'), null);
    assert.equal(await readSealedReport(ledger, 'J-2', 'PREQUAL'), null);
  });

  test('a report that was missing when its outcome was recorded can be added later, once', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    assert.equal(await readSealedReport(ledger, 'J-1', 'PREQUAL'), null);
    const record = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(record, '{"a":1}'), 'already');
    assert.equal(await ledger.recordOutcome(record, '{"a":2}'), 'already');
    assert.equal((await readSealedReport(ledger, 'J-1', 'PREQUAL'))?.body, '{"a":1}');
  });
}
