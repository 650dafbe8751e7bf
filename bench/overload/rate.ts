/**
 * Thousands of journeys at once in front of a slow gateway: nothing fails, memory stays bounded, and the limit holds.
 */
import { prequal } from '../load/inputs.ts';
import { MemoryWatch, peak, type Series } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { bounded, exactly, type Finding, type Part, plain } from './finding.ts';
import { closedCounts, flood, untilPosted } from './floods.ts';

export interface RateOptions {
  journeys: number;
  /** Inquiries a second, of all workers together. */
  limit: number;
  say(text: string): void;
}

const MEGABYTE = 1024 * 1024;
const SAMPLED_RESULTS = 100;
/**
 * A worker stays far below it under this load. V8 grows its heap before it collects, and the cache of 1,000 runs takes
 * 100 MB and more.
 */
const WORKER_MOST_MB = 1_024;
/**
 * The highest value of the last quarter divided by that of the second. Caches are full by then, and a heap that is
 * collected only now and then rises and falls within any few minutes.
 */
const MOST_RATIO = 1.25;
/** A smaller run does not fill the caches, and ends before anything is steady. */
const JUDGED_FROM = 2_500;

export async function rate(site: Site, { journeys, limit, say }: RateOptions): Promise<Part> {
  const memory = new MemoryWatch(site.processes);
  const beganAt = performance.now();
  const ids = await flood(site, journeys, () => prequal('EU123'), { workClass: 'interactive' });
  const startedS = (performance.now() - beganAt) / 1_000;
  say(`${journeys} started in ${startedS.toFixed(0)} s`);
  await untilPosted(site, journeys, say);
  const tookS = (performance.now() - beganAt) / 1_000;
  const closed = await closedCounts(site, ids);
  await memory.stop();

  const received = await site.received();
  const times = received.map(({ receivedAt }) => Date.parse(receivedAt)).sort((a, b) => a - b);
  const traces = new Set(received.map(({ customerTraceNumber }) => customerTraceNumber));
  const sample = ids.filter((_, index) => index % Math.ceil(ids.length / SAMPLED_RESULTS) === 0);
  const results = await Promise.all(sample.map((id) => site.journeys.get(id).result()));
  const withRecord = results.filter(({ stages }) => stages[0]?.state === 'record').length;
  return {
    title: 'rate',
    run: `${journeys} journeys at once, ${site.workers.size} workers, ${limit} inquiries a second`,
    findings: [
      plain('seconds until all were started', startedS),
      plain('seconds until all were posted', tookS),
      exactly('runs that completed', closed.completed, journeys),
      exactly('runs that failed, timed out or need a person', closed.other, 0),
      exactly(`of ${sample.length} results, those with a record`, withRecord, sample.length),
      exactly('requests at the gateway', received.length, journeys),
      exactly('distinct trace numbers', traces.size, journeys),
      // After a pause, the server lets through a second's worth at once, and one more.
      ...[1, 10, 60].map((seconds) =>
        bounded(`most requests in any ${seconds} s`, busiest(times, seconds * 1_000), mostArrivals(limit, seconds)),
      ),
      ...memoryFindings(memory, journeys),
    ],
  };
}

function memoryFindings(memory: MemoryWatch, journeys: number): Finding[] {
  return [...memory.series].flatMap(([name, series]) => {
    const peakMb = peak(series) / MEGABYTE;
    const growth = peak(quarter(series, 3)) / peak(quarter(series, 1));
    const [most, later] = [`${name}: most memory, MB`, '  most in the last quarter, by that in the second'];
    // The sandbox remembers every request, and the development server is not ours: both are only shown.
    const isJudged = name.startsWith('worker');
    return [
      isJudged ? bounded(most, peakMb, WORKER_MOST_MB) : plain(most, peakMb),
      isJudged && journeys >= JUDGED_FROM ? bounded(later, growth, MOST_RATIO) : plain(later, growth),
    ];
  });
}

function quarter(series: Series, index: number): Series {
  return series.slice(Math.floor((series.length * index) / 4), Math.ceil((series.length * (index + 1)) / 4));
}

/**
 * The most arrivals in a window. A queue releases so many a second, and after a pause one second's worth at once. Where
 * a worker is busy, evenly released tasks arrive in bunches: a twentieth more.
 */
function mostArrivals(limit: number, seconds: number): number {
  return Math.ceil(limit * (seconds + 1) * 1.05);
}

/** The most of these instants in any window of that length. */
function busiest(times: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  for (let last = 0; last < times.length; last++) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
