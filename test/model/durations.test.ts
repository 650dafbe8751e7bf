import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDurationMs } from '../../src/base/instants.ts';

const DAY_MS = 86_400_000;

test('durations in days and time are read to the millisecond', () => {
  assert.equal(parseDurationMs('P30D'), 30 * DAY_MS);
  assert.equal(parseDurationMs('PT24H'), DAY_MS);
  assert.equal(parseDurationMs('P1DT12H'), 1.5 * DAY_MS);
  assert.equal(parseDurationMs('PT90S'), 90_000);
});

test('what has no fixed length, no length or another form is no duration', () => {
  for (const text of ['P1M', 'P1Y', 'P1W', 'P', 'PT', 'P1DT', 'PT0S', '-P1D', '30D', 'P1.5D', '', 'p30d', 'P999999D']) {
    assert.equal(parseDurationMs(text), null, text);
  }
});
