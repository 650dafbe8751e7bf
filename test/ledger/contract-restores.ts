/** Part of the contract suite: the sequence of attempts, and how an older copy of the ledger is found and accepted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError, LedgerRestoredError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { HighWaterMark } from '../../src/model/ledger-watch.ts';
import { attempted, claimOf, closeOf, decisionOf } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const ACCEPTANCE = { by: 'operator@example.com', reason: 'the disk was lost' };

async function claimed(ledger: Ledger, attempt: number, highWaterMark?: HighWaterMark): Promise<HighWaterMark> {
  const verdict = await attempted(
    ledger,
    { attempt, ...(highWaterMark ? { highWaterMark } : {}) },
    { state: 'notSent' },
  );
  assert.ok(verdict.kind === 'claimed', verdict.kind);
  return { position: verdict.position, claimedAt: verdict.claimedAt };
}

/** Returns an attempt that an older copy lacks: claimed after its newest attempt, at the next position. */
function lostAfter({ position, claimedAt }: HighWaterMark): HighWaterMark {
  return { position: position + 1, claimedAt };
}

export function restoreTests(opened: Open, backend: LedgerBackend): void {
  test('attempts are numbered in the order of their commits, also when many commit concurrently', async (t) => {
    const { ledger } = await opened(t);
    assert.deepEqual(await ledger.restoreState(), { newest: undefined, lost: undefined });
    const inquiries = Array.from({ length: 12 }, (_, index) => ({ customerTraceNumber: `PQMANY${index}` }));
    const verdicts = await Promise.all(inquiries.map((inquiry) => ledger.claim(claimOf(ledger, { inquiry }))));
    const places = verdicts.map((verdict) => (verdict.kind === 'claimed' ? verdict.position : 0));
    assert.deepEqual(
      places.toSorted((a, b) => a - b),
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    const { newest, lost } = await ledger.restoreState();
    assert.equal(newest?.position, 12);
    assert.equal(lost, undefined);
    assert.deepEqual(await ledger.startFacts('J-1'), {
      newest,
      hasConsents: false,
      hasOpenTasks: false,
      isDisposed: false,
    });
  });

  test('a run whose last seen attempt is in the ledger can claim, although others have claimed since', async (t) => {
    const { ledger } = await opened(t);
    const first = await claimed(ledger, 1);
    const second = await claimed(ledger, 2, first);
    await claimed(ledger, 3, first);
    await claimed(ledger, 4, second);
    assert.deepEqual((await ledger.watch(ledger.identity.ledgerId, second)).lost, undefined);
  });

  for (const finder of ['a run', 'the watch'] as const) {
    test(`when ${finder} has seen an attempt that the ledger lacks, no claim succeeds until an operator accepts the loss`, async (t) => {
      const { ledger, again, ledgerId } = await opened(t);
      const newest = await claimed(ledger, 1);
      const lost = lostAfter(newest);
      if (finder === 'the watch') assert.deepEqual(await ledger.watch(ledgerId, lost), { newest, lost });
      else {
        const verdict = await ledger.claim(claimOf(ledger, { attempt: 2, highWaterMark: lost }));
        assert.deepEqual(verdict, { kind: 'ledgerRestored' });
      }
      // All callers get this verdict: those who have seen less, new ones, and the next process that opens the ledger.
      assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 2, highWaterMark: newest })), {
        kind: 'ledgerRestored',
      });
      const reopened = await again();
      const other = { customerTraceNumber: 'PQOTHER' };
      assert.deepEqual(await reopened.claim(claimOf(ledger, { inquiry: other })), { kind: 'ledgerRestored' });
      assert.deepEqual((await reopened.restoreState()).lost, lost);
      assert.equal((await reopened.inquiriesOf('J-1')).length, 1, 'nothing of those claims is kept');

      assert.deepEqual(await ledger.acceptRestore(ledgerId, ACCEPTANCE), { newest, lost });
      assert.deepEqual(await ledger.restoreState(), { newest, lost: undefined });
      const next = await claimed(ledger, 2, lost);
      assert.equal(next.position, lost.position, 'it counts on from what it has');
      assert.equal((await ledger.watch(ledgerId, lost)).lost, undefined);
      assert.deepEqual((await ledger.verifyChain()).findings, []);
      // The next restore is found like the first.
      const lostAgain = lostAfter({ ...next, claimedAt: new Date(Date.parse(next.claimedAt) + 60_000).toISOString() });
      assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 3, highWaterMark: lostAgain })), {
        kind: 'ledgerRestored',
      });
    });
  }

  test('an accepted loss permits claims also where the database’s clock was set back since it was found', async (t) => {
    const { url, ledger, ledgerId } = await opened(t);
    await claimed(ledger, 1);
    await backend.execute(
      url,
      `INSERT INTO orders (order_id, kind, by, reason, position, claimed_at, recorded_at)
       VALUES ('found', 'restoreFound', 'credit-journey', 'a test', 9, 1, ${Date.now() + 3_600_000})`,
    );
    assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 2 })), { kind: 'ledgerRestored' });
    await ledger.acceptRestore(ledgerId, ACCEPTANCE);
    assert.equal((await ledger.restoreState()).lost, undefined);
    await claimed(ledger, 2);
  });

  test('an accepted loss permits claims also where the clock was set back to before the lost attempt', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const { position } = await claimed(ledger, 1);
    const lost = { position: position + 1, claimedAt: new Date(Date.now() + 3_600_000).toISOString() };
    assert.deepEqual(await ledger.watch(ledgerId, lost), { newest: (await ledger.restoreState()).newest, lost });
    await ledger.acceptRestore(ledgerId, ACCEPTANCE);
    assert.equal((await ledger.watch(ledgerId, lost)).lost, undefined);
    await claimed(ledger, 2, lost);
  });

  test('an attempt that an older copy may lack cannot be closed, neither before nor after the loss is accepted', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const newest = await claimed(ledger, 1);
    const lost = closeOf(ledger, { inquiry: { customerTraceNumber: 'PQLOST', runKey: 'J-LOST' } });
    await ledger.watch(ledgerId, lostAfter(newest));
    await assert.rejects(ledger.closeAttempt(lost), LedgerRestoredError);
    // The ledger returns the outcome that it has: the operator need not decide about it.
    assert.equal((await ledger.closeAttempt(closeOf(ledger))).state, 'notSent');
    await ledger.acceptRestore(ledgerId, ACCEPTANCE);
    await assert.rejects(ledger.closeAttempt(lost), LedgerChangedError);
    assert.equal(
      await ledger.lookUp(ledgerId, 'PQLOST'),
      null,
      'a late claim of it is not shut out by a row that lies',
    );
    const later = { ...lost, begunAt: new Date(Date.now() + 120_000).toISOString() };
    assert.ok((await ledger.closeAttempt(later)).closedAt, 'one that began after the acceptance is closed as ever');
  });

  test('a run that resends over attempts which an accepted copy lacks makes the next one, and no run before that', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const { inquiry, run, ...third } = claimOf(ledger, { attempt: 3 });
    const resend = (decisionId: string) =>
      decisionOf({ decisionId, attempt: 3, action: 'resend', failureType: 'LedgerChanged' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, inquiry, resend('D-1'), run), { kind: 'recorded' });
    assert.deepEqual(await ledger.claim({ ...third, inquiry, run }), { kind: 'ledgerChanged' });
    await ledger.acceptRestore(ledgerId, ACCEPTANCE);
    assert.deepEqual(await ledger.claim({ ...third, inquiry, run }), { kind: 'ledgerChanged' });
    assert.deepEqual(await ledger.recordDecision(ledgerId, inquiry, resend('D-2'), run), { kind: 'recorded' });
    assert.equal((await ledger.claim({ ...third, inquiry, run })).kind, 'claimed');
    // A run that was reset asks for an earlier attempt, and repeats the decision.
    assert.equal((await ledger.claim({ ...third, inquiry, run, attempt: 1 })).kind, 'latest');
    assert.deepEqual(await ledger.recordDecision(ledgerId, inquiry, resend('D-2'), run), { kind: 'recorded' });
    assert.equal((await ledger.claim({ ...third, inquiry, run })).kind, 'latest');
  });

  test('an attempt with the same position but another claim time does not count as the one that was seen', async (t) => {
    const { ledger } = await opened(t);
    const { position, claimedAt } = await claimed(ledger, 1);
    const highWaterMark = { position, claimedAt: new Date(Date.parse(claimedAt) + 1).toISOString() };
    assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 2, highWaterMark })), { kind: 'ledgerRestored' });
  });

  test('watching a ledger and accepting its loss need that ledger’s id', async (t) => {
    const { ledger } = await opened(t);
    await assert.rejects(ledger.watch('ledger-x'), LedgerChangedError);
    await assert.rejects(ledger.acceptRestore('ledger-x', ACCEPTANCE), LedgerChangedError);
  });
}
