/** Part of the contract suite: the claim table on a real database, and concurrent writers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestDiffersError } from '../../src/ledger/errors.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import {
  attempted,
  claimAs,
  claimOf,
  consentOf,
  decisionOf,
  INQUIRY,
  latestState,
  NO_RECORD,
  outcomeOf,
  RECORD,
  SHARE,
  TRACE,
} from './fixtures.ts';
import type { Open } from './ledger-backend.ts';

/** Makes an attempt overdue at once, so that no test waits for a clock. */
const OVERDUE = { answerWithinMs: 0 };

export function claimTests(opened: Open): void {
  test('the first claim succeeds, and its time comes from the database clock', async (t) => {
    const { ledger } = await opened(t);
    const verdict = await claimAs(ledger);
    assert.equal(verdict.kind, 'claimed');
    assert.ok(verdict.kind === 'claimed');
    assert.ok(Math.abs(Date.now() - Date.parse(verdict.claimedAt)) < 10_000);
  });

  test('a claim stores the inquiry’s applicants, and adds them to an older row that lacks them', async (t) => {
    const { ledger } = await opened(t);
    const idsOf = async (runKey = 'J-1') => (await ledger.inquiriesOf(runKey)).map(({ applicantIds }) => applicantIds);
    await attempted(ledger, {}, { state: 'notSent' });
    assert.deepEqual(await idsOf(), [undefined]);
    await attempted(ledger, { attempt: 2, applicantIds: ['2A', '1A'] }, { state: 'notSent' });
    assert.deepEqual(await idsOf(), [['2A', '1A']]);
    await claimAs(ledger, { attempt: 3 });
    assert.deepEqual(await idsOf(), [['2A', '1A']]);
    const inquiry = { ...INQUIRY, runKey: 'J-2', customerTraceNumber: 'B' };
    await ledger.recordDecision(
      ledger.identity.ledgerId,
      inquiry,
      decisionOf({ customerTraceNumber: 'B', attempt: 0 }),
    );
    await claimAs(ledger, { inquiry, applicantIds: ['1A'] });
    assert.deepEqual(await idsOf('J-2'), [['1A']]);
  });

  test('a claim that meets an attempt in flight is refused, and says how long the caller has to wait', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger);
    for (const attempt of [1, 2]) {
      const verdict = await claimAs(ledger, { attempt });
      assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'sending');
      assert.ok((verdict.latest.waitMs ?? 0) > 50_000 && (verdict.latest.waitMs ?? 0) <= 60_000);
    }
  });

  test('a share cannot be claimed on a grant that the ledger has a refusal for, and the verdict names the grant', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const grant = consentOf();
    const claim = () => claimAs(ledger, { inquiry: SHARE, consents: [grant] });
    const { evidence: _, ...said } = grant;
    const later = '2999-01-01T00:00:00Z';
    const earlier = '2000-01-01T00:00:00Z';
    const forAnother = { secondaryUser: { endUserCode: 'EU9' } };
    const harmless = [
      consentOf({ consentId: 'C-other', decidedAt: earlier, receivedAt: earlier }),
      { ...said, consentId: 'C-other', decision: 'revoked', decidedAt: later, receivedAt: later },
      { ...said, ...forAnother, shareId: 'S9', decision: 'denied', decidedAt: later },
      { ...said, consentId: 'C-denied', decision: 'denied', decidedAt: earlier },
      { ...said, consentId: 'C-unknown', decision: 'revoked', decidedAt: earlier, receivedAt: earlier },
      { ...said, applicantId: '09', decision: 'revoked', decidedAt: later },
    ] as const;
    await ledger.recordConsents(ledgerId, harmless);
    const against = [
      { ...said, decision: 'revoked', decidedAt: earlier },
      { ...said, consentId: 'C-denied-later', decision: 'denied', decidedAt: later },
      { ...said, consentId: 'C-unknown-later', decision: 'revoked', decidedAt: later },
    ] as const;
    await ledger.recordConsents(ledgerId, against);
    const verdict = await claim();
    assert.ok(verdict.kind === 'notPermitted');
    assert.deepEqual(verdict.share?.grants, [{ applicantId: '01', consentId: 'C-1', worth: 'refused' }]);
    assert.equal(await ledger.lookUp(ledgerId, String(SHARE.customerTraceNumber)), null);
    assert.deepEqual(await ledger.inquiriesOf(String(SHARE.runKey)), []);
    // The refusals do not affect a later grant.
    const anew = consentOf({
      consentId: 'C-anew',
      decidedAt: '2999-01-02T00:00:00Z',
      receivedAt: '2999-01-02T00:00:00Z',
    });
    assert.equal((await claimAs(ledger, { inquiry: SHARE, consents: [anew] })).kind, 'claimed');
  });

  const CORRECTED = { customerTraceNumber: 'PQBBBBBBBBBBBBBBBBBBBBBBBB00', customerId: 'HOUSE2' };

  test('the same inquiry cannot be claimed for another customer, not even concurrently, until a decision permits it', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const customers = ['HOUSE1', 'HOUSE2', 'HOUSE3', 'HOUSE4'];
    // Repeated, since without its unique key the ledger would accept two claims only in some rounds.
    for (const runKey of ['J-1', 'J-2', 'J-3', 'J-4', 'J-5']) {
      const numberOf = (customerId?: string) => `PQ${runKey.slice(2)}${customerId}00`;
      const verdicts = await Promise.all(
        customers.map((customerId) =>
          claimAs(ledger, { inquiry: { runKey, customerId, customerTraceNumber: numberOf(customerId) } }),
        ),
      );
      const [winner] = customers.filter((_, index) => verdicts[index]?.kind === 'claimed');
      const refused = { kind: 'anotherNumber', customerTraceNumber: numberOf(winner) };
      assert.equal(verdicts.filter(({ kind }) => kind === 'claimed').length, 1);
      assert.deepEqual(
        verdicts.filter(({ kind }) => kind !== 'claimed'),
        [refused, refused, refused],
      );
      assert.equal((await ledger.inquiriesOf(runKey)).length, 1, 'what was refused leaves nothing behind');
    }

    const { inquiry } = claimOf(ledger, { inquiry: CORRECTED });
    const { customerTraceNumber } = inquiry;
    const permit = decisionOf({ customerTraceNumber, failureType: 'AnotherNumber' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, inquiry, permit), { kind: 'recorded' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, inquiry, { ...permit, decisionId: 'D-2' }), {
      kind: 'recorded',
    });
    assert.equal((await claimAs(ledger, { inquiry })).kind, 'claimed');
    assert.equal(latestState(await claimAs(ledger, { inquiry })), 'sending', 'once');
    const fifth = { customerId: 'HOUSE5', customerTraceNumber: 'PQHOUSE500' };
    assert.deepEqual(await claimAs(ledger, { inquiry: fifth }), {
      kind: 'anotherNumber',
      customerTraceNumber,
    });
  });

  test('amendments and repeats of one customer, other stages and shares are claimed under trace numbers of their own', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const kindOf = async (inquiry: Partial<InquiryDescription>) => (await claimAs(ledger, { inquiry })).kind;
    assert.equal(await kindOf({}), 'claimed');
    assert.equal(await kindOf({ customerTraceNumber: 'T01', ordinal: 1 }), 'claimed');
    assert.equal(await kindOf({ customerTraceNumber: 'T02', ordinal: 2 }), 'claimed');
    assert.equal(await kindOf({ customerTraceNumber: 'PA00', productCode: 'PREAPP', customerId: 'HOUSE2' }), 'claimed');
    assert.equal(await kindOf({ ...SHARE, customerTraceNumber: 'S100' }), 'claimed');
    assert.equal(
      await kindOf({ ...SHARE, customerTraceNumber: 'S200', shareId: 'S2', customerId: 'HOUSE2' }),
      'claimed',
    );
    const own = { ...SHARE, customerTraceNumber: 'S300', workflowType: 'shareReport', customerId: 'HOUSE2' };
    assert.equal(await kindOf(own), 'claimed');
    // For another customer each ordinal is another number, even one that was never claimed.
    for (const ordinal of [0, 1, 3]) {
      assert.equal(await kindOf({ ...CORRECTED, ordinal }), 'anotherNumber');
    }
    assert.equal(await kindOf({ ...SHARE, customerTraceNumber: 'S400', customerId: 'HOUSE2' }), 'anotherNumber');
    const { inquiry } = claimOf(ledger, { inquiry: CORRECTED });
    const { customerTraceNumber } = inquiry;
    await ledger.recordDecision(ledgerId, inquiry, decisionOf({ customerTraceNumber, failureType: 'AnotherNumber' }));
    assert.equal(await kindOf(inquiry), 'claimed');
    assert.equal(
      await kindOf({ ...CORRECTED, customerTraceNumber: 'U01', ordinal: 1 }),
      'claimed',
      'an amendment of it',
    );
  });

  test('a decision that was recorded before any claim does not permit a second trace number for the inquiry', async (t) => {
    const { ledger } = await opened(t);
    const { inquiry } = claimOf(ledger, { inquiry: CORRECTED });
    const { customerTraceNumber } = inquiry;
    const early = decisionOf({ customerTraceNumber, failureType: 'TokenUnavailable' });
    await ledger.recordDecision(ledger.identity.ledgerId, inquiry, early);
    assert.equal((await claimAs(ledger)).kind, 'claimed');
    assert.deepEqual(await claimAs(ledger, { inquiry }), {
      kind: 'anotherNumber',
      customerTraceNumber: TRACE,
    });
  });

  test('after a refusal, a claim needs a resend for exactly that attempt, and spends it', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'refused', httpStatus: 503 });
    const held = await claimAs(ledger, { attempt: 2 });
    assert.ok(held.kind === 'latest' && held.latest.state === 'refused' && held.latest.httpStatus === 503);
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({})), { kind: 'recorded' });
    assert.equal((await attempted(ledger, { attempt: 2 }, { state: 'refused' })).kind, 'claimed');
    // A reset replays the decision and the claim: neither permits another attempt.
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({})), { kind: 'recorded' });
    for (const attempt of [2, 3]) assert.equal(latestState(await claimAs(ledger, { attempt })), 'refused');
  });

  test('an overdue attempt reads as unknown, and the next claim writes that state', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger, OVERDUE);
    const seen = await ledger.lookUp(ledger.identity.ledgerId, TRACE);
    assert.ok(seen?.state === 'unknown' && seen.failureType === 'OutcomeUnknown' && seen.waitMs === undefined);
    assert.equal(latestState(await claimAs(ledger, { attempt: 2 })), 'unknown');
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts[0]?.state, 'unknown');
  });

  test('a look-up with the digest of another request fails, and returns no answer', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const claim = claimOf(ledger);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD, httpStatus: 200 });
    assert.deepEqual((await ledger.lookUp(ledgerId, TRACE, claim.digest))?.answer, RECORD);
    await assert.rejects(
      ledger.lookUp(ledgerId, TRACE, claimOf(ledger, { request: 'another' }).digest),
      RequestDiffersError,
    );
  });

  test('a claim on a ledger that lacks the previous attempt, or has another id, is refused as ledgerChanged', async (t) => {
    const { ledger } = await opened(t);
    assert.deepEqual(await claimAs(ledger, { attempt: 2 }), { kind: 'ledgerChanged' });
    assert.deepEqual(await claimAs(ledger, { ledgerId: 'ledger-x' }), { kind: 'ledgerChanged' });
    assert.deepEqual(await ledger.inquiriesOf('J-1'), [], 'nothing was written');
  });

  test('a claim returns the latest state when the ledger is ahead of the run', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const verdict = await claimAs(ledger);
    assert.ok(verdict.kind === 'latest' && verdict.latest.attempt === 2);
    assert.deepEqual(verdict.latest.answer, NO_RECORD);
  });

  test('exactly one of many concurrent claims by two writers succeeds', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 10; round++) {
      const inquiry = { customerTraceNumber: `PQRACE${round}` };
      const verdicts = await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const writer = index % 2 === 0 ? ledger : other;
          return claimAs(writer, { inquiry, run: { workflowId: 'w', runId: `r${index}` } });
        }),
      );
      assert.equal(verdicts.filter((verdict) => verdict.kind === 'claimed').length, 1);
      assert.equal(verdicts.filter((verdict) => latestState(verdict) === 'sending').length, 7);
    }
  });

  test('exactly one of several concurrent claims by two writers spends a resend', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 5; round++) {
      const inquiry = { customerTraceNumber: `PQSPEND${round}` };
      await attempted(ledger, { inquiry }, { state: 'unknown' });
      const decision = decisionOf({ customerTraceNumber: inquiry.customerTraceNumber });
      await ledger.recordDecision(ledger.identity.ledgerId, { ...INQUIRY, ...inquiry }, decision);
      const verdicts = await Promise.all(
        [ledger, other, ledger, other].map((writer) => claimAs(writer, { inquiry, attempt: 2 })),
      );
      assert.equal(verdicts.filter((verdict) => verdict.kind === 'claimed').length, 1);
    }
  });

  test('a claim writes its attempt, its consents and the grants that permitted it in one transaction', async (t) => {
    const { ledger } = await opened(t);
    const consents = [consentOf(), consentOf({ applicantId: '02', consentId: 'C-2' })];
    await claimAs(ledger, { inquiry: SHARE, consents });
    // A refused claim writes no consents.
    await claimAs(ledger, { inquiry: SHARE, consents: [consentOf({ consentId: 'C-3' })] });
    const { customerTraceNumber = '' } = SHARE;
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD }));
    const revoked = (consentId: string) => consentOf({ consentId, decision: 'revoked' });
    assert.equal(await ledger.flagPostedShares(ledger.identity.ledgerId, revoked('C-1')), 1);
  });
}
