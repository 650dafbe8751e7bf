import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SealBrokenError, UnknownKeyError } from '../../src/protection/errors.ts';
import { LedgerCipher, type Sealed, seal, unseal } from '../../src/protection/sealed/sealing.ts';
import { keyRing } from '../ledger/fixtures.ts';

const FOR = { ledgerId: 'ledger-1', customerTraceNumber: 'PQ1', attempt: 1, kind: 'report' };

function flipped(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.map((byte, at) => (at === index ? byte ^ 1 : byte));
}

describe('a sealed report', () => {
  test('opens only for its own ledger, trace number, attempt and kind', async () => {
    const keys = keyRing();
    const sealed = await seal(keys, 'a report, Zoë', FOR);
    assert.equal(await unseal(keys, sealed, FOR), 'a report, Zoë');
    for (const change of [
      { ledgerId: 'ledger-2' },
      { customerTraceNumber: 'PQ2' },
      { attempt: 2 },
      { kind: 'refusal' },
    ]) {
      await assert.rejects(unseal(keys, sealed, { ...FOR, ...change }), SealBrokenError);
    }
  });

  test('has a data key and a nonce of its own', async () => {
    const keys = keyRing();
    const [one, two] = [await seal(keys, 'same', FOR), await seal(keys, 'same', FOR)];
    assert.notDeepEqual(one.body, two.body);
    assert.notDeepEqual(one.wrappedKey, two.wrappedKey);
    await assert.rejects(unseal(keys, { ...one, wrappedKey: two.wrappedKey }, FOR), SealBrokenError);
  });

  test('does not open when any byte of it was changed', async () => {
    const keys = keyRing();
    const sealed = await seal(keys, 'report', FOR);
    const changes: Sealed[] = [
      ...Array.from(sealed.body, (_, index) => ({ ...sealed, body: flipped(sealed.body, index) })),
      ...Array.from(sealed.wrappedKey, (_, index) => ({ ...sealed, wrappedKey: flipped(sealed.wrappedKey, index) })),
      { ...sealed, body: sealed.body.subarray(0, 20) },
      { ...sealed, algorithm: 'none' },
    ];
    for (const change of changes) await assert.rejects(unseal(keys, change, FOR), SealBrokenError);
  });

  test('names the missing key and the remedy', async () => {
    const sealed = await seal(keyRing('mine'), 'report', FOR);
    await assert.rejects(unseal(keyRing('yours'), sealed, FOR), (error: Error) => {
      return (
        error instanceof UnknownKeyError && error.message.includes('mine-ledger') && /KEY_RING_FILE/.test(error.message)
      );
    });
  });
});

describe('the cipher of a ledger', () => {
  const cipher = new LedgerCipher('ledger-1', Buffer.alloc(32, 1));

  test('gives the same digest for the same text, and another digest for another ledger or secret', () => {
    assert.equal(cipher.digest('x'), new LedgerCipher('ledger-1', Buffer.alloc(32, 1)).digest('x'));
    assert.notEqual(cipher.digest('x'), new LedgerCipher('ledger-2', Buffer.alloc(32, 1)).digest('x'));
    assert.notEqual(cipher.digest('x'), new LedgerCipher('ledger-1', Buffer.alloc(32, 2)).digest('x'));
  });

  test('opens a value in its own place only', () => {
    const sealed = cipher.sealValue({ a: 1 }, 'answer', 'PQ1', '1');
    assert.deepEqual(cipher.unsealValue(sealed, 'answer', 'PQ1', '1'), { a: 1 });
    assert.throws(() => cipher.unsealValue(sealed, 'answer', 'PQ1', '2'), SealBrokenError);
    assert.throws(() => cipher.unsealValue(flipped(sealed, 14), 'answer', 'PQ1', '1'), SealBrokenError);
  });
});
