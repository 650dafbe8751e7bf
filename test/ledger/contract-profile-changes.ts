/** Part of the contract suite: changes of a gateway profile, and who lets runs go on under them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import { attempted, claimOf, latestState, RECORD } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

const [OLD, NEW, NEWER] = ['a', 'b', 'c'].map((way) => `${'1'.repeat(32)}-${way.repeat(32)}`) as [
  string,
  string,
  string,
];
const CHANGE = { from: OLD, to: NEW };
const APPROVAL = {
  ...{ ...CHANGE, profile: 'default', by: 'lead@example.com', reason: 'the provider has moved' },
  way: {
    tokenUrl: 'https://auth.example.com/',
    requestUrl: 'https://gateway.example.com/',
    audience: 'servicegateway',
  },
};

export function profileChangeTests(opened: Open, backend: LedgerBackend): void {
  test('a claim under a changed profile passes once a person has approved exactly that change', async (t) => {
    const { ledger, again } = await opened(t);
    const { ledgerId } = ledger.identity;
    const claimed = async (change?: Parameters<typeof claimOf>[1]) =>
      latestState(await ledger.claim({ ...claimOf(ledger, change), profileChange: CHANGE }));
    assert.equal(await claimed(), 'profileChanged');
    assert.equal(await ledger.inquiry(claimOf(ledger).inquiry.customerTraceNumber), null, 'nothing of it is kept');
    for (const other of [{ to: NEWER }, { from: NEWER }, { profile: 'east' }, { from: NEW, to: OLD }]) {
      await ledger.profileChanges.approve(ledgerId, { ...APPROVAL, ...other });
      assert.equal(await claimed(), 'profileChanged', JSON.stringify(other));
    }
    assert.equal((await (await again()).profileChanges.approve(ledgerId, APPROVAL)).kind, 'approved');
    assert.equal(await claimed(), 'claimed');
  });

  test('what was made before is reported under a changed profile too', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    assert.equal(latestState(await ledger.claim({ ...claimOf(ledger), profileChange: CHANGE })), 'answered');
  });

  test('an approval stands: the first of two at once, in the audit chain, never changed', async (t) => {
    const { ledger, again, url } = await opened(t);
    const { ledgerId } = ledger.identity;
    const other = await again();
    const verdicts = await Promise.all([
      ledger.profileChanges.approve(ledgerId, APPROVAL),
      other.profileChanges.approve(ledgerId, { ...APPROVAL, by: 'another@example.com' }),
    ]);
    assert.deepEqual(verdicts.map(({ kind }) => kind).sort(), ['approved', 'duplicate']);
    assert.deepEqual(verdicts[0]?.approval, verdicts[1]?.approval, 'both are told of the one that stands');
    const [listed, ...more] = await ledger.profileChanges.list();
    assert.deepEqual([listed, more], [verdicts[0]?.approval, []]);
    await assert.rejects(ledger.profileChanges.approve('ledger-x', APPROVAL), LedgerChangedError);
    assert.deepEqual((await ledger.verifyChain()).findings, []);
    for (const change of ["UPDATE approved_profile_changes SET reason = 'x'", 'DELETE FROM approved_profile_changes']) {
      await assert.rejects(backend.execute(url, change), /kept as they are/);
    }
  });
}
