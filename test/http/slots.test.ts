/** How callers share the slots of a service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Slots } from '../../src/http/limits.ts';

const LIMITS = { running: 4, runningPerCaller: 2, waiting: 4, waitingPerCaller: 2, waitMs: 5_000 };

describe('the slots of a service', () => {
  test('a caller gets no more than its own share of the slots', async () => {
    const slots = new Slots({ ...LIMITS, waitMs: 20 });
    assert.deepEqual([await slots.take('one'), await slots.take('one')], [true, true]);
    const [third, fourth, fifth] = [slots.take('one'), slots.take('one'), slots.take('one')];
    assert.equal(await fifth, false, 'no more than its part of those that wait');
    assert.deepEqual([await slots.take('other'), await slots.take('other')], [true, true]);
    assert.deepEqual([await third, await fourth], [false, false], 'they have waited long enough');
  });

  test('a free slot goes to the caller that has the fewest slots, and among equals to the one that waited longest', async () => {
    const slots = new Slots({ ...LIMITS, running: 2 });
    await slots.take('one');
    await slots.take('one');
    const order: string[] = [];
    const wait = (caller: string) => slots.take(caller).then(() => order.push(caller));
    const waiting = [wait('one'), wait('other'), wait('third')];
    slots.release('one');
    await waiting[1];
    slots.release('other');
    await waiting[2];
    slots.release('third');
    await Promise.all(waiting);
    assert.deepEqual(order, ['other', 'third', 'one']);
  });

  test('a caller that waits because of its own limit gets a slot when it releases one', async () => {
    const slots = new Slots(LIMITS);
    await slots.take('one');
    await slots.take('one');
    const third = slots.take('one');
    slots.release('one');
    assert.equal(await third, true);
  });
});
