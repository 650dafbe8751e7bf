/** Measures how long the worker's main thread blocked all other work: ledger, gateway and messages all run on it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

/** The interval of Node's timer; its figures include the interval itself. */
const RESOLUTION_MS = 10;

/** Measures until it is closed, and shows the 99th percentile of each interval's waits. */
export function watchEventLoop(metrics: Metrics, everyMs: number): { close(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const timer = setInterval(() => {
    metrics.eventLoopDelay(Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS));
    delays.reset();
  }, everyMs);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
