import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Series } from '../../bench/load/series.ts';
import { svg } from '../../bench/soak/svg.ts';
import { type Judge, verdictOf } from '../../bench/soak/verdicts.ts';

const MEMORY: Judge = { kind: 'level', mostShare: 0.15, floor: 20 };
const KEPT: Judge = { kind: 'perJourney', mostEach: 250, mostRatio: 1.5 };

/** Twenty minutes, every five seconds. */
function series(valueAt: (at: number) => number): Series {
  return Array.from({ length: 240 }, (_, index) => ({ at: index * 5, value: valueAt(index * 5) }));
}

const journeys = series((at) => at * 2);

test('a heap that warms up and is collected at times is steady', () => {
  const collected = series((at) => 250 + Math.min(at / 5, 60) + ((at * 7) % 90));
  assert.equal(verdictOf(collected, MEMORY, 'MB', journeys).isGood, true);
});

test('a leak of 50 kB a journey is found in the same noise', () => {
  const leaking = series((at) => 250 + (at * 2 * 50) / 1_024 + ((at * 7) % 90));
  assert.match(verdictOf(leaking, MEMORY, 'MB', journeys).text, /^GROWS/);
});

test('a database may grow with the journeys, but not faster', () => {
  assert.equal(
    verdictOf(
      series((at) => 8_000 + at * 2 * 180),
      KEPT,
      'kB',
      journeys,
    ).isGood,
    true,
  );
  assert.match(
    verdictOf(
      series((at) => 8_000 + at * 2 * 300),
      KEPT,
      'kB',
      journeys,
    ).text,
    /^GROWS: 300 kB/,
  );
  assert.equal(
    verdictOf(
      series((at) => at ** 2 / 10),
      KEPT,
      'kB',
      journeys,
    ).isGood,
    false,
  );
});

test('a series without measurements is not called steady', () => {
  assert.equal(
    verdictOf(
      series(() => Number.NaN),
      MEMORY,
      'MB',
      journeys,
    ).isGood,
    false,
  );
});

test('a picture has a panel for each measure, and shows no NaN', () => {
  const lines = [{ name: 'worker <1>', series: series((at) => (at === 0 ? Number.NaN : at)) }];
  const picture = svg('Soak', 'two', [{ title: 'memory', lines, verdict: 'steady', isGood: true }]);
  assert.match(picture, /worker &lt;1&gt;/);
  assert.doesNotMatch(picture, /NaN|Infinity/);
});
