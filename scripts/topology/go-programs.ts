/** Programs that no other registry has: built by Go once, from their pinned modules, and kept in the cache. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { resolveCacheDirectory } from '../../src/local/temporal/temporal-binaries.ts';
import { acquireFileLock } from '../../src/protection/keys/file-lock.ts';
import { lastLine, runCommand } from '../run-command.ts';

/** Some four minutes on two cores for the largest; a loaded machine takes longer. */
const BUILD_TIMEOUT_MS = 30 * 60_000;

export interface GoPrograms {
  name: string;
  /** The version of the module, without `v`. */
  version: string;
  /** The path of each program's package, by the name that the program gets. */
  packages: Readonly<Record<string, string>>;
  /** For the linker. */
  ldflags?: string;
}

/** A real Temporal server and its schema tool. */
export function temporalServer(version: string): GoPrograms {
  const path = 'go.temporal.io/server/cmd';
  const packages = { 'temporal-server': `${path}/server`, 'temporal-sql-tool': `${path}/tools/sql` };
  return { name: 'temporal-server', version, packages };
}

/** The proxy that signs people in to the page. */
export function oauth2Proxy(version: string): GoPrograms {
  const path = 'github.com/oauth2-proxy/oauth2-proxy/v7';
  const ldflags = `-X ${path}/pkg/version.VERSION=v${version}`;
  return { name: 'oauth2-proxy', version, packages: { 'oauth2-proxy': path }, ldflags };
}

/**
 * Returns the directory with the programs.
 *
 * @throws Error where Go is missing or does not build them
 */
export async function findGoPrograms(programs: GoPrograms): Promise<string> {
  const cache = resolveCacheDirectory(process.env);
  const target = join(cache, `${programs.name}-${programs.version}-${process.platform}-${process.arch}`);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const lock = await acquireFileLock(join(cache, `${programs.name}.lock`));
  try {
    if (!(await exists(target))) await build(programs, cache, target);
    return target;
  } finally {
    lock.release();
  }
}

async function build(
  { name, version, packages, ldflags = '' }: GoPrograms,
  cache: string,
  target: string,
): Promise<void> {
  console.log(`building ${name} ${version} with Go: some minutes, once`);
  const directory = await mkdtemp(join(cache, `.building-${name}-`));
  try {
    const wanted = Object.values(packages).map((path) => `${path}@v${version}`);
    const env = { ...process.env, GOBIN: directory, GOFLAGS: '-buildvcs=false' };
    const result = await runCommand('go', ['install', '-ldflags', ldflags, ...wanted], {
      env,
      timeoutMs: BUILD_TIMEOUT_MS,
    });
    if (result.exitCode !== 0) {
      const why = result.reason === 'notFound' ? 'there is no Go on PATH' : lastLine(result.stderr);
      throw new Error(`${name} ${version} could not be built: ${why}`);
    }
    for (const [program, path] of Object.entries(packages)) {
      await rename(join(directory, installedName(path)), join(directory, program));
    }
    await rename(directory, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Go names a program after the last part of its path that is not a major version. */
function installedName(path: string): string {
  return basename(path.replace(/\/v\d+$/, ''));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
