/** Computes waits before a retry, and the reason that lists show meanwhile. Needs no server. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { InquiryFailure, RunConfig } from '../../src/activities/contract.ts';
import { computeWaitMs, findListedReason } from '../../src/workflows/inquiry/inquiry-protocol.ts';

const SETTINGS = { backoffInitialMs: 1_000, backoffMaxMs: 60_000 } as RunConfig['settings'];
const HOUR_MS = 3_600_000;

function failed(failureType: InquiryFailure['failureType']): InquiryFailure {
  return { failureType, attempt: 1, claimed: false };
}

test('a paused inquiry is tried again after as long as it has waited, at most an hour', (t) => {
  mock.timers.enable({ apis: ['Date'], now: 100 * HOUR_MS });
  t.after(() => mock.timers.reset());
  for (const [pausedForMs, mostMs] of [
    [0, 1_000],
    [60_000, 60_000],
    [48 * HOUR_MS, HOUR_MS],
  ] as const) {
    const ms = computeWaitMs(failed('Paused'), SETTINGS, { failures: 9, pausedSinceMs: Date.now() - pausedForMs });
    assert.ok(ms >= mostMs / 2 && ms <= mostMs, String(ms));
  }
});

test('the list attribute has the reason of a retry after a long wait, and none for a wait of seconds', () => {
  assert.equal(findListedReason(failed('Throttled'), 4_999), undefined);
  assert.equal(findListedReason(failed('Throttled'), 5_000), 'gateway');
  assert.equal(findListedReason(failed('Paused'), 5_000), 'pause');
  assert.equal(findListedReason(failed('ActivityFailed'), 5_000), undefined);
});
