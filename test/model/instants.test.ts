import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDurationMs, parseInstantMs } from '../../src/base/instants.ts';

test('instants with an offset are parsed', () => {
  assert.equal(parseInstantMs('2026-11-21T10:00:00Z'), Date.UTC(2026, 10, 21, 10));
  assert.equal(parseInstantMs('2026-11-21T10:00:00.250+02:00'), Date.UTC(2026, 10, 21, 8, 0, 0, 250));
});

test('instants with an impossible date or without an offset are refused', () => {
  for (const text of [
    '2026-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-04-31T10:00:00Z',
    '2026-04-30T24:00:00Z',
    '2026-04-30T10:00:60Z',
    '2026-04-30T10:00:00',
    '2026-04-30 10:00:00Z',
    '2026-04-30',
    '2026-04-30T10:00:00+25:00',
  ]) {
    assert.equal(parseInstantMs(text), null, text);
  }
});

const DAY_MS = 86_400_000;

test('durations in days and time are parsed to the millisecond', () => {
  assert.equal(parseDurationMs('P30D'), 30 * DAY_MS);
  assert.equal(parseDurationMs('PT24H'), DAY_MS);
  assert.equal(parseDurationMs('P1DT12H'), 1.5 * DAY_MS);
  assert.equal(parseDurationMs('PT90S'), 90_000);
});

test('durations of variable, zero or malformed length are refused', () => {
  for (const text of ['P1M', 'P1Y', 'P1W', 'P', 'PT', 'P1DT', 'PT0S', '-P1D', '30D', 'P1.5D', '', 'p30d', 'P999999D']) {
    assert.equal(parseDurationMs(text), null, text);
  }
});
