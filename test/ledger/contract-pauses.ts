/** Part of the contract suite: pauses, the claims that they refuse, and the runs that their end wakes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { attempted, claimOf, closeOf, latestState, outcomeOf, RECORD } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const STOP = { by: 'operator@example.com', reason: 'wrong purpose codes' };
const GO_ON = { by: 'lead@example.com', reason: 'corrected' };
const EAST = { customerTraceNumber: 'PQEAST', runKey: 'J-EAST', profile: 'east' };

async function claimed(ledger: Ledger, change?: Parameters<typeof claimOf>[1]): Promise<string> {
  return latestState(await ledger.claim(claimOf(ledger, change)));
}

export function pauseTests(opened: Open, backend: LedgerBackend): void {
  test('a pause of all profiles refuses each new claim and nothing else, on every handle, until it ends', async (t) => {
    const { ledger, again, ledgerId } = await opened(t);
    assert.equal(await claimed(ledger), 'claimed');
    await attempted(ledger, { inquiry: { customerTraceNumber: 'PQDONE' } }, { state: 'answered', answer: RECORD });
    const { duplicate, pause, inFlight } = await (await again()).pauses.begin(ledgerId, {}, STOP);
    assert.deepEqual([duplicate, inFlight], [false, 1]);
    assert.deepEqual({ ...pause, since: '' }, { ...STOP, since: '' });

    assert.equal(await claimed(ledger, { inquiry: { customerTraceNumber: 'PQNEW' } }), 'paused');
    assert.deepEqual((await ledger.inquiry('PQNEW'))?.attempts, [], 'it is no attempt');
    assert.equal(await claimed(ledger), 'sending', 'what is in flight is reported');
    assert.equal(await claimed(ledger, { inquiry: { customerTraceNumber: 'PQDONE' } }), 'answered');
    assert.equal(await ledger.recordOutcome(outcomeOf(ledger, { state: 'notSent' })), 'recorded');
    assert.equal(await claimed(ledger, { attempt: 2 }), 'paused');

    const end = await ledger.pauses.end(ledgerId, {}, GO_ON);
    assert.deepEqual([end.duplicate, end.pause?.ended?.by], [false, GO_ON.by]);
    assert.deepEqual(await ledger.pauses.end(ledgerId, {}, GO_ON), { ...end, duplicate: true });
    assert.deepEqual((await ledger.pauses.end(ledgerId, {}, { ...GO_ON, reason: 'another' })).paths, ['/reason']);
    assert.equal(await claimed(ledger, { attempt: 2 }), 'claimed', 'the same attempt, under the same number');
    const [past, ...more] = await ledger.pauses.list();
    assert.deepEqual(more, []);
    assert.deepEqual([past?.by, past?.ended?.by, past?.ended?.reason], [STOP.by, GO_ON.by, GO_ON.reason]);
  });

  test('a pause of one profile does not affect others, and is ended independently of a pause of all', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const east = { profile: 'east' };
    await ledger.pauses.begin(ledgerId, east, STOP);
    assert.equal(await claimed(ledger, { inquiry: EAST }), 'paused');
    assert.equal(await claimed(ledger), 'claimed');
    assert.deepEqual(await ledger.pauses.end(ledgerId, {}, GO_ON), { duplicate: false, paths: [] });
    await ledger.pauses.begin(ledgerId, {}, STOP);
    await ledger.pauses.end(ledgerId, east, GO_ON);
    assert.equal(await claimed(ledger, { inquiry: EAST }), 'paused', 'the other pause covers it still');
    await ledger.pauses.end(ledgerId, {}, GO_ON);
    assert.equal(await claimed(ledger, { inquiry: EAST }), 'claimed');
  });

  test('a second pause, even a concurrent one, is a duplicate of the first; resuming what is not paused says so', async (t) => {
    const { ledger, again, ledgerId } = await opened(t);
    assert.deepEqual(await ledger.pauses.end(ledgerId, {}, GO_ON), { duplicate: false, paths: [] });
    const other = await again();
    const verdicts = await Promise.all([
      ledger.pauses.begin(ledgerId, {}, STOP),
      other.pauses.begin(ledgerId, {}, { ...STOP, by: 'another@example.com' }),
    ]);
    assert.deepEqual(verdicts.map(({ duplicate, paths }) => [duplicate, paths].flat()).sort(), [
      [false],
      [true, '/by'],
    ]);
    assert.deepEqual(verdicts[0]?.pause, verdicts[1]?.pause, 'both are told of the one that stands');
    assert.equal((await ledger.pauses.list()).length, 1);
    await assert.rejects(ledger.pauses.begin('ledger-x', {}, STOP), LedgerChangedError);
  });

  test('each claim that is concurrent with a pause is either counted by the pause or refused', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    const claims = Array.from({ length: 20 }, (_, index) =>
      claimed(ledger, { inquiry: { customerTraceNumber: `PQ${index}` } }),
    );
    const pause = other.pauses.begin(ledger.identity.ledgerId, {}, STOP);
    const states = await Promise.all(claims);
    assert.equal((await pause).inFlight, states.filter((state) => state === 'claimed').length);
  });

  test('the ledger keeps the runs whose claims a pause refused, until they were notified of its end', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const { pauses } = ledger;
    await pauses.begin(ledgerId, {}, STOP);
    await pauses.begin(ledgerId, { profile: 'east' }, STOP);
    for (const inquiry of [{}, EAST, {}]) assert.equal(await claimed(ledger, { inquiry }), 'paused');
    assert.deepEqual(await pauses.waiting(), [], 'both are paused yet');
    await pauses.end(ledgerId, {}, GO_ON);
    const [first, ...others] = await pauses.waiting();
    assert.deepEqual(
      [first?.workflowId, first?.customerTraceNumber, others.length],
      ['journey-J-1', claimOf(ledger).inquiry.customerTraceNumber, 0],
    );
    const stale = first ? [{ ...first, pausedAt: '2026-01-02T03:04:05.000Z' }] : [];
    await pauses.forget(ledgerId, stale);
    assert.equal((await pauses.waiting()).length, 1, 'it was refused again since');
    await pauses.forget(ledgerId, first ? [first] : []);
    assert.deepEqual(await pauses.waiting(), []);
    await pauses.end(ledgerId, { profile: 'east' }, GO_ON);
    assert.deepEqual(
      (await pauses.waiting()).map(({ customerTraceNumber }) => customerTraceNumber),
      ['PQEAST'],
    );
  });

  test('a lost attempt is closed even while inquiries are paused', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await ledger.pauses.begin(ledgerId, {}, STOP);
    const view = await ledger.closeAttempt(closeOf(ledger));
    assert.notEqual(view.closedAt, undefined);
    assert.equal(await claimed(ledger, { attempt: 2 }), 'paused');
    await ledger.pauses.end(ledgerId, {}, GO_ON);
    assert.equal(await claimed(ledger, { attempt: 2 }), 'claimed');
  });

  test('pauses and resumes are chained and cannot be changed', async (t) => {
    const { ledger, url, ledgerId } = await opened(t);
    await ledger.pauses.begin(ledgerId, {}, STOP);
    await ledger.pauses.end(ledgerId, {}, GO_ON);
    const { entries, findings } = await ledger.verifyChain();
    assert.deepEqual([entries, findings], [2, []]);
    for (const change of ["UPDATE orders SET reason = 'x'", 'DELETE FROM orders']) {
      await assert.rejects(backend.execute(url, change), /kept as they are/);
    }
  });
}
