/** Part of the contract suite: the identity of a ledger, and its creation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError, LedgerNotFoundError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { UnknownKeyError } from '../../src/protection/errors.ts';
import { keyRing } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';

export function identityTests(opened: Open, backend: LedgerBackend): void {
  test('a ledger keeps its id and its digests when it is opened again, and another ledger has different ones', async (t) => {
    const { ledger, again, ledgerId } = await opened(t);
    const [same, another] = [await again(), (await opened(t)).ledger];
    assert.deepEqual(same.identity, ledger.identity);
    assert.match(ledger.digest('x'), /^[0-9a-f]{64}$/);
    assert.equal(same.digest('x'), ledger.digest('x'));
    assert.notEqual(ledger.digest('y'), ledger.digest('x'));
    assert.notEqual(another.identity.ledgerId, ledgerId);
    assert.notEqual(another.digest('x'), ledger.digest('x'));
  });

  test('processes that create a ledger concurrently get the same ledger', async (t) => {
    const url = await backend.newUrl();
    const ring = keyRing();
    const ledgers = await Promise.all(
      Array.from({ length: 4 }, () => openLedger({ url, environment: 'sandbox', keyRing: ring, create: true })),
    );
    t.after(() => Promise.all(ledgers.map((ledger) => ledger.close())));
    assert.equal(new Set(ledgers.map((ledger) => ledger.identity.ledgerId)).size, 1);
  });

  test('opening a ledger that does not exist fails unless the caller asks to create it', async () => {
    const url = await backend.newUrl();
    await assert.rejects(
      openLedger({ url, environment: 'sandbox', keyRing: keyRing() }),
      (error) => error instanceof LedgerNotFoundError && error.message.includes('credit-journey setup'),
    );
  });

  test('opening a ledger with another environment, another id or another key ring is refused', async (t) => {
    const { url, ring: ours, ledgerId } = await opened(t);
    const open = openLedger;
    await assert.rejects(
      open({ url, environment: 'uat', keyRing: ours, create: true }),
      (error) => error instanceof LedgerChangedError && error.message.includes(ledgerId),
    );
    await assert.rejects(
      open({ url, environment: 'sandbox', keyRing: ours, expectedId: 'ledger-x' }),
      (error) => error instanceof LedgerChangedError && error.message.includes('ledger-x'),
    );
    await assert.rejects(
      open({ url, environment: 'sandbox', keyRing: keyRing('other') }),
      (error) => error instanceof UnknownKeyError && error.keyId === 'k-ledger',
    );
    const same = await open({ url, environment: 'sandbox', keyRing: ours, expectedId: ledgerId });
    await same.close();
  });
}
