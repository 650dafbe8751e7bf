/** Part of the contract suite: which inquiries need a person. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { OpenInquiry, OutcomeRecord } from '../../src/ledger/records.ts';
import {
  attempted,
  claimOf,
  consentOf,
  decisionOf,
  INQUIRY,
  NO_RECORD,
  outcomeOf,
  RECORD,
  SHARE,
  TRACE,
  UNKNOWN_CODE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';
import { openWork } from './work-rows.ts';

const numbered = (customerTraceNumber: string) => ({ inquiry: { customerTraceNumber } });

async function reasons(ledger: Ledger, query = {}): Promise<Record<string, string | undefined>> {
  const open = await ledger.openInquiries(query);
  if (Object.keys(query).length === 0) await assertCountedAlike(ledger, open);
  return Object.fromEntries(
    open.map(({ customerTraceNumber, undecided, attention }) => [
      customerTraceNumber,
      [...(undecided ? [undecided.failureType] : []), ...attention].join(' '),
    ]),
  );
}

/** What is counted is what is listed, wherever a test asks for the list. */
async function assertCountedAlike(ledger: Ledger, open: readonly OpenInquiry[]): Promise<void> {
  const listed = open.flatMap(({ undecided, attention, attempts, workflowId, lateAnswerAt, lateConsentAt }) => [
    ...(undecided ? [[undecided.failureType, attempts.at(-1)?.claimedAt, workflowId]] : []),
    ...attention.map((reason) => [reason, reason === 'lateAnswer' ? lateAnswerAt : lateConsentAt, workflowId]),
  ]);
  const counted = (await ledger.oldestOpen(100)).map(({ reason, since, workflowId }) => [reason, since, workflowId]);
  assert.deepEqual(counted.map(String).sort(), listed.map(String).sort());
  const rows = await openWork(ledger);
  const needed = open.flatMap(({ customerTraceNumber, undecided, attention }) => [
    ...(undecided ? [['held', customerTraceNumber, undecided.failureType, undecided.attempt]] : []),
    ...attention.map((reason) => ['flagged', customerTraceNumber, reason, undefined]),
  ]);
  const written = rows.map((row) => [row.kind, row.customerTraceNumber, row.reason, row.attempt]);
  assert.deepEqual(written.map(String).sort(), needed.map(String).sort(), 'the rows say the same');
}

export function openInquiryTests(opened: Open, backend: LedgerBackend): void {
  test('those that nobody has decided about are listed with their reason, and no others', async (t) => {
    const { ledger } = await opened(t);
    const outcomes: [string, Partial<OutcomeRecord>][] = [
      ['A-UNKNOWN', { state: 'unknown' }],
      ['B-REFUSED', { state: 'refused' }],
      ['C-NOTENTITLED', { state: 'notEntitled' }],
      ['D-CREDENTIALS', { state: 'credentialsRefused' }],
      ['E-UNTRUSTED', { state: 'untrusted' }],
      ['F-CODE', { state: 'answered', answer: UNKNOWN_CODE }],
      ['G-SHAPE', { state: 'answered', answer: { kind: 'unexpectedResponse', problems: ['/applicants is missing'] } }],
      ['X-NOTSENT', { state: 'notSent' }],
      ['X-THROTTLED', { state: 'notProcessed' }],
      ['X-ANSWERED', { state: 'answered', answer: NO_RECORD }],
    ];
    for (const [trace, outcome] of outcomes) await attempted(ledger, numbered(trace), outcome);
    await ledger.claim(claimOf(ledger, { ...numbered('H-OVERDUE'), answerWithinMs: 0 }));
    await ledger.claim(claimOf(ledger, numbered('X-INFLIGHT')));
    assert.deepEqual(await reasons(ledger), {
      'A-UNKNOWN': 'OutcomeUnknown',
      'B-REFUSED': 'RequestRefused',
      'C-NOTENTITLED': 'NotEntitled',
      'D-CREDENTIALS': 'CredentialsRefused',
      'E-UNTRUSTED': 'GatewayUntrusted',
      'F-CODE': 'ReturnCodeUnknown',
      'G-SHAPE': 'UnexpectedResponse',
      'H-OVERDUE': 'OutcomeUnknown',
    });
    assert.deepEqual(Object.keys(await reasons(ledger, { states: ['sending'] })), ['H-OVERDUE']);
    assert.deepEqual(Object.keys(await reasons(ledger, { states: ['unknown'] })), ['A-UNKNOWN', 'H-OVERDUE']);
    assert.deepEqual(Object.keys(await reasons(ledger, { states: ['answered'] })), ['F-CODE', 'G-SHAPE']);
    const row = (await ledger.openInquiries({ states: ['unknown'] }))[1];
    assert.equal(row?.attempts[0]?.state, 'unknown', 'what is overdue reads as what it is');
    assert.equal((await ledger.lookUp(ledger.identity.ledgerId, 'H-OVERDUE'))?.state, 'unknown');
  });

  test('the oldest are counted first, and no more than were asked for', async (t) => {
    const { ledger } = await opened(t);
    for (const trace of ['C-FIRST', 'A-SECOND', 'B-THIRD']) {
      await attempted(ledger, { ...numbered(trace), run: { workflowId: trace, runId: 'run-1' } }, { state: 'unknown' });
      // Instants are whole milliseconds.
      await delay(2);
    }
    assert.deepEqual(
      (await ledger.oldestOpen(2)).map(({ workflowId }) => workflowId),
      ['C-FIRST', 'A-SECOND'],
    );
  });

  test('a decision takes an inquiry off the list, until its next attempt needs another', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    for (const action of ['resend', 'accept', 'amend', 'abandon'] as const) {
      const customerTraceNumber = `PQ-${action}`;
      await attempted(ledger, numbered(customerTraceNumber), { state: 'unknown' });
      const decision = decisionOf({ customerTraceNumber, action, ...(action === 'accept' ? { answer: RECORD } : {}) });
      await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber }, decision);
    }
    assert.deepEqual(await reasons(ledger), {});
    await attempted(ledger, { ...numbered('PQ-resend'), attempt: 2 }, { state: 'unknown' });
    assert.deepEqual(await reasons(ledger), { 'PQ-resend': 'OutcomeUnknown' });
    assert.equal((await ledger.openInquiries())[0]?.undecided?.attempt, 2);
  });

  test('an attempt that was claimed after an amendment for invalid input stays on the list, and blocks disposal', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const amendment = decisionOf({ action: 'amend', failureType: 'InvalidInput', providerSaid: 'notAsked' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, amendment), { kind: 'recorded' });
    await attempted(ledger, {}, { state: 'unknown' });
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'OutcomeUnknown' });
    assert.deepEqual((await ledger.inquiry(TRACE))?.undecided, { attempt: 1, failureType: 'OutcomeUnknown' });
    const disposal = await ledger.retention.begin({ runKey: 'J-1' }, { by: 'operator', reason: 'a test' });
    assert.deepEqual(disposal.kind === 'refused' && disposal.obstacles, [
      { reason: 'undecided', customerTraceNumber: TRACE },
    ]);
    // The same decision would be refused by now, and so would be to give it up for that reason.
    for (const action of ['amend', 'abandon'] as const) {
      const verdict = await ledger.recordDecision(ledgerId, INQUIRY, { ...amendment, decisionId: 'D-2', action });
      assert.ok(verdict.kind === 'overtaken' && verdict.latest.state === 'unknown');
    }
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'OutcomeUnknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ decisionId: 'D-3', failureType: 'OutcomeUnknown' }));
    assert.deepEqual(await reasons(ledger), {});
  });

  test('a decision about another request, or about what was never claimed, decides nothing', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    const differs = decisionOf({ action: 'amend', failureType: 'RequestDiffers' });
    await ledger.recordDecision(ledgerId, INQUIRY, differs);
    const early = decisionOf({ decisionId: 'D-2', customerTraceNumber: 'PQFRESH', failureType: 'TokenUnavailable' });
    await ledger.recordDecision(ledgerId, claimOf(ledger, numbered('PQFRESH')).inquiry, early);
    await attempted(ledger, numbered('PQFRESH'), { state: 'unknown' });
    // Held before its claim, of which there was one in an earlier run: who said "go on" has not judged that.
    const elsewhere = decisionOf({
      decisionId: 'D-3',
      customerTraceNumber: 'PQMET',
      failureType: 'CredentialsRefused',
    });
    await attempted(ledger, numbered('PQMET'), { state: 'unknown' });
    await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber: 'PQMET' }, elsewhere);
    const expected = { [TRACE]: 'OutcomeUnknown', PQFRESH: 'OutcomeUnknown', PQMET: 'OutcomeUnknown' };
    assert.deepEqual(await reasons(ledger), expected);
    assert.equal((await ledger.inquiry('PQMET'))?.undecided?.failureType, 'OutcomeUnknown');
  });

  test('a resend that nobody has spent shows in how the inquiry stands', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, undefined);
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, true);
    const again = await ledger.claim(claimOf(ledger));
    assert.ok(again.kind === 'latest' && again.latest.resendStands);
    await attempted(ledger, { attempt: 2 }, { state: 'unknown' });
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, undefined, 'it is spent');
  });

  test('what came too late is listed until somebody has seen to it, and again when more comes', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'abandon' }));
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'the provider deletes it' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'nothingToSee' });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'lateAnswer' });
    assert.deepEqual(await reasons(ledger, { states: [] }), { [TRACE]: 'lateAnswer' });
    await assert.rejects(ledger.recordSeen('ledger-x', seen), LedgerChangedError);
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    assert.deepEqual(await reasons(ledger), {});
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'known', paths: [] });
    const another = { ...seen, by: 'audit' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, another), { kind: 'known', paths: ['/by'] });
    const again = { ...seen, decisionId: 'D-10' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, again), { kind: 'nothingToSee' });
    const view = await ledger.inquiry(TRACE);
    assert.ok(view?.seenAt && view.lateAnswerAt, 'it is remembered');

    await attempted(ledger, { inquiry: SHARE, consents: [consentOf()] }, { state: 'answered', answer: RECORD });
    const revoked = consentOf({ decision: 'revoked' });
    await ledger.flagPostedShares(ledgerId, revoked);
    const { customerTraceNumber = '' } = SHARE;
    assert.deepEqual(await reasons(ledger), { [customerTraceNumber]: 'lateConsent' });
    await ledger.recordSeen(ledgerId, { ...seen, customerTraceNumber });
    // The next millisecond: instants are compared.
    await new Promise((resolve) => setTimeout(resolve, 2));
    await ledger.flagPostedShares(ledgerId, revoked);
    assert.deepEqual(await reasons(ledger), { [customerTraceNumber]: 'lateConsent' });
  });

  test('since leaves out what is older, by claim or by what drew attention', async (t) => {
    const { ledger, url } = await opened(t);
    for (const trace of ['OLD', 'NEW', 'OLD-LATE', 'NEW-LATE']) {
      const isLate = trace.endsWith('LATE');
      const outcome = isLate ? { state: 'answered' as const, answer: RECORD } : { state: 'unknown' as const };
      await attempted(ledger, numbered(trace), outcome);
    }
    await backend.execute(url, "UPDATE attempts SET claimed_at = 1000 WHERE customer_trace_number LIKE 'OLD%'");
    const draw = (trace: string, at: number) =>
      backend.execute(url, `UPDATE inquiries SET late_answer_at = ${at} WHERE customer_trace_number = '${trace}'`);
    await draw('OLD-LATE', 1000);
    await draw('NEW-LATE', 3000);
    // Written behind the ledger's back: no row says so.
    const all = await reasons(ledger, { since: '1970-01-01T00:00:00Z' });
    assert.deepEqual(Object.keys(all).sort(), ['NEW', 'NEW-LATE', 'OLD', 'OLD-LATE']);
    assert.deepEqual(await reasons(ledger, { since: '1970-01-01T00:00:02Z' }), {
      NEW: 'OutcomeUnknown',
      'NEW-LATE': 'lateAnswer',
    });
    await assert.rejects(ledger.openInquiries({ since: 'yesterday' }), RangeError);
  });

  test('one inquiry is read by its trace number', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await ledger.inquiry(TRACE), null);
    await attempted(ledger, {}, { state: 'unknown' });
    const { undecided, attention, ...view } = (await ledger.inquiry(TRACE)) ?? assert.fail();
    assert.deepEqual([undecided, attention], [{ attempt: 1, failureType: 'OutcomeUnknown' }, []]);
    assert.deepEqual(view, (await ledger.inquiriesOf('J-1'))[0]);
  });
}
