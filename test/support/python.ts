/** Python packages for tests that play a caller in another language: installed once, beside the other caches. */
import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where `import` finds the pinned packages; to be given to Python in `PYTHONPATH`. */
export async function pythonPackages(...pinned: string[]): Promise<string> {
  const cache =
    process.env.CREDIT_JOURNEY_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'credit-journey');
  const target = join(cache, `python-${pinned.join('-').replaceAll(/[^\w.-]/g, '_')}`);
  if (await exists(target)) return target;
  await mkdir(cache, { recursive: true });
  const aside = `${target}.${process.pid}`;
  await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', aside, ...pinned], { timeout: 240_000 });
  // Whoever is second has made the same: the first one's stays.
  await rename(aside, target).catch(() => rm(aside, { recursive: true, force: true }));
  return target;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
