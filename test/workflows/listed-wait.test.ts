/** What the lists say of an inquiry that is retried, without a server. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { InquiryFailure } from '../../src/activities/contract.ts';
import { ListedWait } from '../../src/workflows/inquiry/retries.ts';
import { RetryWaits } from '../../src/workflows/run/run.ts';

function failed(failureType: InquiryFailure['failureType']): InquiryFailure {
  return { failureType, attempt: 1, claimed: true };
}

test('a retry is listed once it takes long, stays listed while it is repeated, and ends', (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const waits = new RetryWaits();
  const listed = new ListedWait(waits, 'N1', undefined);
  listed.begin(failed('Throttled'), Date.now() + 1_000);
  assert.deepEqual([waits.first, listed.carried], [undefined, {}], 'over within seconds');
  mock.timers.tick(4_500);
  listed.begin(failed('Throttled'), Date.now() + 1_000);
  assert.deepEqual([waits.first, waits.count, listed.carried], ['gateway', 1, { waitsFor: 'gateway' }]);
  listed.begin(failed('Paused'), Date.now() + 1);
  assert.equal(waits.first, 'pause', 'the latest reason counts at once');
  listed.begin(failed('ActivityFailed'), Date.now() + 1);
  assert.equal(waits.first, undefined, 'no list says it');
  listed.begin(failed('LedgerUnavailable'), Date.now() + 1);
  assert.equal(waits.first, 'ledger');
  listed.end();
  listed.begin(failed('Throttled'), Date.now() + 1_000);
  assert.equal(waits.first, undefined, 'it begins anew');
});

test('the next run lists at once what was handed over, and tells one inquiry from another', () => {
  const waits = new RetryWaits();
  const listed = new ListedWait(waits, 'N1', 'pause');
  waits.note('N2', 'gateway');
  assert.deepEqual([waits.first, waits.count], ['pause', 2]);
  listed.end();
  assert.deepEqual([waits.first, waits.of('N2'), waits.count], ['gateway', 'gateway', 1]);
});
