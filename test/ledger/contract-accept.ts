/** Part of the contract suite: an `accept` never gives one person's report to another request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, InquiryDescription } from '../../src/model/inquiry.ts';
import { attempted, claimAs, decisionOf, INQUIRY, outcomeOf, SHARE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

type Opened = Awaited<ReturnType<Open>>['ledger'];

function answerOf(reportReferenceNumber: string, consumers: Record<string, string>): Answer & { kind: 'outcome' } {
  const applicants = Object.entries(consumers).map(([applicantId, consumerId]) => ({ applicantId, consumerId }));
  const reference = { reportReferenceNumber, requestedAt: '2026-01-02T03:04:05.000Z', applicants };
  return { kind: 'outcome', outcome: 'record', returnCode: 'Record', reference };
}

/** Describes an inquiry of its own run, with one applicant. */
function inquiryOf(name: string, change: Partial<InquiryDescription> = {}): InquiryDescription {
  return { ...INQUIRY, customerTraceNumber: `PQ-${name}`, runKey: `J-${name}`, ...change };
}

async function unknown(ledger: Opened, inquiry: InquiryDescription): Promise<InquiryDescription> {
  await attempted(ledger, { inquiry }, { state: 'unknown' });
  return inquiry;
}

function answered(ledger: Opened, inquiry: InquiryDescription, answer: Answer) {
  return attempted(ledger, { inquiry }, { state: 'answered', answer });
}

function accept(ledger: Opened, inquiry: InquiryDescription, answer: Answer, change: object = {}) {
  const { customerTraceNumber } = inquiry;
  const about = { customerTraceNumber, action: 'accept', failureType: 'OutcomeUnknown' } as const;
  const decision = decisionOf({ ...about, answer, ...change });
  return ledger.recordDecision(ledger.identity.ledgerId, inquiry, decision);
}

async function reasonOf(verdict: ReturnType<Opened['recordDecision']>): Promise<string> {
  const found = await verdict;
  return found.kind === 'refused' ? found.reason : `not refused but ${found.kind}`;
}

export function acceptTests(opened: Open, backend: LedgerBackend): void {
  test('accept refuses a reference number that belongs to another inquiry, and the hold stays open', async (t) => {
    const { ledger } = await opened(t);
    const theirs = inquiryOf('theirs');
    await answered(ledger, theirs, answerOf('R-1', { '1A': 'C-1' }));
    const ours = await unknown(ledger, inquiryOf('ours'));
    const refused = accept(ledger, ours, answerOf('R-1', { '1A': 'C-2' }), { confirmConsumerIds: true });
    assert.match(await reasonOf(refused), /^\/reference\/reportReferenceNumber must be the reference of this inquiry/);
    assert.equal((await ledger.inquiry(ours.customerTraceNumber))?.undecided?.attempt, 1);
    assert.deepEqual((await ledger.inquiry(ours.customerTraceNumber))?.decisions, []);
    assert.deepEqual(await accept(ledger, ours, answerOf('R-2', { '1A': 'C-2' })), { kind: 'recorded' });
    // The ledger also knows a number that an operator has accepted before.
    const third = await unknown(ledger, inquiryOf('third'));
    assert.match(await reasonOf(accept(ledger, third, answerOf('R-2', { '1A': 'C-3' }))), /^\/reference\/report/);
  });

  test('accept takes the reference number of a late answer to the same inquiry', async (t) => {
    const { ledger } = await opened(t);
    const ours = await unknown(ledger, inquiryOf('ours'));
    const { customerTraceNumber } = ours;
    const resend = decisionOf({ customerTraceNumber, decisionId: 'resend', failureType: 'OutcomeUnknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, ours, resend);
    await attempted(ledger, { inquiry: ours, attempt: 2 }, { customerTraceNumber, attempt: 2, state: 'unknown' });
    const answer = answerOf('R-1', { '1A': 'C-1' });
    assert.equal(
      await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer })),
      'late',
    );
    assert.deepEqual(await accept(ledger, ours, answer, { attempt: 2 }), { kind: 'recorded' });
  });

  test('a consumerId that only other applicants have needs a confirmation, which the ledger keeps', async (t) => {
    const { ledger, url } = await opened(t);
    const theirs = inquiryOf('theirs');
    await answered(ledger, theirs, answerOf('R-1', { '1A': 'C-1' }));
    const ours = await unknown(ledger, inquiryOf('ours'));
    const answer = answerOf('R-2', { '1A': 'C-NEW', '2A': 'C-1' });
    const asked = await reasonOf(accept(ledger, ours, answer));
    assert.match(asked, /^\/reference\/applicants\/1\/consumerId must be confirmed by confirmConsumerIds/);
    assert.doesNotMatch(asked, /C-1/);
    assert.deepEqual(await accept(ledger, ours, answer, { confirmConsumerIds: true }), { kind: 'recorded' });
    const [decision] = (await ledger.inquiry(ours.customerTraceNumber))?.decisions ?? [];
    assert.equal(decision?.confirmConsumerIds, true);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
    const rows = await backend.execute(url, 'SELECT * FROM report_consumers');
    assert.equal(rows.length, 3);
    assert.doesNotMatch(JSON.stringify(rows), /C-1|C-NEW/);
  });

  test('a consumerId needs no confirmation for the same applicant of a run, but does for another applicant of that run', async (t) => {
    const { ledger } = await opened(t);
    const first = inquiryOf('first', { runKey: 'J-1' });
    await answered(ledger, first, answerOf('R-1', { '1A': 'C-1', '2A': 'C-2' }));
    const second = await unknown(ledger, inquiryOf('second', { runKey: 'J-1', productCode: 'PREAPP' }));
    const swapped = accept(ledger, second, answerOf('R-2', { '1A': 'C-2', '2A': 'C-1' }));
    assert.match(await reasonOf(swapped), /^\/reference\/applicants\/0\/consumerId must be confirmed/);
    assert.deepEqual(await accept(ledger, second, answerOf('R-2', { '1A': 'C-1', '2A': 'C-2' })), { kind: 'recorded' });
  });

  test('accept takes, for a share by itself, the consumers and the reference number of the shared report', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const report = inquiryOf('report');
    const answer = answerOf('R-1', { '1A': 'C-1' });
    await answered(ledger, report, answer);
    const inquiry = { ...inquiryOf('share'), ...SHARE, runKey: 'share:S1' } as InquiryDescription;
    const row = { runKey: 'share:S1', shareId: 'S1', reportReferenceNumber: 'R-1', reportEndUserCode: 'EU1' };
    assert.ok(await ledger.recordShare(ledgerId, row));
    assert.equal((await claimAs(ledger, { inquiry, sharedReference: 'R-1' })).kind, 'claimed');
    await ledger.recordOutcome(
      outcomeOf(ledger, { customerTraceNumber: inquiry.customerTraceNumber, state: 'unknown' }),
    );
    const posted = { providerSaid: 'posted' };
    assert.match(await reasonOf(accept(ledger, inquiry, { ...answer, outcome: 'noReport' }, posted)), /providerSaid/);
    assert.deepEqual(await accept(ledger, inquiry, answer), { kind: 'recorded' });
    // The number still belongs to the report, although the share's confirmation repeats it.
    const again = await unknown(ledger, inquiryOf('again'));
    assert.match(await reasonOf(accept(ledger, again, answer)), /reportReferenceNumber/);
  });

  test('the ledger also refuses an accept unless the provider said that the inquiry was posted', async (t) => {
    const { ledger } = await opened(t);
    const ours = await unknown(ledger, inquiryOf('ours'));
    const answer = answerOf('R-1', { '1A': 'C-1' });
    for (const providerSaid of ['notPosted', 'unknown', 'notAsked']) {
      assert.match(await reasonOf(accept(ledger, ours, answer, { providerSaid })), /^\/providerSaid must be posted:/);
    }
  });
}
