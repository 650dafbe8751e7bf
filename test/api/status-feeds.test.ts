import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusFeeds } from '../../src/api/status/status-feeds.ts';
import { Refusal } from '../../src/http/refusal.ts';

/** A run whose status is changed by hand, and which counts how often it is watched. */
function watched(runKey: string) {
  const run = { runKey, watches: 0, ended: 0, change: Promise.withResolvers<object | null>() };
  const set = (status: object | null) => {
    const { resolve } = run.change;
    run.change = Promise.withResolvers();
    resolve(status);
  };
  async function* watch({ signal }: { signal: AbortSignal }) {
    run.watches++;
    const stopped = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
    let status: object | null = { n: 0 };
    while (status) {
      yield status;
      status = await Promise.race([run.change.promise, stopped]);
    }
    run.ended++;
  }
  return { run, set, watchable: { runKey, watch } };
}

const waiting = (signal = new AbortController().signal, caller = 'platform') => ({ caller, waitMs: 5_000, signal });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('callers that wait for a run’s status', () => {
  test('a thousand cost one watch, and all hear of the change', async (t) => {
    const feeds = new StatusFeeds();
    t.after(() => feeds.close());
    const { run, set, watchable } = watched('J-1');
    const first = await feeds.next(watchable, () => false, waiting());
    assert.deepEqual(first?.status, { n: 0 });
    const known = (etag: string) => etag === first?.etag;
    const all = Array.from({ length: 1_000 }, () => feeds.next(watchable, known, waiting()));
    await turn();
    set({ n: 1 });
    for (const found of await Promise.all(all)) assert.deepEqual(found?.status, { n: 1 });
    assert.equal(run.watches, 1);
  });

  test('a run is watched only while a caller waits', async () => {
    const feeds = new StatusFeeds({ lingerMs: 1 });
    const { run, watchable } = watched('J-1');
    await feeds.next(watchable, () => false, waiting());
    while (feeds.size > 0 || run.ended === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(run.ended, 1);
  });

  test('one whose time is over, or who has gone, gets the status that is known', async (t) => {
    const feeds = new StatusFeeds();
    t.after(() => feeds.close());
    const { watchable } = watched('J-1');
    const over = await feeds.next(watchable, () => true, { ...waiting(), waitMs: 20 });
    assert.deepEqual(over?.status, { n: 0 });
    const gone = new AbortController();
    const left = feeds.next(watchable, () => true, waiting(gone.signal));
    gone.abort();
    assert.deepEqual((await left)?.status, { n: 0 });
  });

  test('beyond so many runs or so many callers it is refused, with a time to come again', async (t) => {
    const feeds = new StatusFeeds({ runs: 1, waiters: 3 });
    t.after(() => feeds.close());
    const { watchable } = watched('J-1');
    const isFull = (error: unknown) => error instanceof Refusal && error.status === 429 && !!error.retryAfterSeconds;
    const stop = new AbortController();
    const wait = (run = watchable) => feeds.next(run, () => true, waiting(stop.signal));
    const held = [wait(), wait()];
    await assert.rejects(wait(watched('J-2').watchable), isFull);
    held.push(wait());
    await assert.rejects(wait(), isFull);
    stop.abort();
    await Promise.all(held);
  });

  test('one caller leaves room for the others, of those that wait and of the runs that are watched', async (t) => {
    const feeds = new StatusFeeds({ runs: 4, runsPerCaller: 2, waiters: 6, waitersPerCaller: 3 });
    t.after(() => feeds.close());
    const stop = new AbortController();
    const wait = (runKey: string, caller: string) =>
      feeds.next(watched(runKey).watchable, () => true, waiting(stop.signal, caller));
    const isFull = (error: unknown) => error instanceof Refusal && error.status === 429;
    const held = [wait('J-1', 'one'), wait('J-2', 'one')];
    await assert.rejects(wait('J-3', 'one'), isFull);
    held.push(wait('J-1', 'one'));
    await assert.rejects(wait('J-1', 'one'), isFull);
    held.push(wait('J-3', 'other'), wait('J-1', 'other'), wait('J-4', 'other'));
    stop.abort();
    assert.equal((await Promise.all(held)).length, 6);
    await feeds.next(watched('J-1').watchable, () => true, { ...waiting(undefined, 'one'), waitMs: 5 });
  });

  test('an error of the watch reaches all that wait, and the next caller tries again', async (t) => {
    const feeds = new StatusFeeds();
    t.after(() => feeds.close());
    let times = 0;
    const failing = {
      runKey: 'J-1',
      // biome-ignore lint/correctness/useYield: it fails first
      watch: async function* (): AsyncGenerator<object> {
        times++;
        throw new Error('away');
      },
    };
    for (const _ of [1, 2])
      await assert.rejects(
        feeds.next(failing, () => false, waiting()),
        /away/,
      );
    assert.equal(times, 2);
  });
});
