/**
 * Logs our own lines, the SDK's and its native core's as JSON on standard error. Every line, of any author, contains
 * only the fields and texts that log-fields.ts permits.
 */
import { isIPv6 } from 'node:net';
import { types } from 'node:util';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { type Bindings, type ChildLoggerOptions, type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { writeToStandardError } from '../base/standard-error.ts';
import type { ListenAddress, LogLevel } from '../config/variables.ts';
import { cutForeignMessage, cutMessage, pickFields } from './log-fields.ts';
import { HISTOGRAM_BUCKETS } from './metrics.ts';

/** @param to default: standard error */
export function createLogger(level: LogLevel = 'INFO', to: DestinationStream = STANDARD_ERROR): Logger {
  const logger = pino({ level: level.toLowerCase(), base: null, hooks: { logMethod } }, to);
  const { child } = logger;
  // pino formats the bound fields of a child in the parent alone; children inherit this.
  logger.child = function childOf<Custom extends string = never>(
    this: Logger,
    bindings: Bindings,
    options?: ChildLoggerOptions<Custom>,
  ): Logger<Custom> {
    return Reflect.apply(child, this, [pickFields(bindings), options]);
  };
  return logger;
}

/** If its reader is gone, or reads no more, the process continues without logs. */
const STANDARD_ERROR: DestinationStream = {
  write(line) {
    try {
      writeToStandardError(line);
    } catch {
      // There is no other place for it.
    }
  },
};

/**
 * Accepts every form of call, also an error alone or several texts. Writes the fields first, then a message without
 * further formatting.
 */
function logMethod(this: Logger, [first, second]: Parameters<LogFn>, method: LogFn): void {
  const isText = typeof first === 'string';
  const meta = types.isNativeError(first) ? { error: first } : first;
  method.call(this, isText ? {} : pickFields((meta ?? {}) as object), cutMessage(isText ? first : second));
}

/** Components of our own lines: the workflows' and the activities'. All other lines are the SDK's. */
const OWN_COMPONENTS: readonly unknown[] = ['workflow', 'activity'];

/**
 * Sends the logs of the SDK and its native core through our logger, and makes the SDK serve its metrics if they are
 * configured. Must be called before anything of the SDK's worker is made.
 */
export function installLogger(logger: Logger, level: LogLevel = 'INFO', metricsAddress?: ListenAddress): void {
  // Not `Runtime.install`. A runtime that forwards the core's logs keeps the process alive until the last worker and
  // connection are gone, and some processes never make one. The SDK makes its runtime from these options when it needs
  // it.
  Runtime.defaultOptions = {
    logger: new DefaultLogger(level, (entry) => writeEntry(logger, entry)),
    telemetryOptions: {
      // Below warnings the core writes whole tasks, which are of no use here.
      logging: { filter: { core: level === 'ERROR' ? 'ERROR' : 'WARN', other: 'ERROR' }, forward: {} },
      metrics: metricsAddress && { prometheus: toPrometheusOptions(metricsAddress) },
    },
    shutdownSignals: [],
  };
}

/** Writes one entry of the SDK as a line of ours. */
export function writeEntry(
  logger: Logger,
  { level, message, meta }: Pick<LogEntry, 'level' | 'message' | 'meta'>,
): void {
  const isOwn = OWN_COMPONENTS.includes(meta?.sdkComponent);
  const text = isOwn ? cutMessage(message) : cutForeignMessage(message);
  logger[level.toLowerCase() as Lowercase<LogLevel>](meta ?? {}, text);
}

// Serves all metrics, the SDK's and ours, to Prometheus by the SDK's own exporter: one scrape for the whole worker.

function toPrometheusOptions({ host, port }: ListenAddress) {
  return {
    bindAddress: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
    // Prometheus naming: counters end in _total, times are seconds and say so.
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: { ...HISTOGRAM_BUCKETS },
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
