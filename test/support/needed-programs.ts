/** The programs that `npm run test:all` needs beside npm and Python, and how Debian names them. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

interface NeededProgram {
  program: string;
  debianPackage: string;
  /** Default: the program is looked for on `PATH`. */
  path?: (env: NodeJS.ProcessEnv) => string;
}

export const chromiumFile = (env: NodeJS.ProcessEnv): string => env.CHROMIUM_PATH ?? '/usr/bin/chromium';

const NEEDED: readonly NeededProgram[] = [
  { program: 'chromium', debianPackage: 'chromium', path: chromiumFile },
  { program: 'promtool', debianPackage: 'prometheus' },
  { program: 'prometheus', debianPackage: 'prometheus' },
  { program: 'psql', debianPackage: 'postgresql-client' },
  { program: 'go', debianPackage: 'golang-go' },
  { program: 'curl', debianPackage: 'curl' },
];

/** Returns one line about the programs that are missing and how to get them; `null` if none is. */
export function describeMissingPrograms(env: NodeJS.ProcessEnv): string | null {
  const missing = NEEDED.filter(({ program, path }) => !(path ? isProgram(path(env)) : isOnPath(program, env)));
  if (missing.length === 0) return null;
  const programs = missing.map(({ program }) => program).join(', ');
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))].join(' ');
  return `missing: ${programs}. Install them (apt-get install ${packages}): the tests that need them fail.`;
}

function isOnPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((directory) => isProgram(join(directory, program)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
