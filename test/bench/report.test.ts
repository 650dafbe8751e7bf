import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pair, type Report, summary, table } from '../../bench/report.ts';

/** A pair with these journeys per second: of the journey, and of the bare workflow. */
function pairOf(journey: number, bare: number): Pair {
  const load = (journeysPerSecond: number) => ({ journeysPerSecond, workerCpuMs: 20, serverCpuMs: 40 });
  return { load: { journey: load(journey), bare: load(bare) }, fast: {}, slow: {}, killed: {}, memory: {} };
}

const report: Report = { beside: 'bare', pairs: [pairOf(30.5, 40), pairOf(20.25, 45), pairOf(36, 40)] };

test('each median and each ratio is shown with the minimum and the maximum of its pairs', () => {
  const [line] = summary(report);
  assert.deepEqual(line?.spread, { journey: [20.25, 36], beside: [40, 45], ratio: [0.45, 0.9] });
  const [, row = '', ...rest] = table(report).split('\n');
  assert.match(
    row,
    /^journeys per second, 200 at once +30\.5 \(20\.3–36\) +40 \(40–45\) +0\.76 \(0\.45–0\.90\) {2}at least 0\.85/,
  );
  assert.match(rest.at(-1) ?? '', /^medians \(least–most of all pairs\)/);
  for (const text of rest.slice(0, -1)) assert.match(text, /\(.+–.+\) .*\(.+–.+\) .*\(.+–.+\)/, text);
});

test('a figure from a single pair is shown without a spread', () => {
  const alone: Report = { beside: 'bare', pairs: report.pairs.slice(0, 1) };
  assert.equal(summary(alone)[0]?.spread, null);
  assert.match(table(alone), /200 at once +30\.5 +40 +0\.76 {2}at least/);
});
