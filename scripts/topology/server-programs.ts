/** A real Temporal server and its schema tool: built by Go once, from the pinned module, and kept. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLine, runCommand } from '../../src/local/run-command.ts';
import { cacheDirectory } from '../../src/local/temporal/binary-cache.ts';
import { fileLock } from '../../src/protection/keys/file-lock.ts';

/** Some four minutes on two cores; a loaded machine takes longer. */
const BUILD_TIMEOUT_MS = 30 * 60_000;

/**
 * The directory with `temporal-server` and `temporal-sql-tool` of that version.
 *
 * @throws Error where Go is missing or does not build them
 */
export async function serverPrograms(version: string): Promise<string> {
  const cache = cacheDirectory(process.env);
  const target = join(cache, `temporal-server-${version}-${process.platform}-${process.arch}`);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const lock = await fileLock(join(cache, 'temporal-server.lock'));
  try {
    if (!(await exists(target))) await build(version, cache, target);
    return target;
  } finally {
    lock.release();
  }
}

async function build(version: string, cache: string, target: string): Promise<void> {
  console.log(`building the Temporal server ${version} with Go: some minutes, once`);
  const directory = await mkdtemp(join(cache, '.building-temporal-server-'));
  try {
    const modules = ['server', 'tools/sql'].map((path) => `go.temporal.io/server/cmd/${path}@v${version}`);
    const env = { ...process.env, GOBIN: directory, GOFLAGS: '-buildvcs=false' };
    const result = await runCommand('go', ['install', ...modules], { env, timeoutMs: BUILD_TIMEOUT_MS });
    if (result.exitCode !== 0) {
      const why = result.reason === 'notFound' ? 'there is no Go on PATH' : lastLine(result.stderr);
      throw new Error(`the Temporal server could not be built: ${why}`);
    }
    await rename(join(directory, 'server'), join(directory, 'temporal-server'));
    await rename(join(directory, 'sql'), join(directory, 'temporal-sql-tool'));
    await rename(directory, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
