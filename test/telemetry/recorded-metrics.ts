/** The real metrics over a meter that remembers what was put into it last. */
import type { MetricMeter, MetricTags } from '@temporalio/common';
import { METRICS, Metrics } from '../../src/telemetry/metrics.ts';

/**
 * `of` reads the series of a gauge that were put, by the words of their labels; `onPut` is called with each metric's key
 * of the table.
 */
export function recordMetrics(onPut: (key: string) => void = () => {}) {
  const put = new Map<string, Map<string, number>>();
  const keys = new Map<string, string>(Object.entries(METRICS).map(([key, metric]) => [metric.base, key]));
  const remember =
    (name: string) =>
    (value: number, labels: MetricTags = {}) => {
      const key = keys.get(name) ?? name;
      const series = put.get(key) ?? new Map<string, number>();
      put.set(key, series.set(Object.values(labels).join(' '), value));
      onPut(key);
    };
  const meter = {
    createCounter: (name: string) => ({ add: remember(name) }),
    createGauge: (name: string) => ({ set: remember(name) }),
    createHistogram: (name: string) => ({ record: remember(name) }),
  } as unknown as MetricMeter;
  const of = (key: keyof typeof METRICS) => {
    const series = put.get(key);
    return series && Object.fromEntries(series);
  };
  return { metrics: new Metrics(meter), of };
}

/** The series that are not 0. */
export function aboveZero(series: Record<string, number> | undefined): Record<string, number> | undefined {
  return series && Object.fromEntries(Object.entries(series).filter(([, value]) => value !== 0));
}
