/** The directory of portfolio files. */
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { EnvironmentReader } from './environment-reader.ts';

const VARIABLE = 'PORTFOLIO_DIR';

/** An absolute path; `undefined` where this worker reads no portfolios. */
export function readPortfolioDirectory(reader: EnvironmentReader): string | undefined {
  const path = reader.optional(VARIABLE);
  if (path === undefined) return undefined;
  if (!isAbsolute(path) || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    reader.report(VARIABLE, 'must be the absolute path of a directory');
  }
  return path;
}
