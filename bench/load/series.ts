/** Repeated measurements, and statistics of a series of figures. */
import { residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';

export interface Point {
  /** Seconds since the measurement began. */
  at: number;
  value: number;
}

export type Series = Point[];

/** The slope by least squares, in units a second. `NaN` for fewer than two points. */
export function slope(series: Series): number {
  const points = series.filter(({ value }) => Number.isFinite(value));
  const mean = (of: (point: Point) => number) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [at, value] = [mean((point) => point.at), mean((point) => point.value)];
  const covariance = mean((point) => (point.at - at) * (point.value - value));
  return points.length < 2 ? Number.NaN : covariance / mean((point) => (point.at - at) ** 2);
}

export function laterHalf(series: Series): Series {
  const [first, last] = [series[0]?.at ?? 0, series.at(-1)?.at ?? 0];
  return series.filter(({ at }) => at >= (first + last) / 2);
}

export function peak(series: Series): number {
  return Math.max(...series.map(({ value }) => value).filter(Number.isFinite));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Calls `look` at intervals until it is stopped; the next call begins when the last has ended. */
export class Sampler {
  readonly #timer: Promise<void>;
  readonly #end = new AbortController();

  constructor(everyMs: number, look: (at: number) => void | Promise<void>) {
    const beganAt = performance.now();
    this.#timer = this.#run(everyMs, () => look((performance.now() - beganAt) / 1_000));
    // `stop` reports the error later.
    this.#timer.catch(() => {});
  }

  /** @throws the error of `look`, if it threw one */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#timer;
  }

  async #run(everyMs: number, look: () => void | Promise<void>): Promise<void> {
    while (!this.#end.signal.aborted) {
      await look();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, everyMs);
        this.#end.signal.addEventListener('abort', done, { once: true });
        function done() {
          clearTimeout(timer);
          resolve();
        }
      });
    }
  }
}

/** Resident memory of processes by name, in bytes. */
export class MemoryWatch {
  readonly series = new Map<string, Series>();
  readonly #sampler: Sampler;

  constructor(processes: () => ReadonlyMap<string, number>, everyMs = 1_000) {
    this.#sampler = new Sampler(everyMs, (at) => {
      for (const [name, pid] of processes()) {
        const series = this.series.get(name) ?? [];
        series.push({ at, value: residentBytes(pid) });
        this.series.set(name, series);
      }
    });
  }

  stop(): Promise<void> {
    return this.#sampler.stop();
  }
}
