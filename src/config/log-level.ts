/** `LOG_LEVEL`: how much the programs log. */
import type { Environment } from '../model/products.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function readLogLevel(reader: EnvironmentReader, environment: Environment): LogLevel {
  const level = reader.oneOf('LOG_LEVEL', LOG_LEVELS, 'INFO');
  // At this level the SDK passes whole tasks to its logger. Only our list of fields would keep personal data out.
  if (level === 'TRACE' && environment !== 'sandbox') reader.report('LOG_LEVEL', 'may be TRACE in the sandbox alone');
  return level;
}
