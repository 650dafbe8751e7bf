/** Part of the contract suite: inquiries that need a decision by an operator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { OutcomeRecord } from '../../src/ledger/records.ts';
import { openInquiries, readAttention } from '../support/open-inquiries.ts';
import {
  attempted,
  claimAs,
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
import type { Open } from './ledger-backend.ts';
import { openWork } from './work-rows.ts';

const numbered = (customerTraceNumber: string) => ({ inquiry: { customerTraceNumber } });

async function reasons(ledger: Ledger): Promise<Record<string, string | undefined>> {
  const open = await openInquiries(ledger);
  await assertRowsAlike(ledger, open);
  return Object.fromEntries(
    open.map(({ customerTraceNumber, undecided, attention }) => [
      customerTraceNumber,
      [...(undecided ? [undecided.failureType] : []), ...attention].join(' '),
    ]),
  );
}

/** Checks that the open rows match what the rules say about each inquiry. */
async function assertRowsAlike(ledger: Ledger, open: Awaited<ReturnType<typeof openInquiries>>): Promise<void> {
  const rows = await openWork(ledger);
  const needed = open.flatMap(({ customerTraceNumber, undecided, attention }) => [
    ...(undecided ? [['held', customerTraceNumber, undecided.failureType, undecided.attempt]] : []),
    ...attention.map((reason) => ['flagged', customerTraceNumber, reason, undefined]),
  ]);
  const written = rows.map((row) => [row.kind, row.customerTraceNumber, row.reason, row.attempt]);
  assert.deepEqual(written.map(String).sort(), needed.map(String).sort(), 'the rows say the same');
}

export function openInquiryTests(opened: Open): void {
  test('only undecided inquiries are listed, each with its reason', async (t) => {
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
    await claimAs(ledger, { ...numbered('H-OVERDUE'), answerWithinMs: 0 });
    await claimAs(ledger, numbered('X-INFLIGHT'));
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
    const row = await ledger.inquiry('H-OVERDUE');
    assert.equal(row?.attempts[0]?.state, 'unknown', 'what is overdue reads as what it is');
    assert.equal((await ledger.lookUp(ledger.identity.ledgerId, 'H-OVERDUE'))?.state, 'unknown');
  });

  test('a decision removes an inquiry from the list until its next attempt needs another decision', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    for (const action of ['resend', 'accept', 'amend', 'abandon'] as const) {
      const customerTraceNumber = `PQ-${action}`;
      await attempted(ledger, numbered(customerTraceNumber), { state: 'unknown' });
      const decision = decisionOf({ customerTraceNumber, action, ...(action === 'accept' ? { answer: RECORD } : {}) });
      await ledger.recordDecision(ledgerId, { ...INQUIRY, customerTraceNumber }, decision);
    }
    assert.deepEqual(await reasons(ledger), {});
    await attempted(ledger, { ...numbered('PQ-resend'), attempt: 2 }, { state: 'unknown' });
    assert.deepEqual(await reasons(ledger), { 'PQ-resend': 'OutcomeUnknown' });
    assert.equal((await openInquiries(ledger))[0]?.undecided?.attempt, 2);
  });

  test('an attempt that was claimed after an amendment for invalid input stays on the list and blocks disposal', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const amendment = decisionOf({ action: 'amend', failureType: 'InvalidInput', providerSaid: 'notAsked' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, amendment), { kind: 'recorded' });
    await attempted(ledger, {}, { state: 'unknown' });
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'OutcomeUnknown' });
    assert.deepEqual((await ledger.inquiry(TRACE))?.undecided, { attempt: 1, failureType: 'OutcomeUnknown' });
    const disposal = await ledger.retention.begin('J-1', { by: 'operator', reason: 'a test' });
    assert.deepEqual(disposal.kind === 'refused' && disposal.obstacles, [
      { reason: 'undecided', customerTraceNumber: TRACE },
    ]);
    // The ledger would now refuse the same amendment, and an abandon for the same reason.
    for (const action of ['amend', 'abandon'] as const) {
      const verdict = await ledger.recordDecision(ledgerId, INQUIRY, { ...amendment, decisionId: 'D-2', action });
      assert.ok(verdict.kind === 'overtaken' && verdict.latest.state === 'unknown');
    }
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'OutcomeUnknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ decisionId: 'D-3', failureType: 'OutcomeUnknown' }));
    assert.deepEqual(await reasons(ledger), {});
  });

  test('a decision about another request, or about an attempt that was never claimed, leaves the inquiry undecided', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    const differs = decisionOf({ action: 'amend', failureType: 'RequestDiffers' });
    await ledger.recordDecision(ledgerId, INQUIRY, differs);
    const early = decisionOf({ decisionId: 'D-2', customerTraceNumber: 'PQFRESH', failureType: 'TokenUnavailable' });
    await ledger.recordDecision(ledgerId, claimOf(ledger, numbered('PQFRESH')).inquiry, early);
    await attempted(ledger, numbered('PQFRESH'), { state: 'unknown' });
    // The decision is about a hold before the claim, so it does not settle the attempt of an earlier run.
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

  test('the state of an inquiry shows a resend that no claim has spent', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, undefined);
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, true);
    const again = await claimAs(ledger);
    assert.ok(again.kind === 'latest' && again.latest.resendStands);
    await attempted(ledger, { attempt: 2 }, { state: 'unknown' });
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.resendStands, undefined, 'it is spent');
  });

  test('a late answer or revocation is listed until an operator marks it as seen, and again when another arrives', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'abandon' }));
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'the provider deletes it' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'nothingToSee' });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    assert.deepEqual(await reasons(ledger), { [TRACE]: 'lateAnswer' });
    await assert.rejects(ledger.recordSeen('ledger-x', seen), LedgerChangedError);
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    assert.deepEqual(await reasons(ledger), {});
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'known', paths: [] });
    const another = { ...seen, by: 'audit' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, another), { kind: 'known', paths: ['/by'] });
    const again = { ...seen, decisionId: 'D-10' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, again), { kind: 'nothingToSee' });
    const [flag] = (await ledger.tasks.of('J-1')).filter(({ kind }) => kind === 'flagged');
    assert.deepEqual([flag?.closedHow, flag?.closedBy], ['seen', 'D-9'], 'it is remembered');

    await attempted(ledger, { inquiry: SHARE, consents: [consentOf()] }, { state: 'answered', answer: RECORD });
    const revoked = consentOf({ decision: 'revoked' });
    await ledger.flagPostedShares(ledgerId, revoked);
    const { customerTraceNumber = '' } = SHARE;
    assert.deepEqual(await reasons(ledger), { [customerTraceNumber]: 'revokedAfterPosting' });
    await ledger.recordSeen(ledgerId, { ...seen, customerTraceNumber });
    await ledger.flagPostedShares(ledgerId, revoked);
    assert.deepEqual(await reasons(ledger), { [customerTraceNumber]: 'revokedAfterPosting' });
  });

  test('an inquiry is read by its trace number', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await ledger.inquiry(TRACE), null);
    await attempted(ledger, {}, { state: 'unknown' });
    const { undecided, ...view } = (await ledger.inquiry(TRACE)) ?? assert.fail();
    assert.deepEqual(undecided, { attempt: 1, failureType: 'OutcomeUnknown' });
    assert.deepEqual(await readAttention(ledger, TRACE), []);
    assert.deepEqual(view, (await ledger.inquiriesOf('J-1'))[0]);
  });
}
