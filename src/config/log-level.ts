/** `LOG_LEVEL`: how much is logged. */
import type { Environment } from '../model/products.ts';
import type { EnvironmentReader } from './environment-reader.ts';

export const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function readLogLevel(reader: EnvironmentReader, environment: Environment): LogLevel {
  const level = reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'INFO');
  // At this level the SDK hands whole tasks to its logger: only our list of fields would stand before a person's data.
  if (level === 'TRACE' && environment !== 'sandbox') reader.report('LOG_LEVEL', 'may be TRACE in the sandbox alone');
  return level;
}
