/** How the SDK's own exporter shows all metrics, its and ours, to Prometheus: one scrape for the whole worker. */
import { isIPv6 } from 'node:net';
import { type MetricsExporterConfig, Runtime } from '@temporalio/worker';
import type { ListenAddress } from '../config/config-shape.ts';
import { HISTOGRAM_BUCKETS } from './metric-names.ts';

export function prometheusExporter({ host, port }: ListenAddress): MetricsExporterConfig {
  return {
    prometheus: {
      bindAddress: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
      // As Prometheus names things: counters end in _total, times are seconds and say so.
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: { ...HISTOGRAM_BUCKETS },
    },
  };
}

/**
 * Makes the SDK's runtime, which listens for Prometheus from then on.
 *
 * @throws Error naming the variable, where the SDK's own names the address
 */
export function makeRuntime(): Runtime {
  try {
    return Runtime.instance();
  } catch {
    throw new Error('nothing can listen at METRICS_ADDRESS: it is not this machine’s, or its port is taken');
  }
}
