/** The programs that `npm run test:all` needs besides npm and Python, with their Debian packages. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

interface NeededProgram {
  program: string;
  debianPackage: string;
  /** Default: whether a program of that name is on `PATH`. */
  isFound?: (env: NodeJS.ProcessEnv) => boolean;
}

/** The first Go version that downloads the newer Go that a module requires. */
const OLDEST_GO = 21;

/** Returns the path of the browser for the tests of pages. */
export const chromiumFile = (env: NodeJS.ProcessEnv): string => env.CHROMIUM_PATH ?? '/usr/bin/chromium';

const NEEDED: readonly NeededProgram[] = [
  { program: 'chromium', debianPackage: 'chromium', isFound: (env) => isProgram(chromiumFile(env)) },
  { program: 'promtool', debianPackage: 'prometheus' },
  { program: 'psql', debianPackage: 'postgresql-client' },
  { program: `go 1.${OLDEST_GO} or newer`, debianPackage: 'golang-go', isFound: hasGo },
  { program: 'curl', debianPackage: 'curl' },
];

/** Returns one line about the programs that are missing and how to get them; `null` if none is. */
export function describeMissingPrograms(env: NodeJS.ProcessEnv): string | null {
  const missing = NEEDED.filter(({ program, isFound }) => !(isFound ? isFound(env) : isOnPath(program, env)));
  if (missing.length === 0) return null;
  const programs = missing.map(({ program }) => program).join(', ');
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))].join(' ');
  return `missing: ${programs}. Install them (apt-get install ${packages}): the tests that need them fail.`;
}

function isOnPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((directory) => isProgram(join(directory, program)));
}

function hasGo(env: NodeJS.ProcessEnv): boolean {
  const { stdout } = spawnSync('go', ['version'], { env, encoding: 'utf8' });
  return Number(/go1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0) >= OLDEST_GO;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
