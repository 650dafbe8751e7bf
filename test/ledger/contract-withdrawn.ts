/** Part of the contract suite: shares that were withdrawn before they were sent are never claimed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ShareWithdrawal } from '../../src/ledger/records.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';
import {
  attempted,
  claimAs,
  claimOf,
  closeOf,
  consentOf,
  decisionOf,
  latestState,
  outcomeOf,
  RECORD,
  SHARE,
} from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const TYPING_ERROR: ShareWithdrawal = {
  runKey: 'J-1',
  shareId: 'S1',
  by: 'platform@example.com',
  reason: 'another investor was meant',
};
const customerTraceNumber = SHARE.customerTraceNumber ?? '';

function withdrawn(ledger: Ledger, change: Partial<ShareWithdrawal> = {}) {
  return ledger.withdrawShare(ledger.identity.ledgerId, { ...TYPING_ERROR, ...change });
}

async function claimed(ledger: Ledger, change: Parameters<typeof claimOf>[1] = {}): Promise<string> {
  return latestState(await claimAs(ledger, { ...change, inquiry: { ...SHARE, ...change.inquiry } }));
}

export function withdrawnShareTests(opened: Open, backend: LedgerBackend): void {
  test('a withdrawn share cannot be claimed, under any number, by any run or on any handle', async (t) => {
    const { ledger, again } = await opened(t);
    const { kind, ...rest } = await withdrawn(await again());
    assert.equal(kind, 'withdrawn');
    assert.ok(rest.standing);
    const { recordedAt, ...standing } = rest.standing;
    assert.deepEqual(standing, { by: TYPING_ERROR.by, reason: TYPING_ERROR.reason });
    assert.ok(Date.parse(recordedAt) > 0);

    const verdict = await claimAs(ledger, { inquiry: SHARE });
    assert.ok(verdict.kind === 'notPermitted');
    assert.equal(verdict.share?.isWithdrawn, true);
    assert.equal(await ledger.inquiry(customerTraceNumber), null, 'nothing of a refused claim is kept');
    const others = { run: { workflowId: 'journey-J-1', runId: 'run-2' } };
    assert.equal(await claimed(ledger, others), 'notPermitted');
    const nextNumber = { customerTraceNumber: 'SUAAAAAAAAAAAAAAAAAAAAAAAA01', ordinal: 1 };
    assert.equal(await claimed(ledger, { inquiry: nextNumber }), 'notPermitted');
    const otherShare = { customerTraceNumber: 'SUCCCCCCCCCCCCCCCCCCCCCCCC00', shareId: 'S2' };
    assert.equal(await claimed(ledger, { inquiry: otherShare }), 'claimed');
    const otherJourney = { customerTraceNumber: 'SUDDDDDDDDDDDDDDDDDDDDDDDD00', runKey: 'J-2' };
    assert.equal(await claimed(ledger, { inquiry: otherJourney }), 'claimed');
  });

  test('withdrawing a journey’s share also withdraws the share by itself with the same id, which would use its grants', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await withdrawn(ledger, { shareId: 'S-9' });
    const inquiry = { ...SHARE, workflowType: 'shareReport', runKey: 'share:S-9', shareId: 'S-9' };
    const consents = [consentOf({ shareId: 'S-9' })];
    const verdict = await claimAs(ledger, { inquiry, consents, sharedReference: 'REF-1' });
    assert.ok(verdict.kind === 'notPermitted' && verdict.share?.isWithdrawn);
    const other = { ...inquiry, runKey: 'share:S-8', shareId: 'S-8' };
    const ofOther = [consentOf({ shareId: 'S-8' })];
    const claim = await claimAs(ledger, { inquiry: other, consents: ofOther, sharedReference: 'REF-1' });
    assert.equal(claim.kind, 'claimed');
  });

  test('a share that may have been sent cannot be withdrawn, and the verdict names its attempt', async (t) => {
    const { ledger } = await opened(t);
    assert.equal(await claimed(ledger), 'claimed');
    assert.deepEqual(await withdrawn(ledger), { kind: 'claimed', customerTraceNumber, attempt: 1 });
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD }));
    assert.deepEqual(await withdrawn(ledger), { kind: 'claimed', customerTraceNumber, attempt: 1 });
    assert.equal(await claimed(ledger), 'answered', 'and nothing has changed for its run');
  });

  const STATES: Record<Exclude<AttemptState, 'sending' | 'answered' | 'accepted' | 'abandoned'>, string> = {
    notSent: 'withdrawn',
    notProcessed: 'withdrawn',
    unknown: 'claimed',
    refused: 'claimed',
    notEntitled: 'claimed',
    credentialsRefused: 'claimed',
    untrusted: 'claimed',
  };
  test('a share can be withdrawn only when its attempt is known not to have been processed', async (t) => {
    const { ledger } = await opened(t);
    for (const [state, expected] of Object.entries(STATES)) {
      const inquiry = { ...SHARE, shareId: state, customerTraceNumber: `SU-${state}` };
      await attempted(ledger, { inquiry }, { state: state as 'notSent' });
      assert.equal((await withdrawn(ledger, { shareId: state })).kind, expected, state);
      const next = await claimed(ledger, { inquiry, attempt: 2 });
      assert.equal(next, expected === 'withdrawn' ? 'notPermitted' : state);
    }
  });

  test('a closed attempt does not prevent a withdrawal, and a resend after the withdrawal permits no claim', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const { inquiry } = claimOf(ledger, { inquiry: SHARE });
    await ledger.closeAttempt(closeOf(ledger, { inquiry: SHARE }));
    assert.equal((await withdrawn(ledger)).kind, 'withdrawn');
    const resend = decisionOf({ customerTraceNumber, attempt: 1, failureType: 'GatewayUnreachable' });
    await ledger.recordDecision(ledgerId, inquiry, resend);
    assert.equal(await claimed(ledger, { attempt: 2 }), 'notPermitted');
  });

  test('a share cannot be withdrawn after a late answer to an attempt that was recorded as not sent', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, { inquiry: SHARE }, { state: 'notSent' });
    const late = outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD });
    assert.equal(await ledger.recordOutcome(late), 'late');
    assert.equal((await withdrawn(ledger)).kind, 'claimed');
  });

  test('the first of several withdrawals, also concurrent ones, is kept, and is one entry of the chain', async (t) => {
    const { ledger, again, url } = await opened(t);
    const other = await again();
    const verdicts = await Promise.all([withdrawn(ledger), withdrawn(other, { reason: 'again' }), withdrawn(ledger)]);
    const [first] = verdicts;
    for (const verdict of verdicts) assert.deepEqual(verdict, first);
    const listed: unknown[] = [];
    for await (const one of ledger.decisionsBetween({ runKey: 'J-1' })) listed.push(one);
    assert.equal(listed.length, 1);
    const { entries, findings } = await ledger.verifyChain();
    assert.deepEqual([entries, findings], [1, []]);
    for (const change of ["UPDATE orders SET reason = 'x'", 'DELETE FROM orders']) {
      await assert.rejects(backend.execute(url, change), /kept as they are/);
    }
    const mismatched = ledger.withdrawShare('another-ledger', { ...TYPING_ERROR, shareId: 'S3' });
    await assert.rejects(mismatched, LedgerChangedError);
  });

  test('exactly one of a concurrent withdrawal and claim succeeds', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 20; round++) {
      const shareId = `R${round}`;
      const inquiry = { customerTraceNumber: `SU${String(round).padStart(24, 'E')}00`, shareId };
      const [claim, withdrawal] = await Promise.all([
        claimed(ledger, { inquiry }),
        withdrawn(other, { shareId }).then(({ kind }) => kind),
      ]);
      const expected = claim === 'claimed' ? 'claimed' : 'withdrawn';
      assert.equal(withdrawal, expected, `the claim came to ${claim}`);
      if (expected === 'withdrawn') assert.equal(claim, 'notPermitted');
    }
  });
}
