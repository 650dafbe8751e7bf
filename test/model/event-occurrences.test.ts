import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCarriedOccurrences, toOccurrenceName } from '../../src/messages/webhooks/events.ts';

test('event counts for continue-as-new stay small after 20,000 refused consents and keep all other events', () => {
  const occurrences = new Map([[toOccurrenceName('inquiry.held', ['T1', 1, 'OutcomeUnknown']), 2]]);
  for (let index = 0; index < 20_000; index++) {
    occurrences.set(toOccurrenceName('consent.refused', [`C${index}`, 'a reason of some length']), 1);
    occurrences.set(toOccurrenceName('consent.unmatched', [`X${index}`, '1A', `C${index}`, 'denied']), 1);
  }
  occurrences.set(toOccurrenceName('share.posted', ['S1']), 1);
  const carried = toCarriedOccurrences(occurrences);
  assert.ok(JSON.stringify(carried).length < 100_000);
  assert.equal(carried[toOccurrenceName('inquiry.held', ['T1', 1, 'OutcomeUnknown'])], 2);
  assert.equal(carried[toOccurrenceName('share.posted', ['S1'])], 1);
  assert.equal(carried[toOccurrenceName('consent.refused', ['C19999', 'a reason of some length'])], 1);
});
