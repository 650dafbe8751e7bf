/** Python packages for tests that play a caller in another language: installed once, beside the other caches. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns the directory of the pinned packages, for Python's `PYTHONPATH`. */
export async function pythonPackages(...pinned: string[]): Promise<string> {
  return installed(pinned.join('-').replaceAll(/[^\w.-]/g, '_'), pinned);
}

/** Like `pythonPackages`, for a requirements file with the hash of each file and nothing else. */
export async function pythonRequirements(file: string): Promise<string> {
  const version = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
    .slice(0, 12);
  const options = ['--require-hashes', '--no-deps', '--only-binary=:all:', '--no-compile'];
  return installed(`${basename(file, '.txt')}-${version}`, [...options, '--requirement', file]);
}

async function installed(name: string, what: readonly string[]): Promise<string> {
  const cache =
    process.env.CREDIT_JOURNEY_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'credit-journey');
  const target = join(cache, `python-${name}`);
  if (await exists(target)) return target;
  await mkdir(cache, { recursive: true });
  const aside = `${target}.${process.pid}`;
  // Without an index pip would try for minutes.
  const patience = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '2', '--timeout', '20'];
  try {
    const pip = ['-m', 'pip', 'install', ...patience, '--target', aside, ...what];
    await run('python3', pip, { timeout: 200_000 }).catch((error: { killed?: boolean; stderr?: string }) => {
      const said = error.killed ? 'it took too long' : (error.stderr ?? '').trim().split('\n').slice(-3).join(' ');
      throw new Error(`Python packages (${name}) could not be installed by pip: ${said}`);
    });
    // Another process may have installed the same packages first. Its directory stays.
    await rename(aside, target).catch(() => {});
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
