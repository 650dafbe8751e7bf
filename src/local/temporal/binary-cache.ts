import { mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { executableFile, type PinnedBinary } from './pinned-binaries.ts';

/** Where binaries are kept between runs: `CREDIT_JOURNEY_CACHE`, else the user's cache directory. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  if (env.CREDIT_JOURNEY_CACHE) return env.CREDIT_JOURNEY_CACHE;
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(base, 'credit-journey');
}

/** The path in the cache of one version for this platform. */
export function cachedPath(cache: string, pinned: PinnedBinary, version: string): string {
  const platform = `${process.platform}-${process.arch}`;
  return join(cache, `${pinned.executable}-${version}-${platform}`, executableFile(pinned));
}

/**
 * A directory beside the cached files, so that the last step is a rename within one file system. Callers hold the lock
 * of that program: a file left under its name belongs to a process that was killed.
 */
export async function withTemporaryDirectory<T>(
  cache: string,
  pinned: PinnedBinary,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const prefix = `.incoming-${pinned.executable}-`;
  const leftOver = (await readdir(cache)).filter((entry) => isLeftOver(entry, prefix));
  await Promise.all(leftOver.map((entry) => rm(join(cache, entry), { recursive: true, force: true })));
  const directory = await mkdtemp(join(cache, prefix));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `mkdtemp` adds six characters; `temporal-` also begins the test server's name. */
function isLeftOver(entry: string, prefix: string): boolean {
  return entry.startsWith(prefix) && entry.length === prefix.length + 6;
}

/** Puts a verified file in its place: other processes see the whole program or none. */
export async function installBinary(file: string, target: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    // A crash right after the rename must not leave an empty file under the final name.
    await handle.sync();
  } finally {
    await handle.close();
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rename(file, target);
}
