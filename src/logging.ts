/**
 * One logger for our own lines and the SDK's: JSON on standard error, a fixed list of fields, and of an error only
 * its class, its failure type and where it was thrown, since messages may quote what they failed on.
 */
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { destination, type Logger, pino } from 'pino';

/** Fields of the SDK's log metadata that are passed on. None of them holds anything personal. */
const ALLOWED_FIELDS = [
  'sdkComponent',
  'taskQueue',
  'namespace',
  'workflowId',
  'runId',
  'workflowType',
  'activityId',
  'activityType',
  'attempt',
  'durationMs',
  'state',
] as const;

export type LogLevel = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

export function createLogger(level: LogLevel = 'INFO'): Logger {
  return pino({ level: level.toLowerCase(), base: null }, destination({ fd: 2, sync: true }));
}

let isInstalled = false;

/** Sends the SDK's logs through our logger, before anything of the SDK's worker is made. Once per process. */
export function installLogger(logger: Logger, level: LogLevel = 'INFO'): void {
  if (isInstalled) return;
  isInstalled = true;
  const write = ({ level: entryLevel, message, meta }: LogEntry) => {
    logger[entryLevel.toLowerCase() as Lowercase<LogLevel>](fieldsOf(meta ?? {}), firstLineOf(message));
  };
  Runtime.install({
    logger: new DefaultLogger(level, write),
    // The core's own warnings print failed tasks whole: only its errors pass.
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
    shutdownSignals: [],
  });
}

function fieldsOf(meta: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of ALLOWED_FIELDS) if (meta[name] !== undefined) fields[name] = meta[name];
  if (meta.error !== undefined) fields.error = errorFields(meta.error);
  return fields;
}

/** What may be said of an error anywhere. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { type, code } = error as { type?: unknown; code?: unknown };
  const at = /\(?([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?/.exec(error.stack?.split('\n').slice(1).join('\n') ?? '')?.[1];
  return {
    name: error.name,
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(at ? { at } : {}),
  };
}

function firstLineOf(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
