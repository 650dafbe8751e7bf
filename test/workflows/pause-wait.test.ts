/** How an inquiry waits for the end of a pause, without a server. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { InquiryFailure, RunConfig } from '../../src/activities/contract.ts';
import { findListedReason, PauseWait } from '../../src/workflows/inquiry/retries.ts';

const SETTINGS = { backoffInitialMs: 1_000 } as RunConfig['settings'];
const HOUR_MS = 3_600_000;

function failed(failureType: InquiryFailure['failureType']): InquiryFailure {
  return { failureType, attempt: 1, claimed: false };
}

test('a resumption ends the wait where it came after the attempt had begun, also before its refusal was known', () => {
  const inFlight = { resumptions: 3 };
  const pause = new PauseWait(inFlight, undefined);
  pause.beginAttempt();
  inFlight.resumptions++;
  assert.equal(pause.isOver, false, 'there is no pause');
  pause.note(failed('Paused'));
  assert.equal(pause.isOver, true);
  pause.beginAttempt();
  pause.note(failed('Paused'));
  assert.equal(pause.isOver, false, 'it was about an earlier attempt');
});

test('in the next run any resumption ends the wait that was handed over', () => {
  const inFlight = { resumptions: 0 };
  const pause = new PauseWait(inFlight, Date.now());
  assert.equal(pause.isOver, false);
  inFlight.resumptions++;
  assert.equal(pause.isOver, true);
});

test('it asks after as long as it has waited, at most an hour, and tells how long the pause was', (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const pause = new PauseWait({ resumptions: 0 }, undefined);
  const isBetween = (ms: number, most: number) => ms >= most / 2 && ms <= most;
  assert.equal(pause.note(failed('Paused')), 0);
  assert.ok(isBetween(pause.waitMs(SETTINGS), 1_000));
  mock.timers.tick(60_000);
  assert.equal(pause.note(failed('Paused')), 0);
  assert.ok(isBetween(pause.waitMs(SETTINGS), 60_000));
  mock.timers.tick(48 * HOUR_MS);
  assert.ok(isBetween(pause.waitMs(SETTINGS), HOUR_MS));
  assert.deepEqual(pause.carried, { pausedSinceMs: 1_000_000 });
  assert.equal(pause.note(failed('Throttled')), 48 * HOUR_MS + 60_000);
  assert.deepEqual([pause.carried, pause.note(failed('Throttled'))], [{}, 0]);
});

test('the lists name the reason of a retry that takes long, and none for a wait of seconds', () => {
  const failed = (failureType: 'Throttled' | 'Paused' | 'ActivityFailed') => ({
    failureType,
    attempt: 1,
    claimed: true,
  });
  assert.equal(findListedReason(failed('Throttled'), 4_999), undefined);
  assert.equal(findListedReason(failed('Throttled'), 5_000), 'gateway');
  assert.equal(findListedReason(failed('Paused'), 5_000), 'pause');
  assert.equal(findListedReason(failed('ActivityFailed'), 5_000), undefined);
});
