/** Serves all metrics, the SDK's and ours, to Prometheus by the SDK's own exporter: one scrape for the whole worker. */
import { isIPv6 } from 'node:net';
import { type MetricsExporterConfig, Runtime } from '@temporalio/worker';
import type { ListenAddress } from '../config/variables.ts';
import { HISTOGRAM_BUCKETS } from './metric-names.ts';

export function prometheusExporter({ host, port }: ListenAddress): MetricsExporterConfig {
  return {
    prometheus: {
      bindAddress: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
      // Prometheus naming: counters end in _total, times are seconds and say so.
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
 * @throws Error that names the variable of the address that the SDK refuses
 */
export function makeRuntime(): Runtime {
  try {
    return Runtime.instance();
  } catch {
    throw new Error('nothing can listen at METRICS_ADDRESS: it is not this machine’s, or its port is taken');
  }
}
