/** The measures that are taken every few seconds, and how each is judged. */

import type { Series } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { openSockets, residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';
import type { Panel } from './svg.ts';
import type { Traffic } from './traffic.ts';
import { type Judge, type Verdict, verdictOf } from './verdicts.ts';

interface Measure {
  panel: string;
  name: string;
  unit: string;
  judge: Judge;
  series: Series;
}

const MEGABYTE = 1024 * 1024;
const KILOBYTE = 1024;
const LATENCY_WINDOW_MS = 60_000;
/** The worker's metric; docs/metrics.md. */
const EVENT_LOOP = /^credit_journey_event_loop_delay_seconds(?:\{[^}]*\})? (\S+)$/m;

/** V8 collects late: its memory varies by a tenth or so. A leak of 50 kB a journey is much more. */
const MEMORY: Judge = { kind: 'level', mostShare: 0.15, floor: 20 };
const SHOWN: Judge = { kind: 'shown' };
/** A pool may open one more connection. */
const SOCKETS: Judge = { kind: 'level', mostShare: 0.1, floor: 4 };
const EVENT_LOOP_JUDGE: Judge = { kind: 'level', mostShare: 0.5, floor: 20 };
/** The machine's other work affects it more than anything else. */
const LATENCY: Judge = { kind: 'level', mostShare: 0.5, floor: 100 };
/** A journey has two inquiries on average, each with a sealed report of some 25 kB. */
const LEDGER: Judge = { kind: 'perJourney', mostEach: 250, mostRatio: 1.5 };
/** Histories, visibility and task queues, and a log that the database writes into its file now and then. */
const TEMPORAL: Judge = { kind: 'perJourney', mostEach: 150, mostRatio: 1.5 };

export class Measures {
  readonly #measures = new Map<string, Measure>();
  readonly #journeys: Series = [];
  readonly #site: Site;
  readonly #traffic: Traffic;

  constructor(site: Site, traffic: Traffic) {
    this.#site = site;
    this.#traffic = traffic;
  }

  async look(at: number): Promise<void> {
    const add = (measure: Omit<Measure, 'series'>, value: number) => {
      const key = `${measure.panel}: ${measure.name}`;
      const known = this.#measures.get(key) ?? { ...measure, series: [] };
      known.series.push({ at, value });
      this.#measures.set(key, known);
    };
    for (const [name, pid] of this.#site.processes()) {
      const isOurs = name !== 'temporal' && name !== 'sandbox';
      const memory = residentBytes(pid) / MEGABYTE;
      const panel = name.startsWith('worker') ? 'workers: memory, MB' : 'others: memory, MB';
      add({ panel, name, unit: 'MB', judge: isOurs ? MEMORY : SHOWN }, memory);
      if (isOurs) add({ panel: 'open sockets', name, unit: 'sockets', judge: SOCKETS }, openSockets(pid));
    }
    for (const { name, metricsUrl } of this.#site.workers.values()) {
      const scraped = await (await fetch(metricsUrl)).text();
      const delayMs = Number(EVENT_LOOP.exec(scraped)?.[1]) * 1_000;
      add({ panel: 'workers: event loop delay, p99, ms', name, unit: 'ms', judge: EVENT_LOOP_JUDGE }, delayMs);
    }
    const ledger = (await this.#site.ledgerBytes()) / KILOBYTE;
    add({ panel: 'ledger, kB', name: 'on disk', unit: 'kB', judge: LEDGER }, ledger);
    const temporal = (await this.#site.temporalBytes()) / KILOBYTE;
    add({ panel: 'Temporal’s database, kB', name: 'on disk', unit: 'kB', judge: TEMPORAL }, temporal);
    const since = performance.now() - LATENCY_WINDOW_MS;
    const recent = this.#traffic.latencies.filter((one) => one.at >= since).map(({ ms }) => ms);
    const latency = { panel: 'one inquiry, start to result, ms', unit: 'ms' };
    add({ ...latency, name: 'p50', judge: LATENCY }, quantile(recent, 0.5));
    // Among a few dozen, the slowest is the one that had a fault.
    add({ ...latency, name: 'p99', judge: SHOWN }, quantile(recent, 0.99));
    const journeys = { panel: 'journeys', unit: '', judge: SHOWN };
    add({ ...journeys, name: 'ended, tens' }, this.#traffic.ended / 10);
    add({ ...journeys, name: 'open' }, this.#traffic.open);
    this.#journeys.push({ at, value: this.#traffic.ended });
  }

  judged(): { name: string; verdict: Verdict }[] {
    return [...this.#measures].map(([name, { series, judge, unit }]) => ({
      name,
      verdict: verdictOf(series, judge, unit, this.#journeys),
    }));
  }

  panels(): Panel[] {
    const byPanel = Map.groupBy(this.#measures.values(), ({ panel }) => panel);
    return [...byPanel].map(([title, measures]) => {
      const verdicts = measures
        .filter(({ judge }) => judge.kind !== 'shown')
        .map(({ series, judge, unit }) => verdictOf(series, judge, unit, this.#journeys));
      // Shows the worst verdict.
      const told = verdicts.find(({ isGood }) => !isGood) ?? verdicts[0];
      return {
        title,
        lines: measures.map(({ name, series }) => ({ name, series })),
        verdict: told?.text ?? 'shown, not judged',
        isGood: told?.isGood ?? true,
      };
    });
  }
}
