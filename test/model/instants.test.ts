import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInstantMs } from '../../src/base/instants.ts';

test('instants with an offset are read', () => {
  assert.equal(parseInstantMs('2026-11-21T10:00:00Z'), Date.UTC(2026, 10, 21, 10));
  assert.equal(parseInstantMs('2026-11-21T10:00:00.250+02:00'), Date.UTC(2026, 10, 21, 8, 0, 0, 250));
});

test('dates that no calendar has, and instants without an offset, are refused', () => {
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
