/** Part of the contract suite: a look-up after a lost activity closes the attempt, and a late claim of it fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError, RequestDiffersError } from '../../src/ledger/errors.ts';
import { openInquiries } from '../support/open-inquiries.ts';
import { asJson, attempted, claimOf, closeOf, decisionOf, INQUIRY, latestState, NO_RECORD, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

export function closingTests(opened: Open, backend: LedgerBackend): void {
  test('an unclaimed attempt can be closed: a late claim of it fails, and the next attempt can be claimed', async (t) => {
    const { ledger, again } = await opened(t);
    const closed = await ledger.closeAttempt(closeOf(ledger));
    assert.deepEqual([closed.attempt, closed.state, closed.claimedAt], [1, 'notSent', undefined]);
    assert.ok(closed.closedAt);
    const late = await (await again()).claim(claimOf(ledger));
    assert.ok(late.kind === 'latest' && late.latest.closedAt === closed.closedAt);
    assert.deepEqual(asJson(await ledger.closeAttempt(closeOf(ledger))), closed, 'a repetition finds it');
    assert.deepEqual(asJson(await ledger.lookUp(ledger.identity.ledgerId, TRACE, claimOf(ledger).digest)), closed);
    const next = await ledger.claim(claimOf(ledger, { attempt: 2 }));
    assert.equal(next.kind, 'claimed');
  });

  test('exactly one of a concurrent claim and closing succeeds', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    for (let round = 0; round < 10; round++) {
      const inquiry = { customerTraceNumber: `PQCLOSE${round}`, runKey: `J-${round}` };
      const [claim, closing] = await Promise.all([
        ledger.claim(claimOf(ledger, { inquiry })),
        other.closeAttempt(closeOf(other, { inquiry })),
      ]);
      const states = `${latestState(claim)} ${closing.state}`;
      assert.ok(states === 'claimed sending' || states === 'notSent notSent', states);
      assert.equal(closing.closedAt === undefined, claim.kind === 'claimed');
    }
  });

  test('a claimed attempt cannot be closed: the ledger returns its state instead', async (t) => {
    const { ledger } = await opened(t);
    await ledger.claim(claimOf(ledger));
    assert.equal((await ledger.closeAttempt(closeOf(ledger))).state, 'sending');
    await attempted(ledger, { inquiry: { customerTraceNumber: 'B', runKey: 'J-2' } }, { state: 'unknown' });
    const inquiry = { customerTraceNumber: 'B', runKey: 'J-2' };
    assert.equal((await ledger.closeAttempt(closeOf(ledger, { inquiry }))).state, 'unknown');
    // If the missing attempt were closed, the next attempt could be claimed despite the unknown outcome.
    const over = await ledger.closeAttempt(closeOf(ledger, { inquiry, attempt: 2 }));
    assert.deepEqual([over.attempt, over.state], [1, 'unknown']);
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { inquiry, attempt: 3 }))), 'ledgerChanged');
  });

  test('closing an attempt over a gap, in another ledger or for another request fails and writes nothing', async (t) => {
    const { ledger } = await opened(t);
    await assert.rejects(ledger.closeAttempt(closeOf(ledger, { attempt: 2 })), LedgerChangedError);
    await assert.rejects(ledger.closeAttempt(closeOf(ledger, { ledgerId: 'ledger-x' })), LedgerChangedError);
    assert.deepEqual(await ledger.inquiriesOf('J-1'), []);
    await attempted(ledger, {}, { state: 'notSent' });
    await assert.rejects(ledger.closeAttempt(closeOf(ledger, { attempt: 3 })), LedgerChangedError);
    await assert.rejects(ledger.closeAttempt(closeOf(ledger, { attempt: 2, request: 'other' })), RequestDiffersError);
    const [inquiry] = await ledger.inquiriesOf('J-1');
    assert.equal(inquiry?.attempts.length, 1);
    await ledger.closeAttempt(closeOf(ledger, { inquiry: { customerTraceNumber: 'B', runKey: 'J-2' } }));
    const other = claimOf(ledger, { inquiry: { customerTraceNumber: 'B', runKey: 'J-2' }, attempt: 2, request: 'b' });
    assert.equal(latestState(await ledger.claim(other)), 'requestDiffers');
  });

  test('the resend for a closed attempt is spent once, by the next attempt', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({}));
    assert.ok((await ledger.closeAttempt(closeOf(ledger, { attempt: 2 }))).closedAt);
    await attempted(ledger, { attempt: 3 }, { state: 'unknown' });
    assert.equal(latestState(await ledger.claim(claimOf(ledger, { attempt: 4 }))), 'unknown');
    const rows = await backend.execute(url, 'SELECT attempt, permitted_by FROM attempts ORDER BY attempt');
    assert.deepEqual(
      rows.map((row) => Object.values(row as object).map(String)),
      [
        ['1', 'null'],
        ['3', 'D-1'],
      ],
    );
  });

  test('a closed attempt is not in the audit, and the first claimed attempt shows the decision that permitted it', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'repeat', attempt: 0 }));
    await ledger.closeAttempt(closeOf(ledger));
    assert.deepEqual(await Array.fromAsync(ledger.inquiriesBetween()), []);
    assert.deepEqual(await openInquiries(ledger), []);
    await attempted(ledger, { attempt: 2 }, { state: 'answered', answer: NO_RECORD });
    const audited = await Array.fromAsync(ledger.inquiriesBetween());
    assert.deepEqual(
      audited.map(({ attempt, outcome, permittedBy }) => [attempt, outcome, permittedBy?.action]),
      [[2, 'noRecord', 'repeat']],
    );
    const view = await ledger.inquiry(TRACE);
    assert.deepEqual(
      view?.attempts.map(({ state, claimedAt, closedAt }) => [state, claimedAt !== undefined, closedAt !== undefined]),
      [
        ['notSent', false, true],
        ['answered', true, false],
      ],
    );
  });

  test('a disposal deletes the run of a closed attempt, and the row of the closed attempt cannot be deleted or changed', async (t) => {
    const { ledger, url } = await opened(t);
    await ledger.closeAttempt(closeOf(ledger));
    const { runs, obstacles } = await ledger.retention.view('J-1');
    assert.deepEqual([runs, obstacles], [[{ workflowId: 'journey-J-1', runId: 'run-1' }], []]);
    await assert.rejects(async () => backend.execute(url, 'DELETE FROM closed_attempts'));
    await assert.rejects(async () => backend.execute(url, 'UPDATE closed_attempts SET attempt = 2'));
  });
}
