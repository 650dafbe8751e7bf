/**
 * One logger for our own lines, the SDK's and its native core's: JSON on standard error, and nothing in it but what
 * log-fields.ts lets through, whoever logs and with whatever.
 */
import { types } from 'node:util';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  destination,
  type LogFn,
  type Logger,
  pino,
} from 'pino';
import type { ListenAddress } from '../config/config-shape.ts';
import type { LogLevel } from '../config/log-level.ts';
import { fieldsOf, foreignMessageOf, messageOf } from './log-fields.ts';
import { prometheusExporter } from './metrics-exporter.ts';

export type { LogLevel } from '../config/log-level.ts';
export { errorFields } from './log-fields.ts';

/** @param to default: standard error */
export function createLogger(level: LogLevel = 'INFO', to: DestinationStream = standardError()): Logger {
  const logger = pino({ level: level.toLowerCase(), base: null, hooks: { logMethod } }, to);
  const { child } = logger;
  // pino formats what a child is bound to in the parent alone; children inherit this.
  logger.child = function childOf<Custom extends string = never>(
    this: Logger,
    bindings: Bindings,
    options?: ChildLoggerOptions<Custom>,
  ): Logger<Custom> {
    return Reflect.apply(child, this, [fieldsOf(bindings), options]);
  };
  return logger;
}

/** Where nobody reads any more, the work goes on unheard. */
function standardError(): DestinationStream {
  const stream = destination({ fd: 2, sync: true });
  stream.on('error', () => {});
  return stream;
}

/** Whatever it is called with, an error alone or texts to be put together: fields first, then a message as it stands. */
function logMethod(this: Logger, [first, second]: Parameters<LogFn>, method: LogFn): void {
  const isText = typeof first === 'string';
  const meta = types.isNativeError(first) ? { error: first } : first;
  method.call(this, isText ? {} : fieldsOf((meta ?? {}) as object), messageOf(isText ? first : second));
}

/** Lines that are our own: the workflows' and the activities'. The rest is the SDK's. */
const OWN_COMPONENTS: readonly unknown[] = ['workflow', 'activity'];

/**
 * Sends the SDK's logs, and its native core's, through our logger, and has it show its metrics where they are asked
 * for. Before anything of the SDK's worker is made.
 */
export function installLogger(logger: Logger, level: LogLevel = 'INFO', metricsAddress?: ListenAddress): void {
  // Not `Runtime.install`: a runtime that forwards the core's logs keeps the process alive until the last worker and
  // connection are gone, and some processes never make one. The SDK makes its runtime by these options when it needs it.
  Runtime.defaultOptions = {
    logger: new DefaultLogger(level, (entry) => writeEntry(logger, entry)),
    telemetryOptions: {
      // Below warnings the core writes whole tasks, which nobody needs to sift.
      logging: { filter: { core: level === 'ERROR' ? 'ERROR' : 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress ? { metrics: prometheusExporter(metricsAddress) } : {}),
    },
    shutdownSignals: [],
  };
}

/** One entry of the SDK's as a line of ours. */
export function writeEntry(
  logger: Logger,
  { level, message, meta }: Pick<LogEntry, 'level' | 'message' | 'meta'>,
): void {
  const isOwn = OWN_COMPONENTS.includes(meta?.sdkComponent);
  const text = isOwn ? messageOf(message) : foreignMessageOf(message);
  logger[level.toLowerCase() as Lowercase<LogLevel>](meta ?? {}, text);
}
