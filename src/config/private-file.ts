/** Checks that files with a secret are not open to every user of the machine. */
import { statSync } from 'node:fs';
import type { Environment } from '../model/products.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/**
 * The rule that a secret's file breaks in production, or `null`. Its group may read it: containers get files that way
 * (`fsGroup`). A missing file is no problem here; its reader reports it.
 */
export function openFileProblem(path: string): string | null {
  if (process.platform === 'win32') return null;
  const about = statSync(path, { throwIfNoEntry: false });
  const isOpen = about !== undefined && (about.mode & 0o007) !== 0;
  return isOpen ? 'must be in a file that is closed to other users in production: `chmod o-rwx` it' : null;
}

/** Reports a variable whose file contains a secret and is open to every user; in production only. */
export function checkSecretFile(reader: EnvironmentReader, environment: Environment, variable: string): void {
  const path = reader.optional(variable);
  const rule = path === undefined || environment !== 'production' ? null : openFileProblem(path);
  if (rule) reader.report(variable, rule);
}
